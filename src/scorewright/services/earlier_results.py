"""What an earlier run over the same rows has left: which of it is kept, and which is computed anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from scorewright.domain.errors import UsageError
from scorewright.domain.result import ItemOutcome
from scorewright.domain.result_record import ResultRecord, to_item_outcome


class EarlierResults:
    """Records of an earlier run, walked through alongside the items.

    Args:
        records: In item order; read no further ahead than the items are.
        names: The evaluators of this run.
    """

    def __init__(self, records: Iterable[ResultRecord], names: Sequence[str]) -> None:
        self._records = iter(records)
        self._names = {name: at for at, name in enumerate(names)}
        self._ahead: ResultRecord | None = next(self._records, None)
        #: Item id to its records, for items that are under way.
        self._begun: dict[str, list[ResultRecord]] = {}

    def known(self, item_id: str) -> tuple[ItemOutcome | None, ...]:
        """Return the outcomes to keep for an item; items are asked for in order.

        Raises:
            UsageError: The caller's: the records are of another evaluator, or in another order.
        """
        records = list(self._take(lambda record: record.item_id == item_id))
        if self._ahead is not None and not _is_later(self._ahead.item_id, item_id):
            raise UsageError(
                f"the earlier results are not in item order: {self._ahead.item_id!r:.40} comes after {item_id}; "
                "restore their order, or go on without them"
            )
        if not records:
            return ()
        self._begun[item_id] = records
        kept = self._kept(records)
        return tuple(None if record is None else to_item_outcome(record) for record in kept)

    def records(self, item_id: str) -> list[ResultRecord | None]:
        """Return the records to keep for an item, one per job, once."""
        return self._kept(self._begun.pop(item_id, []))

    def rest(self) -> Iterator[list[ResultRecord]]:
        """Yield the records of every item that was not answered."""
        yield from self._begun.values()
        for record in self._take(lambda _record: True):
            yield [record]

    def _kept(self, records: list[ResultRecord]) -> list[ResultRecord | None]:
        kept: list[ResultRecord | None] = [None] * len(self._names)
        for record in records:
            if record.failure is None:
                kept[self._names[record.evaluator]] = record
        return kept

    def _take(self, wanted: Callable[[ResultRecord], bool]) -> Iterator[ResultRecord]:
        while self._ahead is not None and wanted(self._ahead):
            if self._ahead.evaluator not in self._names:
                raise UsageError(
                    f"the earlier results are of {self._ahead.evaluator} too, which is not in this run "
                    f"({', '.join(self._names)}); name it as well, or go on without them"
                )
            yield self._ahead
            self._ahead = next(self._records, None)


def _is_later(item_id: str, than: str) -> bool:
    return item_id.isdecimal() and int(item_id) > int(than)
