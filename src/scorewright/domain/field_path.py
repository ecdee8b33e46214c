"""Field paths: `trace.output.items[0]["unit price"]`, from text to steps and back.

Grammar: a name, then any of `.name`, `[index]` (negative: from the end) and `["any key"]`; an optional
`$.` before it means nothing. A law: `parse_path(print_path(path)) == path`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NoReturn

import msgspec

from scorewright.domain.binding import Path
from scorewright.domain.errors import MappingError
from scorewright.domain.suggestion import quote

_MAX_PATH_CHARS = 1024
_MAX_INDEX_DIGITS = 9
#: A key that needs no quotes: no part of the grammar in it, no control characters, no space at its ends.
_NAME = r"[^\s.\[\]\"*\x00-\x1f](?:[^.\[\]\"*\x00-\x1f]*[^\s.\[\]\"*\x00-\x1f])?"
_INDEX = rf"\[(0|-?[1-9]\d{{0,{_MAX_INDEX_DIGITS - 1}}})\]"
_KEY = r'\[("(?:[^"\\]|\\.)*")\]'


class FieldPathError(MappingError):
    """A text is no field path.

    Args:
        text: All of it.
        position: Where it stops being one, from 0.
        reason: What is wrong there.
    """

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(f"field path: {quote(text)}, column {position + 1}: {reason}")
        self.position = position
        self.reason = reason


def parse_path(text: str, *, fields: Mapping[str, Path] = MappingProxyType({})) -> Path:
    """Read a field path.

    Args:
        text: The path as a person wrote it.
        fields: Paths by known names; the longest that the text starts with is taken whole, dots and all.

    Raises:
        FieldPathError: The caller's: it is no path; the text names the column where it stops being one.
    """
    if len(text) > _MAX_PATH_CHARS:
        _refuse(text, _MAX_PATH_CHARS, f"it is too long; at most {_MAX_PATH_CHARS} characters")
    steps, position = _first_steps(text, fields)
    while position < len(text):
        step, position = _next_step(text, position)
        steps.append(step)
    return tuple(steps)


def is_plain_name(name: str) -> bool:
    """Whether a name can stand in a path as it is."""
    return re.fullmatch(_NAME, name) is not None


def print_path(path: Path, *, is_plain: Callable[[str], bool] = is_plain_name) -> str:
    """Write a path so that `parse_path` reads it back.

    Args:
        path: Its steps.
        is_plain: Whether a name needs no brackets, where a path stands inside a longer text.
    """
    first, *rest = path
    is_plain_first = isinstance(first, str) and is_plain(first) and first != "$"
    text = str(first) if is_plain_first else _bracketed(first)
    for step in rest:
        text += f".{step}" if isinstance(step, str) and is_plain(step) else _bracketed(step)
    return text


def _bracketed(step: str | int) -> str:
    return f"[{msgspec.json.encode(step).decode()}]"


def _first_steps(text: str, fields: Mapping[str, Path]) -> tuple[list[str | int], int]:
    whole = [
        f for f in fields if text.startswith(f) and text[len(f) : len(f) + 1] in ("", ".", "[")
    ]
    if whole:
        longest = max(whole, key=len)
        return [*fields[longest]], len(longest)
    start = 2 if text.startswith("$.") else 1 if text.startswith("$[") else 0
    if text.startswith("[", start):
        step, position = _next_step(text, start)
        if isinstance(step, int):
            _refuse(text, start, "an item has names at its top, no numbers; start with a name")
        return [step], position
    name, position = _name(text, start)
    return [name], position


def _next_step(text: str, position: int) -> tuple[str | int, int]:
    if text[position] == ".":
        return _name(text, position + 1)
    index = re.compile(_INDEX).match(text, position)
    if index:
        return int(index[1]), index.end()
    key = re.compile(_KEY).match(text, position)
    if key is None:
        _refuse(text, position, _what_is_wrong(text[position:]))
    try:
        return msgspec.json.decode(key[1], type=str), key.end()
    except (msgspec.DecodeError, UnicodeEncodeError):
        _refuse(text, position, 'the key is no JSON text; write it as in ["unit price"]')


def _name(text: str, position: int) -> tuple[str, int]:
    name = re.compile(_NAME).match(text, position)
    if name is None:
        _refuse(text, position, _what_is_wrong(text[position:]))
    return name[0], name.end()


def _what_is_wrong(rest: str) -> str:
    """Say in words what stands where a step should."""
    if rest.startswith(("*", "[*")):
        return "wildcards are not supported; name one element"
    if rest.startswith("."):
        return "searching at any depth (..) is not supported; write each step"
    if rest.startswith("[?"):
        return "filters are not supported; name one element"
    if re.match(r"\[[-\d]*:", rest):
        return "slices are not supported; name one element"
    if rest.startswith("["):
        return (
            'in brackets stands a whole number, as in [0], or a key in double quotes, as in ["a b"]'
        )
    return (
        "a name is missing" if not rest else 'a name cannot stand like this; write it as in ["a b"]'
    )


def _refuse(text: str, position: int, what: str) -> NoReturn:
    raise FieldPathError(text, position, what)
