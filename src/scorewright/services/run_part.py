"""A part of a source as a source of its own: what one chunk of a run is judged by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Protocol, runtime_checkable

from scorewright.domain.convention import Level
from scorewright.domain.item_shape import ItemShape
from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject
from scorewright.sources.listed import chosen
from scorewright.sources.source import Field, Notice, Source, SourceKind, Wanted


@runtime_checkable
class SeekableSource(Protocol):
    """A source that need not be read from its beginning."""

    def items_from(self, number: int) -> Iterator[bytes]:
        """Stream the items from a number on."""
        ...


class ItemReader:
    """Reads items of a source by number; quick where the numbers grow."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._items: Iterator[bytes] = iter(())
        #: Number of the next item that `_items` gives; 0 before it was opened.
        self._next = 0

    def read(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Stream the items of these numbers, which grow."""
        for number in numbers:
            if not self._next or number < self._next:
                self._open(number)
            item = next(islice(self._items, number - self._next, None), None)
            if item is None:  # the data shrank: whoever counts the items notices
                self._next = 0
                return
            self._next = number + 1
            yield item

    def _open(self, number: int) -> None:
        source = self._source
        if isinstance(source, SeekableSource):
            self._items, self._next = source.items_from(number), number
        else:
            self._items, self._next = source.items(), 1


class Part:
    """Some items of a source, numbered from 1 among themselves.

    Args:
        source: The whole.
        numbers: Which of its items, in order.
        reader: Of the whole.
    """

    def __init__(self, source: Source, numbers: Sequence[int], reader: ItemReader) -> None:
        self._source = source
        self._numbers = numbers
        self._reader = reader
        self._places: dict[str, int] = {}

    @property
    def kind(self) -> SourceKind:
        """What the data are."""
        return self._source.kind

    @property
    def path(self) -> Path | None:
        """Where they were read."""
        return self._source.path

    @property
    def noun(self) -> str:
        """What one item is called in messages."""
        return self._source.noun

    @property
    def notices(self) -> Sequence[Notice]:
        """What is to be known about how the data were read."""
        return self._source.notices

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self._numbers)

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees here."""
        return self._source.item_level(level)

    def fields(self, level: Level) -> list[Field]:
        """List what the items of a level hold."""
        return self._source.fields(level)

    def shape(self, level: Level) -> ItemShape:
        """Say how arguments are read from the items of a level."""
        return self._source.shape(level)

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the items in order, or those of them that are wanted."""
        return self._reader.read([*chosen(self._numbers, wanted)])

    def sample(self, n: int) -> list[JsonObject]:
        """Decode the first items."""
        return [decode_object(item) for item in islice(self.items(), n)]

    def item_id(self, number: int) -> str:
        """Return what results call an item."""
        return self._source.item_id(self._numbers[number - 1])

    def number_of(self, item_id: str) -> int | None:
        """Return the number of an item in this part."""
        if not self._places:
            self._places = {
                self._source.item_id(number): at for at, number in enumerate(self._numbers, 1)
            }
        return self._places.get(item_id)

    def sample_key(self, number: int) -> str:
        """Return what decides whether a sample takes an item."""
        return self._source.sample_key(self._numbers[number - 1])

    def has_level(self, number: int, level: Level) -> bool:
        """Tell whether an item is one of those that evaluators of this level see."""
        return self._source.has_level(self._numbers[number - 1], level)

    def whole_number(self, item_id: str) -> int:
        """Return the number of one of these items in the whole source."""
        place = self.number_of(item_id)
        if place is None:
            raise KeyError(item_id)
        return self._numbers[place - 1]
