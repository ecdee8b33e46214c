"""What an earlier run over the same rows has left: which of it is kept, and which is computed anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import groupby

import msgspec

from scorewright.domain.binding import Plan
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.result import ItemOutcome
from scorewright.domain.result_record import ResultRecord, to_item_outcome
from scorewright.domain.suggestion import quote
from scorewright.sources.source import Source


class EarlierResults:
    """Records of an earlier run, walked through alongside the items.

    Args:
        records: Iterated over three times.
        names: The evaluators of this run.
        source: The data.

    Raises:
        UsageError: The caller's: the records are of other evaluators or of other data, or in another order.
    """

    def __init__(
        self, records: Iterable[ResultRecord], names: Sequence[str], *, source: Source
    ) -> None:
        self._jobs = {name: at for at, name in enumerate(names)}
        records = _in_order(records, names, source)
        self._number_of = partial(_number_of, source)
        self._reading = self._by_number(records)
        self._ahead = next(self._reading, None)
        #: Item id to the records to keep, for items that are under way.
        self._kept: dict[str, list[ResultRecord | None]] = {}
        #: A walk of its own, as items are read long before their results are there to be put into their place.
        self._placing = self._by_number(records)
        self._unplaced = next(self._placing, None)

    def known(self, item_id: str, bases: Sequence[str]) -> tuple[ItemOutcome | None, ...]:
        """Return the outcomes to keep for an item; items are asked for in order, some perhaps never.

        Args:
            item_id: The item's.
            bases: What its results rest on in this run, one per job.
        """
        number = self._number_of(item_id)
        while self._ahead and self._ahead[0] < number:
            self._ahead = next(self._reading, None)
        if self._ahead is None or self._ahead[0] != number:
            return ()
        kept: list[ResultRecord | None] = [None] * len(bases)
        for record in self._ahead[1]:
            job = self._jobs[record.evaluator]
            if record.failure is None and record.basis == bases[job]:
                kept[job] = record
        self._kept[item_id] = kept
        return tuple(None if record is None else to_item_outcome(record) for record in kept)

    def take_kept(self, item_id: str) -> Sequence[ResultRecord | None]:
        """Return the records to keep for an item, one per job, once; nothing for an item that has none."""
        return self._kept.pop(item_id, ())

    def around(self, made: list[ResultRecord]) -> Iterator[list[ResultRecord]]:
        """Yield new records, and in between those of items that are not in this run: all in item order."""
        start = 0
        for at, record in enumerate(made):
            number = self._number_of(record.item_id)
            while self._unplaced and self._unplaced[0] <= number:
                if self._unplaced[0] < number:
                    yield from filter(None, (made[start:at], self._unplaced[1]))
                    start = at
                self._unplaced = next(self._placing, None)
        yield made[start:]

    def rest(self) -> Iterator[list[ResultRecord]]:
        """Yield the records of every item behind the last that was answered, item by item."""
        if self._unplaced:
            yield self._unplaced[1]
        for _number, records in self._placing:
            yield records

    def _by_number(
        self, records: Iterable[ResultRecord]
    ) -> Iterator[tuple[int, list[ResultRecord]]]:
        for item_id, of_item in groupby(records, lambda record: record.item_id):
            yield self._number_of(item_id), list(of_item)


def _in_order(
    records: Iterable[ResultRecord], names: Sequence[str], source: Source
) -> Iterable[ResultRecord]:
    """Check that records belong to a run, and put them into item order where that may have changed.

    Rows stand where they stood. Traces are ordered by their start, and a span that came late may have moved one:
    only then are the records held in memory.
    """
    last, is_ordered = 1, True
    for record in records:
        _check(record, names, source)
        number = _number_of(source, record.item_id)
        if number < last and source.kind == "dataset":
            raise UsageError(
                f"the earlier results are not in item order: {record.item_id!r:.40} comes after "
                f"{source.item_id(last)}; restore their order, or go on without them"
            )
        is_ordered = is_ordered and number >= last
        last = number
    if is_ordered:
        return records
    return sorted(records, key=lambda record: _number_of(source, record.item_id))


def _check(record: ResultRecord, names: Sequence[str], source: Source) -> None:
    if record.source != source.kind:
        raise UsageError(
            f"the earlier results were made of {record.source}, and these data are read as {source.kind}; "
            f"give --source {record.source}, or go on without them"
        )
    if record.evaluator not in names:
        raise UsageError(
            f"the earlier results are of {record.evaluator} too, which is not in this run "
            f"({', '.join(names)}); name it as well, or go on without them"
        )


def _number_of(source: Source, item_id: str) -> int:
    number = source.number_of(item_id)
    if number is None:
        raise UsageError(
            f"the earlier results have {source.noun} {quote(item_id)}, which is not among the "
            f"{source.size:,} of the data; give the data that they were made of, or go on without them"
        )
    return number


def item_basis(data: bytes) -> str:
    """Return the ten hex digits of a basis that stand for an item's JSON."""
    return short_hash(data, 10)


def reading_basis(evaluator: Evaluator, plan: Plan) -> str:
    """Return the six hex digits of a basis that stand for mapping, params, and how the score is read."""
    reading = (plan, evaluator.convention, evaluator.score_range, evaluator.threshold)
    return short_hash(msgspec.json.encode(reading), 6)


def short_hash(data: bytes, digits: int) -> str:
    """Return the first hex digits of a text's sha256."""
    return sha256(data).hexdigest()[:digits]
