"""Some items of another source, held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Self

from scorewright.domain.convention import Level
from scorewright.domain.item_shape import ItemShape
from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject
from scorewright.sources.source import Field, Notice, Source, SourceKind, Wanted


class PickedItems:
    """Items with the ids and fields that they have in the source they come from.

    Args:
        source: Where they come from.
        numbers: Their numbers there.
        items: As many.
    """

    def __init__(self, source: Source, numbers: Sequence[int], items: Sequence[bytes]) -> None:
        self._source = source
        self.numbers = tuple(numbers)
        self._items = tuple(items)
        self._place = {number: at for at, number in enumerate(numbers, 1)}

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
    def size(self) -> int:
        """How many items there are, at all levels together."""
        return len(self._items)

    @property
    def notices(self) -> Sequence[Notice]:
        """What is to be known about how the data were read."""
        return self._source.notices

    def part(self, start: int, end: int) -> Self:
        """Return the items from one place, from 0, up to another."""
        return type(self)(self._source, self.numbers[start:end], self._items[start:end])

    def of_level(self, level: Level) -> Self:
        """Return those that evaluators of a level see."""
        seen = [
            (number, item)
            for number, item in zip(self.numbers, self._items, strict=True)
            if self._source.has_level(number, level)
        ]
        return type(self)(self._source, [one for one, _ in seen], [item for _, item in seen])

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees here.

        Raises:
            UsageError: The caller's: there are none.
        """
        return self._source.item_level(level)

    def fields(self, level: Level) -> list[Field]:
        """List what the items of a level hold."""
        return self._source.fields(level)

    def shape(self, level: Level) -> ItemShape:
        """Say how arguments are read from the items of a level."""
        return self._source.shape(level)

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the items in order, or those of them that are wanted; may be called again."""
        return iter(self._items if wanted is None else compress(self._items, wanted))

    def sample(self, n: int) -> list[JsonObject]:
        """Decode the first items, at most `n`."""
        return [decode_object(item) for item in self._items[:n]]

    def item_id(self, number: int) -> str:
        """Return what results call an item: the same as in its source."""
        return self._source.item_id(self.numbers[number - 1])

    def number_of(self, item_id: str) -> int | None:
        """Return the number of an item; None when it is not among these."""
        number = self._source.number_of(item_id)
        return None if number is None else self._place.get(number)

    def sample_key(self, number: int) -> str:
        """Return what decides whether a sample takes an item."""
        return self._source.sample_key(self.numbers[number - 1])

    def has_level(self, number: int, level: Level) -> bool:
        """Tell whether an item is one of those that evaluators of this level see."""
        return self._source.has_level(self.numbers[number - 1], level)
