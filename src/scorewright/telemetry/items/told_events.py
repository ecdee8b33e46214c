"""Events as the messages of agents tell them, where no model call was recorded."""

from __future__ import annotations

from scorewright.telemetry.items.chat import whole_talk, without_repetition
from scorewright.telemetry.items.events import (
    Asked,
    Event,
    ModelTurn,
    SearchRun,
    ToolRun,
    ToolTold,
    before_the_answer,
)
from scorewright.telemetry.items.reading import Reading, Scope
from scorewright.telemetry.messages import ToolCall
from scorewright.telemetry.tool_calls import key_of, tool_of_messages


def speakers_in(reading: Reading, scope: Scope) -> list[int]:
    """List the agents whose spans hold messages, by start; where there are none, all other such spans."""
    speaking = [
        position
        for position in scope.positions
        if reading.facts[position].kind not in {"tool", "setup"}
        and any(whole_talk(reading.facts[position]))
    ]
    agents = [position for position in speaking if reading.facts[position].kind == "agent"]
    return agents or speaking


def told_events(reading: Reading, scope: Scope, speakers: list[int]) -> list[Event]:
    """List what the messages tell; spans of tools that they do not mention come before the final answer."""
    spans = _ToolSpans(reading, scope)
    events: list[Event] = []
    talk = [(position, whole_talk(reading.facts[position])) for position in speakers]
    for said in without_repetition(talk):
        message = said.message
        if message.role == "user" and message.text is not None:
            events.append(Asked(message.text))
        elif message.role == "assistant":
            events.append(ModelTurn(said.position, message.text or "", message.calls))
        events.extend(event for call in message.calls for event in spans.of(call))
    return before_the_answer(events, spans.left())


class _ToolSpans:
    """The spans of tools and searches that no message has told of yet."""

    def __init__(self, reading: Reading, scope: Scope) -> None:
        self._results = reading.talk.results
        self._are_any = bool(scope.tools)
        searches = [position for position in scope.positions if position in reading.searches]
        # In order of start, as dicts keep theirs.
        self._left: dict[int, Event] = {
            **{position: ToolRun(position) for position in scope.tools},
            **{position: SearchRun(position) for position in searches},
        }
        self._left = {position: self._left[position] for position in reading.in_order(self._left)}
        self._by_id: dict[str, list[int]] = {}
        self._by_name: dict[str, list[int]] = {}
        for position in reversed(scope.tools):
            call_id = reading.facts[position].tool_call_id
            place = (
                self._by_name.setdefault(reading.tools[position].name, [])
                if call_id is None
                else self._by_id.setdefault(call_id, [])
            )
            place.append(position)

    def of(self, call: ToolCall) -> list[Event]:
        """Return what a call became: its span by id, else the next of its name; without spans, what was told."""
        if not self._are_any:
            answered = self._results.get(key_of(call))
            return [ToolTold(call.call_id, tool_of_messages(call, answered))]
        known = self._by_id.get(call.call_id or "") or self._by_name.get(call.name)
        return [self._left.pop(known.pop())] if known else []

    def left(self) -> list[Event]:
        """Return what no call became."""
        return list(self._left.values())
