"""Attributes as OTLP/JSON writes them, made plain JSON values."""

from __future__ import annotations

import binascii
import math
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.findings import Findings

#: Lists and objects within a value; what lies deeper becomes null.
MAX_DEPTH: Final = 32

_MIN_INT64, _MAX_INT64 = -(2**63), 2**63 - 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")

_Reader: TypeAlias = Callable[[object, Findings, int], JsonValue]


def attributes_of(pairs: object, findings: Findings, depth: int = 0) -> JsonObject:
    """Read a list of key-value pairs; of two equal keys the last one counts.

    One pair that cannot be read costs no other one, and no span.
    """
    found: JsonObject = {}
    if type(pairs) is not list:
        if pairs is not None:
            findings.note("attributes that are no list were ignored")
        return found
    for pair in cast("list[object]", pairs):
        read = cast("dict[str, object]", pair).get("key") if type(pair) is dict else None
        if type(read) is not str or not read:
            findings.note("an attribute without a key was ignored")
            continue
        found[read] = value_of(cast("dict[str, object]", pair).get("value"), findings, depth)
    return found


def value_of(value: object, findings: Findings, depth: int = 0) -> JsonValue:
    """Read one typed value; null when it is empty, of an unknown kind or breaks its kind's rules."""
    if value is None:
        return None
    if type(value) is not dict:
        return _odd(findings, "is not typed, as {'stringValue': …} is")
    for name, inner in cast("dict[str, object]", value).items():
        reader = _READERS.get(name)
        if reader is not None:
            return None if inner is None else reader(inner, findings, depth)
    return _odd(findings, "is of an unknown type") if value else None


def _odd(findings: Findings, why: str) -> None:
    findings.note(f"an attribute's value {why}: read as null")


def _text(value: object, findings: Findings, _depth: int) -> JsonValue:
    return value if type(value) is str else _odd(findings, "is no text though it says so")


def _truth(value: object, findings: Findings, _depth: int) -> JsonValue:
    return value if type(value) is bool else _odd(findings, "is neither true nor false")


def _integer(value: object, findings: Findings, _depth: int) -> JsonValue:
    number = integer_of(value)
    if number is None or not _MIN_INT64 <= number <= _MAX_INT64:
        return _odd(findings, "is no integer of 64 bits")
    return number


def integer_of(value: object) -> int | None:
    """Read an integer that may be written as text, as 64-bit ones are in protobuf's JSON."""
    if type(value) is int:
        return value
    if type(value) is str and _INTEGER.fullmatch(value):
        return int(value)
    if type(value) is float and value.is_integer():
        return int(value)
    return None


def _double(value: object, findings: Findings, _depth: int) -> JsonValue:
    if type(value) not in {int, float, str}:
        return _odd(findings, "is no number")
    try:
        number = float(cast("float | str", value))
    except (ValueError, OverflowError):
        return _odd(findings, "is no number")
    return finite(number, findings)


def finite(number: float, findings: Findings) -> JsonValue:
    """Let a number through that JSON can write."""
    return number if math.isfinite(number) else _odd(findings, "is NaN or infinite")


def _bytes(value: object, findings: Findings, _depth: int) -> JsonValue:
    try:
        return base64_of(binascii.a2b_base64(cast("str", value), strict_mode=True))
    except (ValueError, TypeError):
        return _odd(findings, "is no base64")


def base64_of(data: bytes) -> str:
    """Write bytes as a value holds them: they are no text, and are never guessed to be one."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def _items(value: object, findings: Findings, depth: int) -> list[Any] | None:
    if depth >= MAX_DEPTH:
        return _odd(findings, f"holds lists more than {MAX_DEPTH} deep; those further in")
    items = cast("dict[str, object]", value).get("values", []) if type(value) is dict else None
    if type(items) is not list:
        return _odd(findings, "is no list of values")
    return cast("list[Any]", items)


def _list(value: object, findings: Findings, depth: int) -> JsonValue:
    items = _items(value, findings, depth)
    return None if items is None else [value_of(item, findings, depth + 1) for item in items]


def _object(value: object, findings: Findings, depth: int) -> JsonValue:
    items = _items(value, findings, depth)
    if items is None:
        return None
    return attributes_of(items, findings, depth + 1)


_READERS: Final[dict[str, _Reader]] = {
    "stringValue": _text,
    "string_value": _text,
    "intValue": _integer,
    "int_value": _integer,
    "boolValue": _truth,
    "bool_value": _truth,
    "doubleValue": _double,
    "double_value": _double,
    "arrayValue": _list,
    "array_value": _list,
    "kvlistValue": _object,
    "kvlist_value": _object,
    "bytesValue": _bytes,
    "bytes_value": _bytes,
}
