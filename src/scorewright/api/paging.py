"""Lists in pages: a cursor names the last entry seen, so that what comes meanwhile shifts nothing."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Generic, TypeVar

import msgspec
from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from scorewright.domain.errors import UsageError

Entry = TypeVar("Entry")

MAX_LIMIT = 500


class Page(BaseModel, Generic[Entry]):
    """A part of a list."""

    # Generic models do not pass their text on.
    model_config = ConfigDict(json_schema_extra={"description": "A part of a list."})

    items: list[Entry]
    next_cursor: str | None = Field(description="where the next page starts; null on the last one")


Limit = Annotated[int, Query(ge=1, le=MAX_LIMIT, description="entries of a page")]
Cursor = Annotated[str | None, Query(max_length=500, description="next_cursor of the page before")]


def write_cursor(*key: str | float) -> str:
    """Write where a page ends: the sort key of its last entry."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def read_cursor(
    cursor: str | None, kinds: tuple[type, ...]
) -> tuple[str | int | float, ...] | None:
    """Read a cursor back; None for none.

    Args:
        cursor: As it was given out.
        kinds: The types of the sort key.

    Raises:
        UsageError: The caller's: it is none of this list's.
    """
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        key = msgspec.json.decode(base64.urlsafe_b64decode(padded), type=list[str | int | float])
    except (binascii.Error, ValueError):
        key = []
    if [type(part) for part in key] != list(kinds):
        raise UsageError("cursor: not one of this list; leave it out to start at the beginning").at(
            "cursor"
        )
    return tuple(key)
