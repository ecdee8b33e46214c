"""Whether an item is as a filter expression says, in memory.

Two-valued: each condition holds or does not, and `not` is its exact opposite. The constant decides how a value is
read: what cannot be read so equals nothing, and is neither less nor more. An absent field is read as null.

A compiler to SQL can follow this leaf by leaf, with `coalesce(…, false)` around each.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias, assert_never, cast

from scorewright.domain.binding import Path
from scorewright.domain.filter.constant import read_number, read_time
from scorewright.domain.filter.durations import unit_ns
from scorewright.domain.filter.pattern import compile_pattern
from scorewright.domain.filter.tree import (
    And,
    Compare,
    Constant,
    Contains,
    Duration,
    Exists,
    Filter,
    IsIn,
    Matches,
    Not,
    Or,
    Time,
)
from scorewright.domain.item_fields import MISSING, resolve
from scorewright.domain.json_value import JsonObject

Predicate: TypeAlias = Callable[[JsonObject], bool]
#: Of one value; None for an absent one as well.
_Test: TypeAlias = Callable[[Any], bool]
#: Reads a value as the kind of a constant; None where it cannot be.
_Read: TypeAlias = Callable[[Any], Any]

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TRUTH: Final = {"true": True, "false": False}


def compile_filter(tree: Filter) -> Predicate:
    """Turn an expression into the function that is called for every item."""
    match tree:
        case Not():
            return _negated(compile_filter(tree.part))
        case And():
            return _all_of([compile_filter(part) for part in tree.parts])
        case Or():
            return _any_of([compile_filter(part) for part in tree.parts])
        case Exists():
            path = tree.path
            return lambda row: resolve(row, path) is not MISSING
        case Compare() | IsIn() | Contains() | Matches():
            return _of_field(tree.path, _test(tree))
        case _:
            assert_never(tree)


def _negated(part: Predicate) -> Predicate:
    return lambda row: not part(row)


def _all_of(parts: list[Predicate]) -> Predicate:
    def matches(row: JsonObject) -> bool:
        for part in parts:  # noqa: SIM110 - a generator would cost as much as the parts
            if not part(row):
                return False
        return True

    return matches


def _any_of(parts: list[Predicate]) -> Predicate:
    def matches(row: JsonObject) -> bool:
        for part in parts:  # noqa: SIM110 - a generator would cost as much as the parts
            if part(row):
                return True
        return False

    return matches


def _of_field(path: Path, test: _Test) -> Predicate:
    first = path[0]
    if len(path) == 1 and isinstance(first, str):
        return lambda row: test(row.get(first))

    def matches(row: JsonObject) -> bool:
        value = resolve(row, path)
        return test(None if value is MISSING else value)

    return matches


def _test(tree: Compare | IsIn | Contains | Matches) -> _Test:
    match tree:
        case Compare(operator="!="):
            equal = _comparison(tree.path, "=", tree.value)
            return lambda value: not equal(value)
        case Compare():
            return _comparison(tree.path, tree.operator, tree.value)
        case IsIn():
            return _membership(tree.path, tree.values)
        case Contains():
            return _containment(tree.value, _comparison(tree.path, "=", tree.value))
        case Matches():
            fits = compile_pattern(tree.pattern)
            return lambda value: isinstance(value, str) and fits(value) is not None


def _membership(path: Path, values: Sequence[Constant]) -> _Test:
    """Test for several constants at once: a list of a thousand costs a row no more than one."""
    takes_null = None in values
    targets: dict[_Read, set[Any]] = {}
    for value in values:
        if value is not None:
            read, target = _reading(path, value)
            targets.setdefault(read, set()).add(target)

    def test(found: Any) -> bool:
        if found is None:
            return takes_null
        return any(read(found) in wanted for read, wanted in targets.items())

    return test


def _containment(wanted: Constant, is_wanted: _Test) -> _Test:
    def test(value: Any) -> bool:
        if isinstance(value, str):
            return isinstance(wanted, str) and wanted in value
        return isinstance(value, list) and any(map(is_wanted, cast("list[Any]", value)))

    return test


def _comparison(path: Path, operator: str, value: Constant) -> _Test:
    if value is None:
        return lambda found: found is None
    read, target = _reading(path, value)
    compare = _COMPARE[operator]

    def test(found: Any) -> bool:
        comparable = read(found)
        return comparable is not None and compare(comparable, target)

    return test


def _reading(path: Path, value: bool | float | str | Duration | Time) -> tuple[_Read, Any]:  # noqa: FBT001 - a constant, no switch
    """Return how a value is read beside a constant, and what it is compared with."""
    match value:
        case bool():
            return _as_boolean, value
        case int() | float():
            return _as_number, value
        case str():
            return _as_text, value
        case Time():
            return _as_time, value.ns
        case Duration():
            unit = unit_ns(path)
            whole, rest = divmod(value.ns, unit)
            return _as_number, value.ns / unit if rest else whole
        case _:
            assert_never(value)


def _as_number(value: Any) -> int | float | None:
    if isinstance(value, str):
        return read_number(value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _as_boolean(value: Any) -> bool | None:
    if isinstance(value, str):
        return _TRUTH.get(value.strip().lower())
    return value if isinstance(value, bool) else None


def _as_time(value: Any) -> int | None:
    return read_time(value) if isinstance(value, str) else None
