r"""One JSON object from text: strict, exact, and refused in words an author understands.

The decoder refuses what RFC 8259 does: NaN, control characters, wrong encodings; and 1e400, which
no double can hold. Half of a surrogate pair (`\ud83d` alone) is legal there but no Unicode text, so
no UTF-8 could carry it to an evaluator: each half becomes U+FFFD, in the text itself, so that
everything around it stays as it was. Of two equal keys the last one counts; nothing looks for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue

#: Its errors are `msgspec.DecodeError` and, for depth, `RecursionError`.
decode_object = cast("Callable[[bytes], JsonObject]", msgspec.json.Decoder(dict[str, Any]).decode)


_decode_any = cast("Callable[[bytes], JsonValue]", msgspec.json.decode)

DecodeErrors = (msgspec.DecodeError, RecursionError)

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|.)",
    re.DOTALL,
)
_NOT_JSON = re.compile(rb"NaN|-?Infinity")
_MALFORMED = re.compile(r"JSON is malformed: (.+) \(byte (\d+)\)")
_WRONG_TYPE = re.compile(r"got `(\w+)`")
_TYPE_NAMES = {
    "array": "a list",
    "str": "a text",
    "int": "a number",
    "float": "a number",
    "bool": "true or false",
    "null": "null",
}
_MAX_REASON_CHARS = 120


class BadJsonError(ValueError):
    """The text is no JSON object; its message is the reason, without a place."""


def parse_object(text: bytes) -> tuple[JsonObject, bool]:
    """Decode one object, mending halves of surrogate pairs.

    Returns:
        The object, and whether something was mended.

    Raises:
        BadJsonError: The text is not one JSON object.
    """
    try:
        return decode_object(text), False
    except DecodeErrors as error:
        mended = mend_surrogates(text)
        if mended == text:
            raise BadJsonError(reason_of(text, error)[0]) from None
    try:
        return decode_object(mended), True
    except DecodeErrors as error:
        raise BadJsonError(reason_of(mended, error)[0]) from None


def is_json(text: bytes) -> bool:
    """Tell whether a text is one JSON value."""
    try:
        _decode_any(mend_surrogates(text))
    except DecodeErrors:
        return False
    return True


def parse_container(cell: str) -> JsonValue:
    """Decode a cell that holds a JSON object or list; None when it holds neither."""
    if cell.lstrip(" \t\r\n")[:1] not in {"{", "["}:
        return None
    text = cell.encode()
    try:
        return _decode_any(text)
    except DecodeErrors:
        mended = mend_surrogates(text)
        try:
            return _decode_any(mended)
        except DecodeErrors:
            return None


def mend_surrogates(text: bytes) -> bytes:
    """Replace each escaped half of a surrogate pair by an escaped U+FFFD."""
    # Almost no text has any, and this test is far cheaper than the replacement.
    if b"\\ud" not in text and b"\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found["half"] else found[0], text)


def reason_of(text: bytes, error: Exception) -> tuple[str, int]:
    """Say in our own words why a text is no JSON object, and at which byte where that is known."""
    said = str(error)
    if isinstance(error, RecursionError):
        return "nested too deeply", 0
    if wrong := _WRONG_TYPE.search(said):
        return f"not an object but {_TYPE_NAMES.get(wrong[1], wrong[1])}", 0
    if "out of range" in said:
        return "a number out of range, of a double or of 4,300 digits", 0
    if malformed := _MALFORMED.match(said):
        return _malformed_reason(text, malformed[1], int(malformed[2]))
    if "truncated" in said:
        return "not JSON: it ends inside a value", len(text.rstrip())
    return f"not JSON: {said[:_MAX_REASON_CHARS]}", 0


def line_of(text: bytes, byte: int) -> int:
    """Number, from 1, of the line that a byte stands on."""
    return text.count(b"\n", 0, byte) + 1


def _malformed_reason(text: bytes, said: str, byte: int) -> tuple[str, int]:
    # At -Infinity the decoder stops behind the sign.
    for start in (max(byte - 1, 0), byte):
        if token := _NOT_JSON.match(text, start):
            return f"{token[0].decode()} is not JSON; write null or a text", byte
    line_start = text.rfind(b"\n", 0, byte) + 1
    column = len(text[line_start:byte].decode(errors="replace")) + 1
    return f"not JSON: {said[:_MAX_REASON_CHARS]} (column {column})", byte
