"""From text to a filter expression's tree."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NoReturn, cast, get_args

import msgspec

from scorewright.domain.binding import Path
from scorewright.domain.field_path import FieldPathError, print_path
from scorewright.domain.filter.constant import parse_constant
from scorewright.domain.filter.durations import unit_ns
from scorewright.domain.filter.pattern import MAX_PATTERN_CHARS
from scorewright.domain.filter.tokens import KEYWORDS, Token, is_bare_name, refuse, split_tokens
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
    Operator,
    Or,
)
from scorewright.domain.item_shape import ItemShape, row_shape
from scorewright.domain.suggestion import did_you_mean, name_list, nearest_name, quote

_ANY: Final = row_shape(None)
MAX_DEPTH: Final = 64
MAX_LISTED: Final = 1_000
_CONDITIONS: Final = ("contains", "exists", "in", "matches")
_OPERATORS: Final[tuple[str, ...]] = get_args(Operator)
#: What other languages write, with what is written here.
_ELSEWHERE: Final = {
    "==": "=",
    "<>": "!=",
    "!": "not",
    "&&": "and",
    "||": "or",
    "is": "= null",
    "like": "matches",
    "=~": "matches",
    "startswith": 'matches "…*"',
}


def parse_filter(text: str, *, shape: ItemShape = _ANY) -> Filter:
    """Read a filter expression.

    Args:
        text: As a person wrote it.
        shape: What the items offer; any field may be asked for where that is not known.

    Raises:
        UsageError: The caller's: it is no filter expression; the text shows the place.
    """
    parser = _Parser(text, shape)
    tree = parser.disjunction()
    parser.end()
    return tree


class _Parser:
    """Walks over the tokens once; goes deeper only at `not` and `(`, which are counted."""

    def __init__(self, text: str, shape: ItemShape) -> None:
        self._text = text
        self._shape = shape
        self._tokens = split_tokens(text)
        self._at = 0
        self._depth = 0

    def disjunction(self) -> Filter:
        parts = [self._conjunction()]
        while self._take("or"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def end(self) -> None:
        token = self._peek()
        if token.kind != "end":
            known = ("and", "or")
            self._refuse(
                token, f'"and" or "or" is missing before {quote(token.text)}{_hint(token, known)}'
            )

    def _conjunction(self) -> Filter:
        parts = [self._negation()]
        while self._take("and"):
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _negation(self) -> Filter:
        token = self._peek()
        if self._take("not"):
            self._descend(token)
            tree: Filter = Not(self._negation())
        elif self._take("("):
            self._descend(token)
            tree = self.disjunction()
            self._require(")", "a bracket opens in column {} that none closes", token)
        else:
            return self._condition()
        self._depth -= 1
        return tree

    def _descend(self, token: Token) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            self._refuse(token, f"not and brackets go deeper than {MAX_DEPTH} levels")

    def _condition(self) -> Filter:
        path = self._field()
        token = self._next()
        if token.kind == "operator" and token.text in _OPERATORS:
            return self._comparison(path, cast("Operator", token.text))
        if token.text.lower() == "not" and self._peek().text.lower() in _CONDITIONS:
            return Not(self._keyword(path, self._next()))
        return self._keyword(path, token)

    def _keyword(self, path: Path, token: Token) -> Filter:
        word = token.text.lower()
        if word not in _CONDITIONS:
            what = "after a field stands one of = != < <= > >=, in, contains, matches or exists"
            self._refuse(token, f"{what}{_hint(token, _CONDITIONS)}")
        match word:
            case "in":
                return self._list(path)
            case "contains":
                return Contains(path, self._constant(path))
            case "matches":
                return Matches(path, self._pattern())
            case _:
                return Exists(path)

    def _comparison(self, path: Path, operator: Operator) -> Compare:
        token = self._peek()
        value = self._constant(path)
        if operator not in ("=", "!=") and (value is None or isinstance(value, bool)):
            self._refuse(token, f"{token.text} is neither less nor more than anything; use = or !=")
        return Compare(path, operator, value)

    def _list(self, path: Path) -> IsIn:
        self._require("(", "after in stand constants in brackets, as in (1, 2)")
        values = [self._constant(path)]
        while self._take(","):
            if len(values) == MAX_LISTED:
                self._refuse(self._peek(), f"a list has at most {MAX_LISTED:,} constants")
            values.append(self._constant(path))
        self._require(")", "after a constant of a list stands , or )")
        return IsIn(path, tuple(values))

    def _pattern(self) -> str:
        token = self._next()
        if token.kind != "text":
            self._refuse(token, 'after matches stands a pattern in quotes, as in "order *"')
        pattern = self._unquoted(token)
        if len(pattern) > MAX_PATTERN_CHARS:
            self._refuse(token, f"a pattern has at most {MAX_PATTERN_CHARS} characters")
        return pattern

    def _field(self) -> Path:
        token = self._next()
        if token.kind == "text":
            self._refuse(token, 'first stands a field; one with blanks in its name is ["a b"]')
        if token.kind != "word" or token.text.lower() in KEYWORDS:
            self._refuse(token, f"a field is missing{_hint(token, ())}")
        try:
            path = self._shape.read_path(token.text)
        except FieldPathError as error:
            refuse(self._text, token.start + error.position, error.reason)
        if (reason := self._shape.reason_against(path)) is not None:
            near = _nearest_field(self._shape.top_of(path), self._shape)
            self._refuse(token, f"{reason}{near}; there is {name_list(self._shape.names)}")
        return path

    def _constant(self, path: Path) -> Constant:
        token = self._next()
        if token.kind == "text":
            return self._unquoted(token)
        if token.kind != "word":
            self._refuse(token, "a constant is missing: a number, a text in quotes, a time …")
        try:
            value = parse_constant(token.text)
            if isinstance(value, Duration):
                unit_ns(path)  # it has to have one
        except ValueError as error:
            self._refuse(token, str(error))
        return value

    def _unquoted(self, token: Token) -> str:
        body = token.text[1:-1]
        if token.text[0] == "'":
            body = re.sub(r"\\.|\"", _in_double_quotes, body, flags=re.DOTALL)
        try:
            return msgspec.json.decode(f'"{body}"', type=str)
        except (msgspec.DecodeError, UnicodeEncodeError):
            self._refuse(
                token,
                r"the text has an escape or a character that JSON refuses; write \n, \\ or \u00e9",
            )

    def _peek(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def _take(self, wanted: str) -> bool:
        token = self._peek()
        found = token.kind in ("word", "sign") and token.text.lower() == wanted
        self._at += found
        return found

    def _require(self, wanted: str, otherwise: str, opened: Token | None = None) -> None:
        if not self._take(wanted):
            column = opened.start + 1 if opened else 0
            self._refuse(self._peek(), otherwise.format(column))

    def _refuse(self, token: Token, what: str) -> NoReturn:
        refuse(self._text, token.start, what)


def _hint(token: Token, known: Iterable[str]) -> str:
    """Say what was probably meant."""
    word = token.text.lower()
    meant = _ELSEWHERE.get(word)
    return f" (here it is: {meant})" if meant else did_you_mean(word, known) if word else ""


def _nearest_field(asked: str, shape: ItemShape) -> str:
    near = nearest_name(asked, shape.names)
    if near is None:
        return ""
    path = (shape.fields or {})[near]
    return f" (did you mean {_written(near, path)}?)"


def _written(name: str, path: Path) -> str:
    """Write a field's name as it can stand in an expression."""
    if len(path) > 1 or is_bare_name(name):
        return quote(name)
    return print_path(path, is_plain=is_bare_name)


def _in_double_quotes(found: re.Match[str]) -> str:
    return {'"': r"\"", r"\'": "'"}.get(found[0], found[0])
