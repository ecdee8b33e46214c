"""Points in time as data names them: ISO 8601 text, or a number of seconds or smaller units since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from scorewright.domain.json_value import JsonValue

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NUMBER: Final = re.compile(r"[0-9]{9,20}(\.[0-9]{1,20})?")
#: Numbers below this are no seconds since 1970 that anyone logs: a counter, a duration, a time of day.
_FIRST_SECOND: Final = 10**8
#: What a number below the bound counts, as nanoseconds: seconds until the year 5138, then milliseconds and so on.
_UNITS: Final = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3), (2**64, 1))


def instant_of(value: JsonValue) -> int | None:
    """Read a point in time.

    Args:
        value: ISO 8601 text, in UTC where it names no offset; or a number, or the text of one, whose size tells
            seconds, milliseconds, microseconds and nanoseconds apart.

    Returns:
        Nanoseconds since 1970; None when it is no such time.
    """
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            return _of_text(value)
        value = float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return _of_number(value)


def _of_number(number: float) -> int | None:
    if number < _FIRST_SECOND:
        return None
    for bound, unit in _UNITS:
        if number < bound:
            # A double holds no more than microseconds of a time since 1970.
            exact = isinstance(number, int)
            return int(number) * unit if exact else round(number * unit / 1_000) * 1_000
    return None


def _of_text(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    except (ValueError, OverflowError):
        return None
    nanoseconds = since // timedelta(microseconds=1) * 1_000
    return nanoseconds if 0 < nanoseconds < 2**64 else None


def iso_utc(nanoseconds: int | None) -> str | None:
    """Write a point in time as ISO 8601 in UTC, cut to microseconds; None stays None."""
    if nanoseconds is None:
        return None
    second, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(second)}.{rest // 1_000:06d}Z"


@lru_cache(maxsize=1024)
def _second(second: int) -> str:
    """Write a whole second; most spans of a trace share theirs with others."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
