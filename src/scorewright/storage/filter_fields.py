"""What each kind of column of `traces` says to the conditions of a filter.

A method returns None where a row cannot tell at all, and a pair of conditions otherwise. They may be unknown to SQL.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB

from scorewright.domain.binding import Path
from scorewright.domain.filter.durations import unit_ns
from scorewright.domain.filter.tree import Constant, Duration, Time
from scorewright.storage.tables.traces import EXCERPT_CHARS, session_key, traces

Clause: TypeAlias = sa.ColumnElement[bool]
_Compare: TypeAlias = Callable[[Any, Any], Any]

_OPERATORS: Final[dict[str, _Compare]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PATTERN_PART: Final = re.compile(r"\\([*?\\])|(\*+)|(\?)|([\s\S])")
_GLOB_SIGNS: Final = "*?["
_LIKE_SIGNS: Final = "%_\\"
_MAX_INTEGER: Final = 2**63 - 1


class Condition(msgspec.Struct, frozen=True):
    """What all rows fulfil that match, and what only rows fulfil that match."""

    possible: Clause
    sure: Clause


def exactly(clause: Clause) -> Condition:
    """Say what a row can tell without doubt."""
    return Condition(clause, clause)


NEVER: Final = exactly(sa.false())


class Field(Protocol):
    """A field of a trace's item, as a row has it."""

    def compare(self, path: Path, sign: str, value: Constant) -> Condition | None:
        """Compare it with a constant; `!=` is never asked for."""
        ...

    def contains(self, value: Constant) -> Condition | None:
        """Ask for a part of a text, or an element of a list."""
        ...

    def matches(self, pattern: str) -> Condition | None:
        """Ask whether a text is as a pattern says."""
        ...

    def exists(self) -> Condition | None:
        """Ask whether it is there."""
        ...


class Words:
    """How a database says what is said of texts and lists. No text in it holds U+0000."""

    def __init__(self, *, is_sqlite: bool) -> None:
        self.is_sqlite = is_sqlite

    def compare(self, text: sa.ColumnElement[str], sign: str, value: str) -> Clause:
        """Compare texts by the numbers of their characters."""
        before, nul, _ = value.partition("\0")
        if not nul:
            return _OPERATORS[sign](self._plain(text), value)
        # What begins like the constant and ends before its U+0000 is less, all else decides before that.
        if sign == "=":
            return sa.false()
        return _OPERATORS["<=" if sign in ("<", "<=") else ">"](self._plain(text), before)

    def contains(self, text: sa.ColumnElement[str], part: str) -> Clause:
        """Ask for a part of a text."""
        if "\0" in part:
            return sa.false()
        find = sa.func.instr if self.is_sqlite else sa.func.strpos
        return find(text, part) > 0

    def matches(self, text: sa.ColumnElement[str], pattern: str) -> Clause:
        """Ask whether a whole text is as a pattern of `domain.filter.pattern` says."""
        if "\0" in pattern:
            return sa.false()
        parts: list[str] = []
        for escaped, stars, one, plain in _PATTERN_PART.findall(pattern):
            if stars:
                parts.append("*" if self.is_sqlite else "%")
            elif one:
                parts.append("?" if self.is_sqlite else "_")
            else:
                parts.append(self._literal(escaped or plain))
        wanted = "".join(parts)
        if self.is_sqlite:
            return text.op("GLOB", is_comparison=True, return_type=sa.Boolean())(wanted)
        return self._plain(text).like(wanted, escape="\\")

    def has_element(self, texts: sa.ColumnElement[Any], text: str) -> Clause:
        """Ask for an element of a JSON list of texts."""
        if "\0" in text:
            return sa.false()
        if not self.is_sqlite:
            return sa.type_coerce(texts, JSONB).has_key(text)
        each = sa.func.json_each(texts).table_valued("value")
        return sa.exists(sa.select(sa.literal(1)).select_from(each).where(each.c.value == text))

    def member(self, name: str) -> tuple[sa.ColumnElement[str], sa.ColumnElement[str]]:
        """Return the type and the text of one of the root's attributes."""
        if self.is_sqlite:
            path = f'$."{name}"'
            return (
                sa.func.json_type(traces.c.attributes, path),
                sa.func.json_extract(traces.c.attributes, path, type_=sa.Text),
            )
        found = sa.type_coerce(traces.c.attributes, JSONB)[name]
        return sa.func.jsonb_typeof(found), found.astext

    @property
    def text_type(self) -> str:
        """What `member` calls the type of a text."""
        return "text" if self.is_sqlite else "string"

    def _plain(self, text: sa.ColumnElement[str]) -> sa.ColumnElement[str]:
        return text if self.is_sqlite else sa.collate(text, "C")

    def _literal(self, character: str) -> str:
        if self.is_sqlite:
            return f"[{character}]" if character in _GLOB_SIGNS else character
        return f"\\{character}" if character in _LIKE_SIGNS else character


