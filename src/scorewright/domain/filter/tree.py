"""The tree of a filter expression: what is evaluated, printed, and one day compiled to SQL."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.binding import Path

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]


class Duration(msgspec.Struct, frozen=True):
    """A length of time, such as `250ms`."""

    ns: int


class Time(msgspec.Struct, frozen=True):
    """An instant, such as `2026-01-31T10:00:00Z`."""

    #: Since 1970, UTC.
    ns: int


Constant: TypeAlias = bool | int | float | str | Duration | Time | None


class Compare(msgspec.Struct, frozen=True):
    """A field beside a constant; only `=` and `!=` go with true, false and null."""

    path: Path
    operator: Operator
    value: Constant


class IsIn(msgspec.Struct, frozen=True):
    """A field that equals one of several constants."""

    path: Path
    values: tuple[Constant, ...]


class Contains(msgspec.Struct, frozen=True):
    """A text with a part, or a list with an element, that is the constant."""

    path: Path
    value: Constant


class Matches(msgspec.Struct, frozen=True):
    r"""A text that a pattern describes as a whole: `*` any characters, `?` one, `\` before either or itself."""

    path: Path
    pattern: str


class Exists(msgspec.Struct, frozen=True):
    """A field that is there, be it null."""

    path: Path


class Not(msgspec.Struct, frozen=True):
    """Whatever the part does not match."""

    part: Filter


class And(msgspec.Struct, frozen=True):
    """What all of at least two parts match."""

    parts: tuple[Filter, ...]


class Or(msgspec.Struct, frozen=True):
    """What any of at least two parts matches."""

    parts: tuple[Filter, ...]


Filter: TypeAlias = Compare | IsIn | Contains | Matches | Exists | Not | And | Or
