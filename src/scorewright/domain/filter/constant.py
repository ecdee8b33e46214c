"""Constants of a filter expression that need no quotes, and texts of an item that may stand for them."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from typing import Final, assert_never

import msgspec

from scorewright.domain.filter.tree import Constant, Duration, Time
from scorewright.domain.suggestion import did_you_mean, quote

UNITS_NS: Final = {
    "d": 86_400_000_000_000,
    "h": 3_600_000_000_000,
    "m": 60_000_000_000,
    "s": 1_000_000_000,
    "ms": 1_000_000,
    "us": 1_000,
    "ns": 1,
}
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,4})?")
_DURATION: Final = re.compile(r"([0-9]{1,20})(?:\.([0-9]{1,20}))?(ns|us|ms|s|m|h|d)")
_HOUR, _SIXTIETH = "([01][0-9]|2[0-3])", "([0-5][0-9])"
_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    rf"(?:[Tt ]{_HOUR}:{_SIXTIETH}(?::{_SIXTIETH}(?:\.([0-9]{{1,9}})[0-9]*+)?)?"
    rf"(?:[Zz]|([+-]){_HOUR}:?{_SIXTIETH})?)?"
)
_LONGEST_TIME: Final = 64
_SECOND_NS: Final = UNITS_NS["s"]
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - every time here is UTC
_FIRST_NS: Final = (date.min - _EPOCH.date()).days * UNITS_NS["d"]
_END_NS: Final = ((date.max - _EPOCH.date()).days + 1) * UNITS_NS["d"]
_MAX_INT: Final = (1 << 63) - 1


def parse_constant(word: str) -> Constant:
    """Read a number, `true`, `false`, `null`, a duration or a time.

    Raises:
        ValueError: It is none of these; the message says what to write.
    """
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if _NUMBER.fullmatch(word):
        return _within_bounds(read_number(word))
    if parts := _DURATION.fullmatch(word):
        return _duration(parts[1], parts[2] or "", parts[3])
    if _TIME.fullmatch(word):
        ns = read_time(word)
        if ns is None or not _FIRST_NS <= ns < _END_NS:
            raise ValueError(f"there is no time {quote(word)}")
        return Time(ns)
    raise ValueError(
        f"{quote(word)} is no number, duration or time{did_you_mean(word, _WORDS)}; put a text in quotes"
    )


def print_constant(value: Constant) -> str:
    """Write a constant so that it reads back as it was; texts in double quotes."""
    match value:
        case Duration():
            unit = next(unit for unit, ns in UNITS_NS.items() if value.ns % ns == 0)
            return f"{value.ns // UNITS_NS[unit]}{unit}" if value.ns else "0s"
        case Time():
            return _print_time(value.ns)
        case bool() | int() | float() | str() | None:
            return msgspec.json.encode(value).decode()
        case _:
            assert_never(value)


def read_number(text: str) -> int | float | None:
    """Return the number that a text is, in JSON's form with blanks around it; None for any other text.

    A number with leading zeros is a name, such as a postcode.
    """
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    if text.lstrip("-").isdigit():
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


def read_time(text: str) -> int | None:
    """Return the nanoseconds since 1970 that an ISO 8601 date or time stands for; None for any other text.

    A date is its midnight, and what names no offset is UTC.
    """
    parts = _TIME.fullmatch(text) if len(text) <= _LONGEST_TIME else None
    if parts is None:
        return None
    day, hour, minute, second, fraction, sign, offset_hour, offset_minute = parts.groups("0")
    try:
        days = date.fromisoformat(day).toordinal() - _EPOCH.toordinal()
    except ValueError:
        return None
    seconds = days * 86_400 + _seconds(hour, minute) + int(second)
    if sign != "0":
        offset_s = _seconds(offset_hour, offset_minute)
        seconds += offset_s if sign == "-" else -offset_s
    return seconds * _SECOND_NS + int(fraction.ljust(9, "0"))


def _seconds(hours: str, minutes: str) -> int:
    return int(hours) * 3600 + int(minutes) * 60


def _within_bounds(number: int | float | None) -> int | float:  # noqa: PYI041 - both are meant
    if number is None:
        raise ValueError("the number is too large for a double")
    if isinstance(number, int) and not -_MAX_INT <= number <= _MAX_INT:
        raise ValueError(
            "a whole number has at most 64 bits; write it with an exponent, as in 1e20"
        )
    return number


def _duration(whole: str, fraction: str, unit: str) -> Duration:
    ns, rest = divmod(int(whole + fraction) * UNITS_NS[unit], 10 ** len(fraction))
    if rest:
        raise ValueError("a duration is a whole number of nanoseconds")
    if ns > _MAX_INT:
        raise ValueError("a duration has at most 292 years")
    return Duration(ns)


def _print_time(ns: int) -> str:
    seconds, fraction = divmod(ns, _SECOND_NS)
    text = (_EPOCH + timedelta(seconds=seconds)).isoformat()
    if fraction:
        return f"{text}.{fraction:09}".rstrip("0") + "Z"
    return text.removesuffix("T00:00:00") if text.endswith("T00:00:00") else f"{text}Z"
