"""Which items of a source a run judges: those that match the filter, of these a sample, of these the first ones."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import compress, count, islice

from msgspec.structs import replace

from scorewright.domain.convention import Level
from scorewright.domain.filter import compile_filter, parse_filter, print_filter
from scorewright.domain.item_shape import ItemShape
from scorewright.domain.json_text import decode_object
from scorewright.domain.sampling import make_sampler
from scorewright.services.plan import Settings
from scorewright.sources.source import Source


class Selection:
    """The items of one run, known before anything runs; a byte of memory per item where not all are taken.

    Args:
        source: Read through once where there is a filter.
        levels: Of its items, those that the run's evaluators see.
        settings: Of the run.

    Raises:
        UsageError: The caller's: the filter is none, or asks for a field that is not there.
        DatasetError: The file changed since it was opened.
    """

    def __init__(self, source: Source, levels: Sequence[Level], settings: Settings) -> None:
        self._source = source
        self._limit = settings.limit
        #: The filter in its canonical form, and the probability of a matching item to be taken.
        self.filter: str | None = None
        self.rate = settings.sample_rate
        #: Items there are; those that match; and those of them that the sample takes.
        self.rows = self.matched = self.sampled = source.size
        #: Per item, whether it is taken; None where all are.
        self._taken: bytearray | None = None
        if settings.filter is not None:
            self._apply(settings.filter, _common_shape([source.shape(level) for level in levels]))
        if self.rate < 1:
            self._thin_out()

    @property
    def total(self) -> int:
        """How many items are judged."""
        return self.sampled if self._limit is None else min(self._limit, self.sampled)

    def items(self) -> Iterator[tuple[int, bytes]]:
        """Stream the items to judge, each with its number in the source, from 1."""
        items = self._source.items(self._taken)
        if self._taken is None:
            return islice(enumerate(items, 1), self._limit)
        numbers = compress(count(1), self._taken)
        # Items first: a source that is read to its end may have something to say there.
        numbered = ((number, item) for item, number in zip(items, numbers, strict=False))
        return islice(numbered, self._limit)

    def all_numbers(self) -> Sequence[int]:
        """Return the numbers of all items to judge, in order."""
        if self._taken is None:
            return range(1, self.total + 1)
        taken = (number for number, is_taken in enumerate(self._taken, 1) if is_taken)
        return array("q", islice(taken, self._limit))

    def numbers(self, first: int, item_ids: list[str]) -> Sequence[int]:
        """Return the numbers of consecutive items; `first` is the first one's place, from 0."""
        if self._taken is None:  # reading the ids would cost every run something
            return range(first + 1, first + 1 + len(item_ids))
        return [number for one in item_ids if (number := self._source.number_of(one)) is not None]

    def _apply(self, text: str, shape: ItemShape) -> None:
        tree = parse_filter(text, shape=shape)
        self.filter = print_filter(tree)
        self._taken = bytearray(map(compile_filter(tree), map(decode_object, self._source.items())))
        self.matched = self.sampled = self._taken.count(True)

    def _thin_out(self) -> None:
        is_taken, key = make_sampler(self.rate), self._source.sample_key
        matching = bytearray(b"\1") * self.rows if self._taken is None else self._taken
        self._taken = bytearray(
            matches and is_taken(key(number)) for number, matches in enumerate(matching, 1)
        )
        self.sampled = self._taken.count(True)


def _common_shape(shapes: Sequence[ItemShape]) -> ItemShape:
    """Return the first shape with the fields that all of them have: a filter is for every item."""
    first, *others = shapes
    if not others or first.fields is None:
        return first
    known = {
        name: path
        for name, path in first.fields.items()
        if all(other.fields is None or name in other.fields for other in others)
    }
    return replace(first, fields=known)
