"""Trajectories in the Agent Trajectory Interchange Format, as Harbor and Terminal-Bench write them.

Source: ATIF RFC 0001, versions 1.0 to 1.7. Members that are not named here are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

from scorewright.domain.errors import TraceError
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import text, value
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.instants import instant_of
from scorewright.telemetry.messages import Message, ToolCall, ToolResult, message_of, word_of
from scorewright.telemetry.trajectories.amounts import amounts_of, object_in
from scorewright.telemetry.trajectories.message_rows import others_of, tools_in, trace_id_of
from scorewright.telemetry.trajectories.model import Trajectory, Turn

_ROLES: Final = {"user": "user", "system": "system", "agent": "assistant"}


def is_atif(row: JsonValue) -> bool:
    """Tell whether a row is a trajectory: it says so, or its first step names who took it."""
    if not isinstance(row, dict) or not isinstance(steps := row.get("steps"), list):
        return False
    if word_of(row, "schema_version").startswith("ATIF"):
        return True
    first = steps[0] if steps else None
    return isinstance(first, dict) and word_of(first, "source") in _ROLES


def read_atif(row: JsonValue, findings: Findings) -> Trajectory:
    """Read a trajectory; what a step observed comes behind it.

    Raises:
        TraceError: It has no steps.
    """
    row = cast("JsonObject", row)
    steps = cast("list[JsonValue]", row["steps"])
    turns = tuple(turn for step in steps for turn in _turns(step, findings))
    if not turns:
        raise TraceError("its list of steps holds no step of a user, a system or an agent")
    agent = object_in(row, "agent")
    return Trajectory(
        turns,
        trace_id=trace_id_of(row),
        session_id=text(row, "session_id"),
        agent_name=text(agent, "name"),
        model=text(agent, "model_name"),
        tools=tools_in(agent, "tool_definitions"),
        spent=amounts_of(object_in(row, "final_metrics")),
        others=others_of(row, {"steps"}, findings),
    )


def _turns(step: JsonValue, findings: Findings) -> Iterator[Turn]:
    role = _ROLES.get(word_of(step, "source")) if isinstance(step, dict) else None
    if not isinstance(step, dict) or role is None:
        findings.note("a step whose source is none of system, user and agent was left out")
        return
    spoken = message_of({"role": role, "content": step.get("message")})
    if spoken is not None:
        calls = tuple(_calls(step.get("tool_calls")))
        yield Turn(
            Message(spoken.role, spoken.text, calls, spoken.results),
            text(step, "model_name"),
            amounts_of(object_in(step, "metrics")),
            instant_of(step.get("timestamp")),
        )
    results = tuple(_results(object_in(step, "observation").get("results")))
    if results:
        yield Turn(Message("tool", None, (), results))


def _calls(raw: JsonValue) -> Iterator[ToolCall]:
    for item in raw if isinstance(raw, list) else []:
        if isinstance(item, dict):
            name = text(item, "function_name", "name") or ""
            yield ToolCall(text(item, "tool_call_id", "id"), name, item.get("arguments"))


def _results(raw: JsonValue) -> Iterator[ToolResult]:
    for item in raw if isinstance(raw, list) else []:
        if isinstance(item, dict):
            failed = (
                value(item, "is_error") is True or object_in(item, "extra").get("is_error") is True
            )
            yield ToolResult(text(item, "source_call_id"), _content(item), failed)


def _content(item: JsonObject) -> JsonValue:
    """Return what was observed; where that is another agent's trajectory, what refers to it."""
    if item.get("content") is not None:
        return item["content"]
    return {name: found for name, found in item.items() if "trajectory" in name} or None