class TextField:
    """A text, or null."""

    def __init__(self, words: Words, column: sa.ColumnElement[str]) -> None:
        self._words = words
        self._column = column

    def compare(self, path: Path, sign: str, value: Constant) -> Condition:  # noqa: ARG002, D102 - as in Field
        if value is None:
            return exactly(self._column.is_(None))
        if isinstance(value, str):
            return exactly(self._words.compare(self._column, sign, value))
        # A text may be a number, a time or the word `true`.
        return Condition(self._column.is_not(None), sa.false())

    def contains(self, value: Constant) -> Condition:  # noqa: D102 - as in Field
        if not isinstance(value, str):
            return NEVER
        return exactly(self._words.contains(self._column, value))

    def matches(self, pattern: str) -> Condition:  # noqa: D102 - as in Field
        return exactly(self._words.matches(self._column, pattern))

    def exists(self) -> Condition:  # noqa: D102 - as in Field
        return exactly(sa.true())


class SessionField(TextField):
    """The session: an index finds it by its key."""

    def __init__(self, words: Words) -> None:
        super().__init__(words, traces.c.session_id)

    def compare(self, path: Path, sign: str, value: Constant) -> Condition:  # noqa: D102 - as in Field
        found = super().compare(path, sign, value)
        if sign != "=" or not isinstance(value, str):
            return found
        return exactly(sa.and_(traces.c.session_key == session_key(value), found.sure))


class MomentField:
    """A time, in items a text that is cut to microseconds; or null."""

    def __init__(self, column: sa.ColumnElement[int]) -> None:
        self._column = column

    def compare(self, path: Path, sign: str, value: Constant) -> Condition:  # noqa: ARG002, D102 - as in Field
        if value is None:
            return exactly(self._column.is_(None))
        if isinstance(value, Time):
            return exactly(_compare_exactly(self._column, sign, value.ns, 1_000))
        if isinstance(value, str):
            return Condition(self._column.is_not(None), sa.false())
        return NEVER

    def contains(self, value: Constant) -> Condition:  # noqa: D102 - as in Field
        if not isinstance(value, str):
            return NEVER
        return Condition(self._column.is_not(None), sa.false())

    def matches(self, pattern: str) -> Condition:  # noqa: ARG002, D102 - as in Field
        return Condition(self._column.is_not(None), sa.false())

    def exists(self) -> Condition:  # noqa: D102 - as in Field
        return exactly(sa.true())


class NumberField:
    """A number, or null.

    Args:
        column: Of integers or of doubles.
        there: Whether there is such a field at all.
    """

    def __init__(self, column: sa.ColumnElement[Any], there: Clause | None = None) -> None:
        self._column = column
        self._there = sa.true() if there is None else there

    def compare(self, path: Path, sign: str, value: Constant) -> Condition:  # noqa: D102 - as in Field
        if value is None:
            return exactly(self._column.is_(None))
        if isinstance(value, Duration):
            unit = unit_ns(path)
            whole, rest = divmod(value.ns, unit)
            value = value.ns / unit if rest else whole
        if isinstance(value, bool) or not isinstance(value, int | float):
            return NEVER
        if isinstance(self._column.type, sa.Double):
            return exactly(_compare_double(self._column, sign, value))
        numerator, denominator = value.as_integer_ratio()
        return exactly(_compare_exactly(self._column, sign, numerator, denominator))

    def contains(self, value: Constant) -> Condition:  # noqa: ARG002, D102 - as in Field
        return NEVER

    def matches(self, pattern: str) -> Condition:  # noqa: ARG002, D102 - as in Field
        return NEVER

    def exists(self) -> Condition:  # noqa: D102 - as in Field
        return exactly(self._there)


class FlagField:
    """True or false, never null."""

    def __init__(self, clause: Clause) -> None:
        self._clause = clause

    def compare(self, path: Path, sign: str, value: Constant) -> Condition:  # noqa: ARG002, D102 - as in Field
        if not isinstance(value, bool):
            return NEVER
        return exactly(self._clause if value else sa.not_(self._clause))

    def contains(self, value: Constant) -> Condition:  # noqa: ARG002, D102 - as in Field
        return NEVER

    def matches(self, pattern: str) -> Condition:  # noqa: ARG002, D102 - as in Field
        return NEVER

    def exists(self) -> Condition:  # noqa: D102 - as in Field
        return exactly(sa.true())


class ListField:
    """A list of texts, never null."""

    def __init__(self, words: Words, column: sa.ColumnElement[Any]) -> None:
        self._words = words
        self._column = column

    def compare(self, path: Path, sign: str, value: Constant) -> Condition:  # noqa: ARG002, D102 - as in Field
        return NEVER

    def contains(self, value: Constant) -> Condition | None:  # noqa: D102 - as in Field
        if not isinstance(value, str):
            return None
        return exactly(self._words.has_element(self._column, value))

    def matches(self, pattern: str) -> Condition:  # noqa: ARG002, D102 - as in Field
        return NEVER

    def exists(self) -> Condition:  # noqa: D102 - as in Field
        return exactly(sa.true())


