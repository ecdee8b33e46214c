"""Moments as they travel: ISO 8601, UTC, with microseconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def write_moment(moment_us: int) -> str:
    """Write a moment."""
    moment = _EPOCH + timedelta(microseconds=moment_us)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def write_moment_or_none(moment_us: int | None) -> str | None:
    """Write a moment that may not have come."""
    return None if moment_us is None else write_moment(moment_us)


def moment_us(moment: datetime) -> int:
    """Return a moment that has a time zone."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
