"""A trajectory's messages and tools as an item writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.envelopes import result
from scorewright.telemetry.items.chat import call_objects, text_of
from scorewright.telemetry.messages import Message
from scorewright.telemetry.span_facts import ToolDefinition


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


def tool_objects(tools: Iterable[ToolDefinition]) -> list[JsonValue]:
    """Write the tools that were offered to a model."""
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in tools
    ]