class ExcerptField:
    """The beginning of a text or of another value's JSON, and which of these it is."""

    def __init__(
        self, words: Words, column: sa.ColumnElement[str], form: sa.ColumnElement[str]
    ) -> None:
        self._words = words
        self._column = column
        self._form = form

    def compare(self, path: Path, sign: str, value: Constant) -> Condition:  # noqa: ARG002, D102 - as in Field
        if value is None:
            return exactly(self._form.is_(None))
        if not isinstance(value, str):
            return Condition(self._form.is_not(None), sa.false())
        longer: Clause = self._form == "text_cut"
        if sign == "=":
            beginning = self._words.compare(self._column, "=", value[:EXCERPT_CHARS])
            longer = sa.and_(longer, beginning) if len(value) > EXCERPT_CHARS else sa.false()
        return self._of_text(self._words.compare(self._column, sign, value), longer)

    def contains(self, value: Constant) -> Condition:  # noqa: D102 - as in Field
        no_text = self._form.in_(("json", "json_cut"))
        if not isinstance(value, str):
            return Condition(no_text, sa.false())
        found = self._words.contains(self._column, value)
        cut = self._form == "text_cut"
        sure = sa.and_(self._form.in_(("text", "text_cut")), found)
        return Condition(sa.or_(sure, cut, no_text), sure)

    def matches(self, pattern: str) -> Condition:  # noqa: D102 - as in Field
        return self._of_text(self._words.matches(self._column, pattern), self._form == "text_cut")

    def exists(self) -> Condition:  # noqa: D102 - as in Field
        return exactly(sa.true())

    def _of_text(self, clause: Clause, longer: Clause) -> Condition:
        sure = sa.and_(self._form == "text", clause)
        return Condition(sa.or_(sure, longer), sure)


class AttributeField:
    """An attribute of the root: in the row where it is short, by its name alone where it is not."""

    def __init__(self, words: Words, name: str) -> None:
        self._words = words
        # SQLite's paths know no escapes.
        self._is_plain = name.isprintable() and not set(name) & {'"', "\\"}
        self._type, self._text = words.member(name)
        self._is_long = words.has_element(traces.c.long_attributes, name)

    def compare(self, path: Path, sign: str, value: Constant) -> Condition | None:  # noqa: ARG002, D102 - as in Field
        if not self._is_plain:
            return None
        if value is None:
            unknown = sa.or_(self._type.is_(None), self._type == "null")
            return exactly(sa.and_(unknown, sa.not_(self._is_long)))
        if isinstance(value, str):
            return self._of_text(self._words.compare(self._text, sign, value))
        return Condition(sa.or_(self._type != "null", self._is_long), sa.false())

    def contains(self, value: Constant) -> Condition | None:  # noqa: D102 - as in Field
        if not self._is_plain:
            return None
        listed = self._type == "array"
        if not isinstance(value, str):
            return Condition(sa.or_(listed, self._is_long), sa.false())
        found = self._of_text(self._words.contains(self._text, value))
        return Condition(sa.or_(found.possible, listed), found.sure)

    def matches(self, pattern: str) -> Condition | None:  # noqa: D102 - as in Field
        return self._of_text(self._words.matches(self._text, pattern)) if self._is_plain else None

    def exists(self) -> Condition | None:  # noqa: D102 - as in Field
        if not self._is_plain:
            return None
        return exactly(sa.or_(self._type.is_not(None), self._is_long))

    def _of_text(self, clause: Clause) -> Condition:
        sure = sa.and_(self._type == self._words.text_type, clause)
        return Condition(sa.or_(sure, self._is_long), sure)


# ── Numbers ──────────────────────────────────────────────────────────────────────────────────────


def _compare_exactly(
    column: sa.ColumnElement[int], sign: str, numerator: int, denominator: int
) -> Clause:
    """Compare a column of integers with a fraction, as integers of 64 bits."""
    whole, rest = divmod(numerator, denominator)
    if rest:  # it lies between two integers
        if sign == "=":
            return sa.false()
        sign = "<=" if sign in ("<", "<=") else ">"
    if abs(whole) > _MAX_INTEGER:
        is_below = sign in ("<", "<=") if whole > 0 else sign in (">", ">=")
        return column.is_not(None) if is_below else sa.false()
    return _OPERATORS[sign](column, sa.literal(whole, sa.BigInteger))


def _compare_double(column: sa.ColumnElement[float], sign: str, value: float) -> Clause:
    """Compare a column of doubles with a number that may lie between two of them."""
    nearest = float(value)
    if nearest != value:
        if sign == "=":
            return sa.false()
        is_less = sign in ("<", "<=")
        sign = ("<" if is_less else ">=") if nearest > value else ("<=" if is_less else ">")
    return _OPERATORS[sign](column, sa.literal(nearest, sa.Double))
