"""Rows that hold messages: those of OpenAI's and Anthropic's APIs, of LangChain and LangGraph, and Responses' items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, cast

import msgspec

from scorewright.domain.errors import TraceError
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import text, value
from scorewright.telemetry.container import container
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.messages import (
    Message,
    ToolCall,
    ToolResult,
    body_of,
    listed,
    message_of,
    word_of,
)
from scorewright.telemetry.span_facts import ToolDefinition
from scorewright.telemetry.span_id import TRACE_BYTES, id_of_text
from scorewright.telemetry.tool_definitions import read_tools
from scorewright.telemetry.trajectories.amounts import amounts_of, object_in, spent_of, with_cost
from scorewright.telemetry.trajectories.model import ITEM_MEMBERS, NOTHING, Trajectory, Turn

_SESSION: Final = (
    "session_id",
    "sessionId",
    "conversation_id",
    "conversationId",
    "thread_id",
    "threadId",
)
#: Items among messages that say nothing of what was done.
_SILENT: Final = {"reasoning", "item_reference", "compaction", "remove"}
_ITEM_CALLS: Final = {"function_call", "custom_tool_call"}


def holds_messages(row: JsonValue) -> bool:
    """Tell whether a row is an object with a list of messages, perhaps as JSON text."""
    return isinstance(row, dict) and isinstance(_list_in(row, "messages"), list)


def read_messages_row(row: JsonValue, findings: Findings) -> Trajectory:
    """Read an object with `messages`; a system prompt may stand beside them, as Anthropic's API has it."""
    row = cast("JsonObject", row)
    turns = turns_of(_list_in(row, "messages") or [], findings)
    return _trajectory(row, _with_prompt(turns, row.get("system")), {"messages"}, findings)


def holds_response(row: JsonValue) -> bool:
    """Tell whether a row is a call of OpenAI's Responses API: lists of items as `input`, `output` or both."""
    if not isinstance(row, dict):
        return False
    answered = row.get("output")
    if answered is not None and not isinstance(answered, list):
        return False
    return is_talk([*_items_in(row, "input"), *_items_in(row, "output")])


def read_response_row(row: JsonValue, findings: Findings) -> Trajectory:
    """Read the items of a call's `input` and `output`; an input that is a text is the user's."""
    row = cast("JsonObject", row)
    items = [*_items_in(row, "input"), *_items_in(row, "output")]
    if isinstance(asked := row.get("input"), str):
        items.insert(0, {"role": "user", "content": asked})
    turns = _with_prompt(turns_of(items, findings), row.get("instructions"))
    return _trajectory(row, turns, {"input", "output"}, findings)


def _items_in(row: JsonObject, name: str) -> list[JsonValue]:
    found = row.get(name)
    return found if isinstance(found, list) else []


def is_message_list(row: JsonValue) -> bool:
    """Tell whether a row is a bare list of messages."""
    return isinstance(row, list) and is_talk(row)


def read_message_list(row: JsonValue, findings: Findings) -> Trajectory:
    """Read a bare list of messages."""
    return _trajectory({}, turns_of(cast("list[JsonValue]", row), findings), set(), findings)


def is_talk(raw: list[JsonValue]) -> bool:
    """Tell whether a list starts with a message, when items that say nothing are passed over."""
    for item in listed(raw):
        if isinstance(item, dict) and word_of(item, "type") in _SILENT:
            continue
        if holds_messages(item):
            return False
        return message_of(item) is not None or _hosted_call(item) is not None
    return False


def _list_in(row: JsonObject, name: str) -> list[JsonValue] | None:
    found = row.get(name)
    found = container(found) if isinstance(found, str) else found
    return found if isinstance(found, list) else None


# ── Turns ────────────────────────────────────────────────────────────────────────────────────────


def turns_of(raw: list[JsonValue], findings: Findings) -> list[Turn]:
    """Read messages in order; what is none is counted and left out.

    Raises:
        TraceError: There is no message at all.
    """
    turns: list[Turn] = []
    for item in listed(raw) if raw else []:
        turn = _turn(item)
        if turn is None:
            if not (isinstance(item, dict) and word_of(item, "type") in _SILENT):
                findings.note("an item among messages that is no message was left out")
        elif turns and _goes_on(item, turns[-1]):
            turns[-1] = _joined(turns[-1], turn)
        else:
            turns.append(turn)
    if not turns:
        raise TraceError("its list of messages holds no message")
    return turns


