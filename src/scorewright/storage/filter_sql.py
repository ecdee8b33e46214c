"""Filter expressions over traces, compiled to SQL as far as a row of `traces` can answer them.

An expression becomes two conditions: one that all matching traces fulfil, and maybe others; and one that only
matching traces fulfil, though maybe not all. Between the two stand the traces that have to be looked at in memory: a
question that is longer than its excerpt, a number in a text. Where a row can answer, both are the same.

Two-valued, as `domain.filter.matching`: what SQL calls unknown does not hold, and its opposite does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, assert_never

import sqlalchemy as sa

from scorewright.domain.binding import Path
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
from scorewright.storage.filter_fields import (
    AttributeField,
    Condition,
    ExcerptField,
    Field,
    FlagField,
    ListField,
    MomentField,
    NumberField,
    SessionField,
    TextField,
    Words,
)
from scorewright.storage.tables.traces import traces

#: Of more conditions than these, SQLite would refuse the expression; they are all answered in memory.
MAX_CONDITIONS: Final = 200

_ATTRIBUTES: Final[Path] = ("trace", "attributes")
_UNDECIDED: Final = Condition(sa.true(), sa.false())


def compile_to_sql(tree: Filter, *, is_sqlite: bool) -> Condition:
    """Compile an expression over the fields of traces.

    Args:
        tree: Its paths lead into the item of a trace.
        is_sqlite: Which database is asked.
    """
    if _size(tree) > MAX_CONDITIONS:
        return _UNDECIDED
    return _Compiler(Words(is_sqlite=is_sqlite)).condition(tree)


def paths_in(tree: Filter) -> set[Path]:
    """Return the fields that an expression asks for."""
    match tree:
        case Not():
            return paths_in(tree.part)
        case And() | Or():
            return set[Path]().union(*map(paths_in, tree.parts))
        case Compare() | IsIn() | Contains() | Matches() | Exists():
            return {tree.path}
        case _:
            assert_never(tree)


def _size(tree: Filter) -> int:
    match tree:
        case Not():
            return _size(tree.part)
        case And() | Or():
            return sum(map(_size, tree.parts))
        case IsIn():
            return len(tree.values)
        case _:
            return 1


class _Compiler:
    def __init__(self, words: Words) -> None:
        self._words = words

    def condition(self, tree: Filter) -> Condition:
        match tree:
            case Not():
                return _opposite(self.condition(tree.part))
            case And():
                return _joined(sa.and_, [self.condition(part) for part in tree.parts])
            case Or():
                return _joined(sa.or_, [self.condition(part) for part in tree.parts])
            case IsIn():
                equal = [self._leaf(Compare(tree.path, "=", value)) for value in tree.values]
                return _joined(sa.or_, equal)
            case Compare(operator="!="):
                return _opposite(self._leaf(Compare(tree.path, "=", tree.value)))
            case Compare() | Contains() | Matches() | Exists():
                return self._leaf(tree)
            case _:
                assert_never(tree)

    def _leaf(self, tree: Compare | Contains | Matches | Exists) -> Condition:
        field = self._field(tree.path)
        found = None if field is None else self._asked(field, tree)
        return _UNDECIDED if found is None else found

    def _asked(self, field: Field, tree: Compare | Contains | Matches | Exists) -> Condition | None:
        match tree:
            case Compare():
                return field.compare(tree.path, tree.operator, tree.value)
            case Contains():
                return field.contains(tree.value)
            case Matches():
                return field.matches(tree.pattern)
            case Exists():
                return field.exists()

    def _field(self, path: Path) -> Field | None:
        made = _FIELDS.get(path)
        if made is not None:
            return made(self._words)
        name = path[-1]
        if path[:-1] == _ATTRIBUTES and isinstance(name, str):
            return AttributeField(self._words, name)
        return None


def _joined(join: Callable[..., sa.ColumnElement[bool]], parts: list[Condition]) -> Condition:
    return Condition(join(*(one.possible for one in parts)), join(*(one.sure for one in parts)))


def _opposite(part: Condition) -> Condition:
    return Condition(_not(part.sure), _not(part.possible))


def _not(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    if isinstance(condition, sa.True_ | sa.False_):
        return sa.not_(condition)
    # What SQL calls unknown does not hold. Elsewhere it makes no difference, and an index can be used.
    return sa.not_(sa.func.coalesce(condition, sa.false(), type_=sa.Boolean))


_USAGE: Final = ("trace", "metrics", "token_usage")
_COUNTS: Final = ("error_count", "span_count", "llm_call_count", "tool_call_count")
_TOKENS: Final = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens")
#: Of a usage that is known at all, one of these is.
_HAS_USAGE: Final = sa.or_(*(traces.c[name].is_not(None) for name in _TOKENS))
_TEXTS: Final = ("trace_id", "name", "status", "service", "environment")

_FIELDS: Final[dict[Path, Callable[[Words], Field]]] = {
    ("traceId",): lambda words: TextField(words, traces.c.trace_id),
    ("session", "id"): SessionField,
    **{
        ("trace", name): lambda words, name=name: TextField(words, traces.c[name])
        for name in _TEXTS
    },
    ("trace", "start_time"): lambda _: MomentField(traces.c.start_us),
    ("trace", "end_time"): lambda _: MomentField(traces.c.end_us),
    ("trace", "input"): lambda words: ExcerptField(words, traces.c.input, traces.c.input_form),
    ("trace", "output"): lambda words: ExcerptField(words, traces.c.output, traces.c.output_form),
    ("trace", "models"): lambda words: ListField(words, traces.c.models),
    ("trace", "agents"): lambda words: ListField(words, traces.c.agents),
    ("trace", "metrics", "total_duration_ms"): lambda _: NumberField(traces.c.duration_ms),
    ("trace", "metrics", "cost_usd"): lambda _: NumberField(traces.c.cost_usd),
    ("trace", "metrics", "has_errors"): lambda _: FlagField(traces.c.error_count > 0),
    **{
        ("trace", "metrics", name): lambda _, name=name: NumberField(traces.c[name])
        for name in _COUNTS
    },
    **{
        (*_USAGE, name): lambda _, name=name: NumberField(traces.c[name], _HAS_USAGE)
        for name in _TOKENS
    },
}
