"""Turn a Python value into the JSON value it stands for, or say why it stands for none."""

from __future__ import annotations

import math
from typing import Any, cast

from scorewright.domain.json_value import JsonValue

_MAX_NESTING = 32
#: What every JSON and MessagePack reader takes.
_INT_RANGE = range(-(1 << 63), 1 << 63)


def json_literal(value: Any) -> JsonValue:
    """Return the value as JSON; a tuple becomes a list.

    Raises:
        ValueError: The author's fault: the value, or one inside it, is no JSON; the text says which.
    """
    return _convert(value, "", _MAX_NESTING)


def _convert(value: Any, path: str, depth: int) -> JsonValue:
    if not depth:
        raise ValueError(f"nested more than {_MAX_NESTING} deep")
    match value:
        case None | bool():
            return value
        case str():
            return _text(value, path)
        case int() if value in _INT_RANGE:
            return value
        case float() if math.isfinite(value):
            return value
        case list() | tuple():
            items = cast("list[Any]", value)
            return [_convert(v, f"{path}[{i}]", depth - 1) for i, v in enumerate(items)]
        case dict():
            pairs = cast("dict[Any, Any]", value)
            return {_key(k, path): _convert(v, f"{path}.{k}", depth - 1) for k, v in pairs.items()}
        case int() | float():
            raise ValueError(f"{_at(path)}the number is too large, or not finite")
        case _:
            raise ValueError(f"{_at(path)}a {type(value).__name__} is no JSON value")


def _text(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        text = "the text holds half of a character (a lone surrogate)"
        raise ValueError(f"{_at(path)}{text}") from None
    return value


def _key(key: Any, path: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{_at(path)}the key {key!r:.40} is no text")  # noqa: TRY004 - a value, not a type
    return _text(key, path)


def _at(path: str) -> str:
    return f"{path.lstrip('.')[:80]}: " if path else ""
