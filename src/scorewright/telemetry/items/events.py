"""What happens in a trace, before it is written down as steps."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from scorewright.telemetry.messages import ToolCall
from scorewright.telemetry.tool_calls import CalledTool


class Asked(msgspec.Struct, frozen=True):
    """The user said something."""

    text: str


class ModelTurn(msgspec.Struct, frozen=True):
    """A model answered, with text or by asking for tools; its text is None when nothing was recorded."""

    position: int
    text: str | None
    calls: tuple[ToolCall, ...]


class ToolRun(msgspec.Struct, frozen=True):
    """A tool ran, as its span tells."""

    position: int


class ToolTold(msgspec.Struct, frozen=True):
    """A tool ran, as messages tell."""

    call_id: str | None
    called: CalledTool


class SearchRun(msgspec.Struct, frozen=True):
    """A search ran outside of any tool."""

    position: int


Event: TypeAlias = Asked | ModelTurn | ToolRun | ToolTold | SearchRun


def before_the_answer(events: list[Event], late: list[Event]) -> list[Event]:
    """Put in what is known to have happened, but not when: behind everything except the final answer."""
    is_answered = bool(events) and isinstance(events[-1], ModelTurn) and not events[-1].calls
    place = len(events) - is_answered
    return [*events[:place], *late, *events[place:]]
