"""Messages, calls and tools as an item writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.envelopes import arguments, result
from scorewright.telemetry.messages import Message, ToolCall
from scorewright.telemetry.span_facts import ToolDefinition


def text_of(value: JsonValue) -> str:
    """Write a value as text: a text as it is, nothing as the empty one, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def message_objects(message: Message) -> Iterator[JsonObject]:
    """Write a message; each result of a tool is one of its own, behind the calls and before what the user said."""
    spoken: JsonObject = {"role": message.role, "content": message.text or ""}
    if message.calls:
        spoken["tool_calls"] = call_objects(message.calls)
    is_result_alone = message.results and message.text is None and not message.calls
    if message.role == "assistant" and not is_result_alone:
        yield spoken
    for answered in message.results:
        content = text_of(result(answered.result))
        yield {"role": "tool", "content": content, "tool_call_id": answered.call_id}
    if message.role != "assistant" and not is_result_alone:
        yield spoken


def call_objects(calls: Iterable[ToolCall]) -> list[JsonValue]:
    """Write the tools that a model asked for."""
    return [
        {"id": call.call_id, "name": call.name, "arguments": arguments(call.arguments)}
        for call in calls
    ]


def tool_objects(tools: Iterable[ToolDefinition]) -> list[JsonValue]:
    """Write the tools that were offered to a model."""
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in tools
    ]
