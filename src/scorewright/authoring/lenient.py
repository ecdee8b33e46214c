"""JSON values read without complaint: what is not of the wanted kind counts as absent.

For recorded traces only, where an author could do nothing about a malformed part.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

#: No duration, cost, score or token count is larger; beyond it sums would overflow.
MAX_NUMBER = 1e18


def as_object(value: Any) -> dict[str, Any]:
    """Give an object, or an empty one for anything else."""
    if not isinstance(value, dict):
        return {}
    found: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON: keys are text
    return found


def as_list(value: Any) -> list[Any]:
    """Give a list, or an empty one for anything else."""
    if not isinstance(value, list):
        return []
    found: list[Any] = value  # pyright: ignore[reportUnknownVariableType] - JSON: anything
    return found


def as_objects(value: Any) -> list[dict[str, Any]]:
    """List the objects in a list; nothing else in it counts."""
    return [one for one in as_list(value) if isinstance(one, dict)]


def as_str(value: Any) -> str | None:
    """Give a text, or None for anything else."""
    return value if isinstance(value, str) else None


def as_number(value: Any) -> float | None:
    """Give a finite number of a sane size, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if -MAX_NUMBER <= value <= MAX_NUMBER else None


def as_amount(value: Any) -> float | None:
    """Give a number that is not negative, or None for anything else."""
    number = as_number(value)
    return number if number is not None and number >= 0 else None


def as_count(value: Any) -> int | None:
    """Give a whole number that is not negative, or None for anything else."""
    number = as_amount(value)
    return int(number) if number is not None and number == int(number) else None


def as_time(value: Any) -> datetime | None:
    """Read an ISO 8601 time, UTC where it names no zone; None for anything else."""
    if not isinstance(value, str):
        return None

    from datetime import UTC, datetime

    try:
        time = datetime.fromisoformat(value)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # no time, or one that UTC cannot express
        return None


def parse_object(text: Any) -> dict[str, Any]:
    """Give an object that may have come as its JSON text, or an empty one for anything else."""
    if not isinstance(text, str):
        return as_object(text)

    import json

    try:
        return as_object(json.loads(text))
    except (ValueError, RecursionError):  # no JSON, or nested beyond reading
        return {}
