"""What every source of items offers, whatever it reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.item_shape import ItemShape
from scorewright.domain.json_value import JsonObject

#: Per item, from the first, 1 or 0; None for all of them.
Wanted: TypeAlias = bytearray | None
SourceKind: TypeAlias = Literal["dataset", "traces", "conversations", "trajectories", "logs"]


class Notice(msgspec.Struct, frozen=True):
    """Something an author should know about how the data were read."""

    #: From 1; None when it is about no single line.
    line: int | None
    message: str


class Field(msgspec.Struct, frozen=True):
    """Something in the items that a variable can be mapped to."""

    #: As it is written in a mapping or a filter.
    name: str
    #: What it holds, in words or as a type.
    description: str


class Source(Protocol):
    """Items to evaluate, known by their numbers from 1 and their ids; each can be read any number of times."""

    @property
    def kind(self) -> SourceKind:
        """What the data are."""
        ...

    @property
    def path(self) -> Path | None:
        """Where they were read; None for data that were given in memory."""
        ...

    @property
    def noun(self) -> str:
        """What one item is called in messages."""
        ...

    @property
    def size(self) -> int:
        """How many items there are, at all levels together."""
        ...

    @property
    def notices(self) -> Sequence[Notice]:
        """What is to be known about how the data were read."""
        ...

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees here.

        Raises:
            UsageError: The caller's: there are none.
        """
        ...

    def fields(self, level: Level) -> list[Field]:
        """List what the items of a level hold."""
        ...

    def shape(self, level: Level) -> ItemShape:
        """Say how arguments are read from the items of a level."""
        ...

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the items in order, each a JSON object; may be called again.

        Args:
            wanted: Per item, whether it is given; what is not may cost nothing. All are when None.
        """
        ...

    def sample(self, n: int) -> list[JsonObject]:
        """Decode the first items, at most `n`."""
        ...

    def item_id(self, number: int) -> str:
        """Return what results call an item."""
        ...

    def number_of(self, item_id: str) -> int | None:
        """Return the number of an item; None when there is no such item."""
        ...

    def sample_key(self, number: int) -> str:
        """Return what decides whether a sample takes an item: the same key, the same decision."""
        ...

    def has_level(self, number: int, level: Level) -> bool:
        """Tell whether an item is one of those that evaluators of this level see."""
        ...
