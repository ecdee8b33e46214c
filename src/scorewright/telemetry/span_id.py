"""Ids of traces and spans: hexadecimal or base64 text, or bytes, always shown in lower-case hexadecimal."""

from __future__ import annotations

import binascii
import re
from typing import Final

TRACE_BYTES: Final = 16
SPAN_BYTES: Final = 8

_HEX: Final = {
    size: re.compile(rf"[0-9a-fA-F]{{{2 * size}}}") for size in (TRACE_BYTES, SPAN_BYTES)
}


def id_of_text(text: object, size: int) -> str | None:
    """Read an id from JSON; the length tells hexadecimal from base64.

    Args:
        text: What stands in the id's place.
        size: Bytes that the id has.

    Returns:
        The id; the empty text when it is absent or all zero, which means none; None when it is no id.
    """
    if text is None or text == "":
        return ""
    if type(text) is not str:
        return None
    if _HEX[size].fullmatch(text):
        return _unless_zero(text.lower())
    try:
        decoded = binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return None
    return id_of_bytes(decoded, size) if len(decoded) == size else None


def id_of_bytes(data: bytes, size: int) -> str | None:
    """Read an id from a protobuf field; the returned values are those of `id_of_text`."""
    if not data:
        return ""
    return _unless_zero(data.hex()) if len(data) == size else None


def _unless_zero(text: str) -> str:
    return text if text.strip("0") else ""


def reason_against(trace_id: str | None, span_id: str | None) -> str | None:
    """Say why a span with these ids cannot be used; None when it can."""
    for name, found, size in (("trace", trace_id, TRACE_BYTES), ("span", span_id, SPAN_BYTES)):
        if found == "":
            return f"its {name} id is missing or all zero; {size} bytes that are not are needed"
        if found is None:
            return f"its {name} id is not {size} bytes as hexadecimal digits or base64"
    return None
