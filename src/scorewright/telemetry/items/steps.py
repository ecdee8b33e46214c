"""What an agent, or a whole trace, did step by step: the question, then model turns and tools in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.items.agent import agent_object, question_to
from scorewright.telemetry.items.chat import call_objects, text_of
from scorewright.telemetry.items.compact import document_objects
from scorewright.telemetry.items.events import Asked, Event, ModelTurn, SearchRun, ToolRun, ToolTold
from scorewright.telemetry.items.model_call import model_call_object
from scorewright.telemetry.items.reading import Reading, Scope
from scorewright.telemetry.items.timed_events import timed_events
from scorewright.telemetry.items.told_events import speakers_in, told_events
from scorewright.telemetry.tool_calls import CalledTool

#: Tools in agents in tools; what lies deeper is left out.
MAX_NESTED: Final = 4


def steps_of(trace: Trace, position: int | None = None) -> list[JsonObject]:
    """List the steps of the span at a position, or of the whole trace.

    What happens inside a tool is nested in the tool's step. Where no model call is recorded, the messages of
    agents tell the steps.
    """
    reading = Reading(trace)
    return steps_in(reading, reading.scope(position))


def steps_in(reading: Reading, scope: Scope, *, level: int = 0) -> list[JsonObject]:
    """List the steps of a scope that lies inside so many tools."""
    speakers = [] if scope.model_calls else speakers_in(reading, scope)
    events = told_events(reading, scope, speakers) if speakers else timed_events(reading, scope)
    if not any(isinstance(event, Asked) for event in events):
        asked = _question(reading, scope)
        events = events if asked is None else [Asked(text_of(asked)), *events]
    steps = [_step(reading, event, level) for event in events]
    _mark_response(steps)
    return steps


def _question(reading: Reading, scope: Scope) -> JsonValue:
    if scope.top is None:
        return reading.question
    calls = [reading.facts[position] for position in scope.model_calls]
    return question_to(reading.facts[scope.top], calls)


def _mark_response(steps: list[JsonObject]) -> None:
    """Mark the last model turn as the answer; one that asked for tools is none."""
    turn = next((step for step in reversed(steps) if step["type"] == "llm"), None)
    if turn is not None and not turn["tool_calls"]:
        turn["is_response"] = True


def _step(reading: Reading, event: Event, level: int) -> JsonObject:
    match event:
        case Asked():
            return {"type": "user", "content": event.text}
        case ModelTurn():
            return {
                "type": "llm",
                "content": event.text,
                "tool_calls": call_objects(event.calls),
                "span_id": reading.spans[event.position].span_id,
                "is_response": False,
            }
        case ToolRun():
            position = event.position
            call_id = reading.facts[position].tool_call_id
            duration_ms = reading.spans[position].duration_ms
            nested = _nested(reading, position, level + 1)
            return _tool_step(reading.tools[position], call_id, duration_ms, nested)
        case ToolTold():
            return _tool_step(event.called, event.call_id, None, [])
        case SearchRun():
            return _search_step(reading, event.position)
        case _:
            assert_never(event)


def _tool_step(
    called: CalledTool, call_id: str | None, duration_ms: float | None, nested: list[JsonValue]
) -> JsonObject:
    return {
        "type": "tool",
        "name": called.name,
        "arguments": called.arguments,
        "result": called.result,
        "call_id": call_id,
        "error": called.error,
        "duration_ms": duration_ms,
        "nested": nested,
    }


def _search_step(reading: Reading, position: int) -> JsonObject:
    search, failure = reading.searches[position], reading.failures[position]
    error = None if failure is None else failure.text
    given: JsonObject = {} if search.query is None else {"query": search.query}
    found = document_objects(search.documents)
    called = CalledTool("retrieval", given, found, error)
    return _tool_step(called, None, reading.spans[position].duration_ms, [])


def _nested(reading: Reading, tool: int, level: int) -> list[JsonValue]:
    """Write the agents and model calls inside a tool, by start; what an agent did stands in its steps."""
    if level > MAX_NESTED:
        return []
    found: list[JsonValue] = []
    for position in reading.in_order(_outermost_in(reading, tool)):
        if reading.facts[position].kind == "agent":
            scope = reading.scope(position)
            agent = agent_object(reading, position, scope)
            steps: list[JsonValue] = [*steps_in(reading, scope, level=level)]
            found.append({"kind": "agent", **agent, "steps": steps})
        else:
            found.append({"kind": "llm", **model_call_object(reading, position)})
    return found


def _outermost_in(reading: Reading, tool: int) -> Iterator[int]:
    """List the agents inside a tool that are in no other one inside it, and the model calls that are in none."""
    position, end = tool + 1, reading.ends[tool]
    while position < end:
        is_agent = reading.facts[position].kind == "agent"
        if is_agent or position in reading.model_calls:
            yield position
        position = reading.ends[position] if is_agent else position + 1
