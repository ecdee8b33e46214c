"""Moments as they are written on the wire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Final

from pydantic import Field

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Moment = Annotated[
    str, Field(description="ISO 8601, UTC, microseconds", examples=["2026-01-31T08:30:00.000000Z"])
]


def moment(since_1970_us: int) -> str:
    """Write a moment."""
    at = _EPOCH + timedelta(microseconds=since_1970_us)
    return at.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"


def moment_or_none(since_1970_us: int | None) -> str | None:
    """Write a moment that may not have come."""
    return None if since_1970_us is None else moment(since_1970_us)


def moment_us(at: datetime) -> int:
    """Return a moment that has a time zone, as the database has it."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment_us_or_none(at: datetime | None) -> int | None:
    """Return a moment that may not be given, as the database has it."""
    return None if at is None else moment_us(at)
