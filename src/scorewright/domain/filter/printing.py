"""From a filter expression's tree to its one canonical text."""

from __future__ import annotations

from types import UnionType
from typing import assert_never

from scorewright.domain.binding import Path
from scorewright.domain.field_path import print_path
from scorewright.domain.filter.constant import print_constant
from scorewright.domain.filter.tokens import is_bare_name
from scorewright.domain.filter.tree import (
    And,
    Compare,
    Contains,
    Exists,
    Filter,
    IsIn,
    Matches,
    Not,
    Or,
)


def print_filter(tree: Filter) -> str:
    """Write an expression so that `parse_filter` reads it back."""
    match tree:
        case Compare():
            return f"{_field(tree.path)} {tree.operator} {print_constant(tree.value)}"
        case IsIn():
            return f"{_field(tree.path)} in ({', '.join(map(print_constant, tree.values))})"
        case Contains():
            return f"{_field(tree.path)} contains {print_constant(tree.value)}"
        case Matches():
            return f"{_field(tree.path)} matches {print_constant(tree.pattern)}"
        case Exists():
            return f"{_field(tree.path)} exists"
        case Not():
            return f"not {_bracketed(tree.part, And | Or)}"
        case And():
            return " and ".join(_bracketed(part, And | Or) for part in tree.parts)
        case Or():
            return " or ".join(_bracketed(part, Or) for part in tree.parts)
        case _:
            assert_never(tree)


def _bracketed(part: Filter, kinds: type[Or] | UnionType) -> str:
    text = print_filter(part)
    return f"({text})" if isinstance(part, kinds) else text


def _field(path: Path) -> str:
    return print_path(path, is_plain=is_bare_name)
