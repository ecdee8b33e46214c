"""The forms that a row of a file may have, tried in this order; the content decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from scorewright.domain.errors import TraceError
from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.container import MAX_LEVELS, is_flat_enough
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.messages import message_of
from scorewright.telemetry.trajectories.atif import is_atif, read_atif
from scorewright.telemetry.trajectories.message_rows import (
    holds_messages,
    holds_response,
    is_message_list,
    read_message_list,
    read_messages_row,
    read_response_row,
)
from scorewright.telemetry.trajectories.model import Trajectory


class Form(msgspec.Struct, frozen=True):
    """One way of writing a trajectory down."""

    #: As a refusal names it.
    name: str
    is_form_of: Callable[[JsonValue], bool]
    #: Raises `TraceError` where the form holds nothing.
    read: Callable[[JsonValue, Findings], Trajectory]


FORMS: Final = (
    Form("an ATIF trajectory with steps", is_atif, read_atif),
    Form("an object with messages", holds_messages, read_messages_row),
    Form(
        "a call of the Responses API with input and output items", holds_response, read_response_row
    ),
    Form("a list of messages", is_message_list, read_message_list),
)
EXPECTED: Final = ", ".join(form.name for form in FORMS[:-1]) + f" or {FORMS[-1].name}"


def trajectory_of(row: JsonValue, findings: Findings) -> Trajectory:
    """Read one row.

    Raises:
        TraceError: It has none of the forms, or holds nothing; the text says why, without a place.
    """
    for form in FORMS:
        if form.is_form_of(row):
            if not is_flat_enough(row):
                raise TraceError(f"nested more than {MAX_LEVELS} levels deep")
            return form.read(row, findings)
    if message_of(row) is not None:
        raise TraceError("a single message; put the messages of one trajectory into one list")
    raise TraceError(f"no trajectory: needed is {EXPECTED}; this is {_shown(row)}")


def rows_of(value: JsonValue) -> list[JsonValue] | None:
    """Return the rows that a list holds; None for what is one row, as a list of messages is."""
    return value if isinstance(value, list) and not is_message_list(value) else None


def _shown(row: JsonValue) -> str:
    if isinstance(row, dict):
        names = ", ".join(sorted(row)[:3])
        return f"an object with {names}" if names else "an empty object"
    if isinstance(row, list):
        return "a list of something else" if row else "an empty list"
    return "neither an object nor a list"
