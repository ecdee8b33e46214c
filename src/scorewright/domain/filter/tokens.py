"""From the text of a filter expression to its tokens, and to a message about one of them."""

from __future__ import annotations

import re
from typing import Final, Literal, NoReturn, TypeAlias
from unicodedata import east_asian_width

import msgspec

from scorewright.domain.errors import UsageError

MAX_CHARS: Final = 10_000

#: Words that are no field's name unless in brackets.
KEYWORDS: Final = frozenset("and or not in contains matches exists".split())

Kind: TypeAlias = Literal["word", "text", "operator", "sign", "end"]

# No alternative can begin where another one does, and nothing follows that could make one give back what it took: the
# time is linear. (Possessive repetitions would say so, but those of early CPython 3.11 are broken.)
_TOKEN: Final = re.compile(
    r"""
      (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<sign>[(),])
    | (?P<operator>[=!<>]+)
    | (?P<word>(?:[^\s()\[\]=!<>,"']|\[(?:"(?:[^"\\]|\\.)*"|[^\]"\s]*)\])+)
    """,
    re.VERBOSE | re.DOTALL,
)
_BARE_NAME: Final = re.compile(r"[^\s.\[\]\"'*()=!<>,\x00-\x1f]+")
_BLANKS: Final = re.compile(r"\s*")
_UNFINISHED: Final = {
    '"': "a text opens here that no quote closes",
    "'": "a text opens here that no quote closes",
    "[": 'a bracket opens here that none closes; in it stands [0] or ["a key"]',
}
#: Characters around the place of a mistake that are shown.
_BEFORE: Final = 60
_AFTER: Final = 20


class Token(msgspec.Struct, frozen=True):
    """A part of the text; `end` comes last and is empty."""

    kind: Kind
    text: str
    #: Where it begins, from 0.
    start: int


def split_tokens(text: str) -> list[Token]:
    """Split an expression.

    Raises:
        UsageError: The caller's: it is too long, or a character has no place in it.
    """
    if len(text) > MAX_CHARS:
        refuse(text, MAX_CHARS, f"it has more than {MAX_CHARS:,} characters")
    tokens: list[Token] = []
    position = _after_blanks(text, 0)
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:
            refuse(text, position, _UNFINISHED.get(text[position], "this has no place here"))
        tokens.append(Token(_kind(found), found[0], position))
        position = _after_blanks(text, found.end())
    return [*tokens, Token("end", "", len(text))]


def is_bare_name(name: str) -> bool:
    """Whether a field's name needs no brackets in an expression."""
    return _BARE_NAME.fullmatch(name) is not None and name.lower() not in KEYWORDS


def refuse(text: str, position: int, what: str) -> NoReturn:
    """Say what is wrong in an expression, with a caret below the place.

    Raises:
        UsageError: Always.
    """
    first = max(position - _BEFORE, 0)
    before, after = text[first:position], text[position : position + _AFTER]
    opening = "…" if first else ""
    closing = "…" if position + _AFTER < len(text) else ""
    shown = "".join(c if c.isprintable() else " " for c in f"{opening}{before}{after}{closing}")
    width = sum(2 if east_asian_width(c) in "WF" else 1 for c in opening + before)
    raise UsageError(f"filter, column {position + 1}: {what}\n  {shown}\n  {' ' * width}^")


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANKS.match(text, position)
    return blanks.end() if blanks else position


def _kind(found: re.Match[str]) -> Kind:
    kinds: tuple[Kind, ...] = ("text", "sign", "operator", "word")
    return next(kind for kind in kinds if found[kind] is not None)
