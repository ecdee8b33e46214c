"""What happened in a trajectory, in order: what the user said, the model's turns, and each tool with its result."""

from __future__ import annotations

from collections import deque
from typing import TypeAlias

import msgspec

from scorewright.telemetry.messages import Message, ToolCall, ToolResult
from scorewright.telemetry.tool_calls import CalledTool, tool_of_messages
from scorewright.telemetry.trajectories.model import Turn


class Asked(msgspec.Struct, frozen=True):
    """The user said something."""

    text: str


class Said(msgspec.Struct, frozen=True):
    """The model answered, or wanted tools called."""

    #: Position of its turn.
    position: int
    turn: Turn


class Used(msgspec.Struct):
    """A tool was called, or answered a call that is not among the messages."""

    position: int
    call: ToolCall | None = None
    answered: ToolResult | None = None

    @property
    def call_id(self) -> str | None:
        """The call's id, by whichever side names it."""
        for side in (self.call, self.answered):
            if side is not None and side.call_id is not None:
                return side.call_id
        return None

    def read(self) -> CalledTool:
        """Put the two sides together; the name is empty where nothing tells it."""
        name = self.answered.name if self.answered is not None else None
        asked = self.call or ToolCall(None, name or "", None)
        return tool_of_messages(asked, self.answered)


Event: TypeAlias = Asked | Said | Used


def events_of(turns: tuple[Turn, ...]) -> list[Event]:
    """List what happened; a tool stands where it was called, whenever its result came."""
    events: list[Event] = []
    waiting = _Waiting()
    for position, turn in enumerate(turns):
        message = turn.message
        if message.role == "assistant" and not _is_result_alone(message):
            events.append(Said(position, turn))
        for call in message.calls:
            used = Used(position, call)
            waiting.add(used, call)
            events.append(used)
        for answered in message.results:
            found = waiting.take(answered)
            if found is None:
                events.append(Used(position, None, answered))
            else:
                found.answered = answered
        if message.role == "user" and message.text is not None:
            events.append(Asked(message.text))
    return events


def _is_result_alone(message: Message) -> bool:
    return bool(message.results) and message.text is None and not message.calls


class _Waiting:
    """The calls that have no result yet, by id, by name, and all of them in order."""

    def __init__(self) -> None:
        self._queues: dict[tuple[str, str | None], deque[Used]] = {}

    def add(self, used: Used, call: ToolCall) -> None:
        """Wait for a call's result; an id that is used anew stands for the new call."""
        for key in (("id", call.call_id), ("name", call.name), ("all", None)):
            queue = self._queues.setdefault(key, deque())
            if key[0] == "id" and call.call_id and queue and queue[-1].position != used.position:
                queue.clear()
            queue.append(used)

    def take(self, answered: ToolResult) -> Used | None:
        """Find the call of a result by its id, or else the first that waits: where there are ids, without one."""
        if answered.call_id is not None:
            return self._first("id", answered.call_id) or self._first("id", None)
        by_name = None if answered.name is None else self._first("name", answered.name)
        return by_name or self._first("all", None)

    def _first(self, kind: str, key: str | None) -> Used | None:
        queue = self._queues.get((kind, key))
        while queue:
            used = queue.popleft()
            if used.answered is None:
                return used
        return None