def _turn(item: JsonValue) -> Turn | None:
    message = message_of(item)
    if message is None:
        message = _hosted_call(item)
    if message is None or not isinstance(item, dict):
        return None if message is None else Turn(message)
    body = body_of(item)
    response = object_in(body, "response_metadata")
    model = text(response, "model_name", "model") or text(body, "model", "model_name")
    spent = spent_of(body) if message.role == "assistant" else NOTHING
    return Turn(message, model, spent)


def _hosted_call(item: JsonValue) -> Message | None:
    """Read the call of a tool that is no function: `web_search_call`, `mcp_call`, `computer_call_output` and others."""
    if not isinstance(item, dict):
        return None
    kind = word_of(item, "type")
    call_id = text(item, "call_id", "id")
    found = value(item, "output", "outputs", "results", "result", "error")
    failed = item.get("error") is not None or item.get("status") == "failed"
    results = (ToolResult(call_id, found, failed),)
    if kind.endswith("_call_output"):
        return Message("tool", None, (), results)
    if not kind.endswith("_call"):
        return None
    name = text(item, "name") or kind.removesuffix("_call")
    given = value(item, "arguments", "action", "queries", "code", "input")
    answered = found is not None or failed
    return Message(
        "assistant", None, (ToolCall(call_id, name, given),), results if answered else ()
    )


def _goes_on(item: JsonValue, before: Turn) -> bool:
    """Tell whether a call of the Responses API, an item of its own there, belongs to the answer before it."""
    if not isinstance(item, dict) or before.message.role != "assistant":
        return False
    kind = word_of(item, "type")
    return kind in _ITEM_CALLS or (kind.endswith("_call") and "role" not in item)


def _joined(before: Turn, turn: Turn) -> Turn:
    first, then = before.message, turn.message
    message = Message(
        first.role,
        first.text if then.text is None else then.text,
        first.calls + then.calls,
        first.results + then.results,
    )
    return msgspec.structs.replace(before, message=message)


def _with_prompt(turns: list[Turn], prompt: JsonValue) -> list[Turn]:
    if prompt is None or any(turn.message.role == "system" for turn in turns):
        return turns
    message = message_of({"role": "system", "content": prompt})
    return turns if message is None or message.text is None else [Turn(message), *turns]


# ── What stands beside the messages ──────────────────────────────────────────────────────────────


def _trajectory(
    row: JsonObject, turns: list[Turn], used: set[str], findings: Findings
) -> Trajectory:
    agent = object_in(row, "agent")
    return Trajectory(
        tuple(turns),
        trace_id=trace_id_of(row),
        session_id=text(row, *_SESSION) or text(object_in(row, "session"), "id"),
        agent_name=text(row, "agent_name", "agent") or text(agent, "name"),
        model=text(row, "model", "model_name") or text(agent, "model"),
        tools=tools_in(row, "tools", "functions"),
        spent=with_cost(amounts_of(object_in(row, "usage")), row),
        others=others_of(row, used, findings),
    )


def tools_in(body: JsonObject, *names: str) -> tuple[ToolDefinition, ...] | None:
    """Read the tools that were offered; None when there is no list of them."""
    listed_tools = value(body, *names)
    return read_tools(listed_tools) if isinstance(listed_tools, list) else None


def trace_id_of(row: JsonObject) -> str | None:
    """Return the trace that a row names; None when it names none."""
    found = (id_of_text(row.get(name), TRACE_BYTES) for name in ("trace_id", "traceId"))
    return next((trace_id for trace_id in found if trace_id), None)


def others_of(row: JsonObject, used: set[str], findings: Findings) -> JsonObject:
    """Return the members that an item keeps: those that hold no messages and are not called as its own are."""
    for name in _colliding(row, used):
        findings.note(f"a row's member {name!r} was left out: an item has one of its own")
    return {
        name: found for name, found in row.items() if name not in used and name not in ITEM_MEMBERS
    }


def _colliding(row: JsonObject, used: set[str]) -> Iterator[str]:
    # What these say of the session, the agent and the trace is read.
    understood = {"session", "agent", "traceId", *used}
    yield from (name for name in row if name in ITEM_MEMBERS and name not in understood)
