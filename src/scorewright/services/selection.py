"""Which rows of a data set a run judges: those that match the filter, of these a sample, of these the first ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, islice

from scorewright.domain.filter import compile_filter, parse_filter, print_filter
from scorewright.domain.item_shape import row_shape
from scorewright.domain.sampling import make_sampler
from scorewright.services.plan import Settings
from scorewright.sources.dataset import Dataset, decode_object


class Selection:
    """The rows of one run, known before anything runs; a byte of memory per row where not all are taken.

    Args:
        dataset: Read through once where there is a filter.
        settings: Of the run.

    Raises:
        UsageError: The caller's: the filter is none, or asks for a column that is not there.
        DatasetError: The file changed since it was opened.
    """

    def __init__(self, dataset: Dataset, settings: Settings) -> None:
        self._dataset = dataset
        self._limit = settings.limit
        #: The filter in its canonical form, and the probability of a matching row to be taken.
        self.filter: str | None = None
        self.rate = settings.sample_rate
        #: Rows there are; those that match; and those of them that the sample takes.
        self.rows = self.matched = self.sampled = dataset.rows
        #: Per row, whether it is taken; None where all are.
        self._taken: bytearray | None = None
        if settings.filter is not None:
            self._apply(settings.filter)
        if self.rate < 1:
            self._thin_out()

    @property
    def total(self) -> int:
        """How many rows are judged."""
        return self.sampled if self._limit is None else min(self._limit, self.sampled)

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Stream the rows to judge, each with its number in the data set, from 1."""
        rows = enumerate(self._dataset.items(), 1)
        taken = rows if self._taken is None else compress(rows, self._taken)
        return islice(taken, self._limit)

    def numbers(self, first: int, item_ids: list[str]) -> Sequence[int]:
        """Return the rows' numbers of consecutive items; `first` is the first one's place, from 0."""
        if self._taken is None:  # reading the ids would cost every run something
            return range(first + 1, first + 1 + len(item_ids))
        return list(map(int, item_ids))

    def _apply(self, text: str) -> None:
        tree = parse_filter(text, shape=row_shape(c.name for c in self._dataset.columns))
        self.filter = print_filter(tree)
        self._taken = bytearray(
            map(compile_filter(tree), map(decode_object, self._dataset.items()))
        )
        self.matched = self.sampled = self._taken.count(True)

    def _thin_out(self) -> None:
        is_taken = make_sampler(self.rate)
        matching = bytearray(b"\1") * self.rows if self._taken is None else self._taken
        self._taken = bytearray(
            matches and is_taken(str(number)) for number, matches in enumerate(matching, 1)
        )
        self.sampled = self._taken.count(True)
