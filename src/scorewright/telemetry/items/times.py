"""Times as authors see them: ISO 8601, UTC, microseconds."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache


def iso_time(ns: int | None) -> str | None:
    """Write a time, in nanoseconds since 1970; what is finer than a microsecond is cut off."""
    if ns is None:
        return None
    second, rest = divmod(ns, 1_000_000_000)
    return f"{_second(second)}.{rest // 1000:06d}Z"


@lru_cache(maxsize=1024)
def _second(second: int) -> str:
    """Write a whole second; many spans of a trace share one."""
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
