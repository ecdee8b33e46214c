"""What sources have in common whose data are in memory, and whose items are made one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, islice
from pathlib import Path
from typing import TypeVar

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject
from scorewright.sources.source import Notice, SourceKind, Wanted


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One item, before it is made."""

    item_id: str
    #: What decides whether a sample takes it.
    sample_key: str
    level: Level


_Told = TypeVar("_Told")


def chosen(told: Iterable[_Told], wanted: Wanted) -> Iterable[_Told]:
    """Return those of which items are wanted."""
    return told if wanted is None else compress(told, wanted)


class ListedSource:
    """Items that are known by their ids; a source of a kind says how each is made."""

    #: What the data are, and what one item is called in messages.
    kind: SourceKind
    noun: str

    def __init__(
        self, entries: Sequence[Entry], *, path: Path | None, notices: Sequence[Notice]
    ) -> None:
        self.path = path
        self.notices = notices
        self._entries = entries
        #: Made when the first number is asked for.
        self._numbers: dict[str, int] = {}

    @property
    def size(self) -> int:
        """How many items there are, at all levels together."""
        return len(self._entries)

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the items in order, or those of them that are wanted; may be called again."""
        raise NotImplementedError

    def sample(self, n: int) -> list[JsonObject]:
        """Decode the first items, at most `n`."""
        return [decode_object(item) for item in islice(self.items(), n)]

    def item_id(self, number: int) -> str:
        """Return what results call an item."""
        return self._entries[number - 1].item_id

    def number_of(self, item_id: str) -> int | None:
        """Return the number of an item; None when there is no such item."""
        if not self._numbers:
            self._numbers = {one.item_id: at for at, one in enumerate(self._entries, 1)}
        return self._numbers.get(item_id)

    def sample_key(self, number: int) -> str:
        """Return what decides whether a sample takes an item."""
        return self._entries[number - 1].sample_key

    def has_level(self, number: int, level: Level) -> bool:
        """Tell whether an item is one of those that evaluators of this level see."""
        return self._entries[number - 1].level is level
