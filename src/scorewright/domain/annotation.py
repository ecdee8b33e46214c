"""Read a type out of an annotation's text; nothing is imported or evaluated.

Annotations may be strings, dotted names, optional or unions with None. What is not understood is None,
and never an error: annotations are the author's own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from scorewright.domain.json_value import JsonValue


class NamedType(NamedTuple):
    """A plain type of an annotation, without module and without `| None`."""

    name: str
    """Last part of a dotted name, such as `Trace`, `list` or `Literal`."""
    inner: str
    """The text between its square brackets, or an empty one."""


def read_type(annotation: str | None) -> NamedType | None:
    """Return the one type an annotation names, or None for none, several or another expression."""
    text = (annotation or "").strip()
    quoted = re.fullmatch(r"""(['"])((?:(?!\1).)*)\1""", text)
    if quoted:
        return read_type(quoted[2])
    parts = [part for part in _split(text, "|") if part not in ("None", "'None'", '"None"')]
    if len(parts) != 1:
        return None
    if parts[0] != text:
        return read_type(parts[0])
    match = re.fullmatch(r"(?:\w+\.)*(\w+)(?:\[(.*)\])?", text, re.DOTALL)
    if match is None or not match[1].isidentifier():
        return None
    name, inner = match[1], (match[2] or "").strip()
    if name == "Optional":
        return read_type(inner)
    if name == "Union":
        return read_type(" | ".join(_split(inner, ",")))
    if name == "Annotated":
        return read_type(_split(inner, ",")[0])
    return NamedType(name, inner)


def literal_values(inner: str) -> tuple[JsonValue, ...]:
    """Return the values between the brackets of `Literal[…]`; empty when one is no JSON literal."""
    import ast

    from scorewright.domain.json_literal import json_literal

    try:
        values = json_literal(ast.literal_eval(f"[{inner}]"))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ()
    return tuple(values) if isinstance(values, list) else ()


def _split(text: str, separator: str) -> list[str]:
    """Split at a separator that stands outside of brackets and quotes."""
    parts: list[str] = []
    depth, quote, start = 0, "", 0
    for index, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "[(":
            depth += 1
        elif character in "])":
            depth -= 1
        elif character == separator and not depth:
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]
