"""JSON objects and lists that attributes hold as text."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.json_text import parse_container
from scorewright.domain.json_value import JsonValue

#: Lists and objects within one another; a text with more stays text, since nothing could write it again.
MAX_LEVELS: Final = 100


def container(text: str) -> JsonValue:
    """Read a text that is a JSON object or list; None when it is neither, or nested too deeply."""
    found = parse_container(text)
    if found is None or text.count("[") + text.count("{") <= MAX_LEVELS:
        return found
    return found if is_flat_enough(found) else None


def is_flat_enough(value: JsonValue) -> bool:
    """Tell whether a value has at most `MAX_LEVELS` of lists and objects, so that anything can write it."""
    level = [value]
    for _ in range(MAX_LEVELS):
        level = [inner for outer in level for inner in _inner(outer)]
        if not level:
            return True
    return False


def _inner(value: JsonValue) -> list[JsonValue]:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [inner for inner in values if isinstance(inner, (dict, list))]


def unquoted(value: JsonValue) -> JsonValue:
    """Read a text that is a JSON text in its quotes; everything else stays as it is."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        try:
            return msgspec.json.decode(value.encode(), type=str)
        except msgspec.DecodeError:
            return value
    return value
