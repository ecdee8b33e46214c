"""Messages as authors see them, and the talk of several spans with no history twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.envelopes import arguments, result
from scorewright.telemetry.messages import Message, Role, ToolCall, ToolResult
from scorewright.telemetry.span_facts import SpanFacts, ToolDefinition
from scorewright.telemetry.tool_calls import key_of


class Said(msgspec.Struct, frozen=True):
    """A message, and the position of the span that told it first."""

    position: int
    message: Message


def text_of(value: JsonValue) -> str:
    """Write a value as text: a text as it is, nothing as the empty one, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def message_objects(messages: Iterable[Message]) -> list[JsonValue]:
    """Write messages; each result of a tool is one of its own.

    What somebody says beside a tool's result stands behind it: it came after. A model's calls stand before it,
    as a result that is told in the same breath is that of a tool which its provider ran.
    """
    told: list[JsonValue] = []
    for message in messages:
        spoken = _spoken(message)
        if message.role == "assistant" and spoken is not None:
            told.append(spoken)
        for answered in message.results:
            content = text_of(result(answered.result))
            told.append({"role": "tool", "content": content, "tool_call_id": answered.call_id})
        if message.role != "assistant" and spoken is not None:
            told.append(spoken)
    return told


def _spoken(message: Message) -> JsonObject | None:
    """Write what is no result in a message; None where there is nothing else."""
    if not message.calls:
        if message.text is None and message.results:
            return None
        return {"role": message.role, "content": message.text or ""}
    calls = call_objects(message.calls)
    return {"role": message.role, "content": message.text or "", "tool_calls": calls}


def call_objects(calls: Iterable[ToolCall]) -> list[JsonValue]:
    """Write the tools that a model asked for."""
    return [
        {"id": call.call_id, "name": call.name, "arguments": arguments(call.arguments)}
        for call in calls
    ]


def offered(facts: SpanFacts) -> JsonValue:
    """Write the tools that were offered to a model; None when nothing was recorded of them."""
    return None if facts.available_tools is None else tool_objects(facts.available_tools())


def tool_objects(tools: Iterable[ToolDefinition]) -> list[JsonValue]:
    """Write definitions of tools."""
    return [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in tools
    ]


def first_text(messages: Iterable[Message], role: Role) -> str | None:
    """Return the text of the first message of a role that has one."""
    return next((one.text for one in messages if one.role == role and one.text is not None), None)


# ── The talk of several spans ────────────────────────────────────────────────────────────────────


def without_repetition(sources: Iterable[tuple[int, Iterable[Message]]]) -> list[Said]:
    """Put the messages of several spans in one list, where each stands as often as in the span that has it most.

    Histories are written down in pieces of other sizes than what they repeat, so that texts, calls and results
    are counted each for itself.
    """
    heard = _Heard()
    talk: list[Said] = []
    for position, messages in sources:
        heard.next_source()
        talk.extend(
            Said(position, new)
            for message in messages
            if (new := heard.news_of(message)) is not None
        )
    return talk


def whole_talk(facts: SpanFacts) -> tuple[Message, ...]:
    """Return what was said to a span and by it; some write the answer down at the end of both."""
    given = () if facts.input_messages is None else facts.input_messages()
    answered = () if facts.output_messages is None else facts.output_messages()
    return given if answered and given[-1:] == answered[-1:] else given + answered


class _Heard:
    """How often something was said: in the span that said it most, and in the present one so far."""

    def __init__(self) -> None:
        self._most: Counter[tuple[str, str]] = Counter()
        self._here: Counter[tuple[str, str]] = Counter()

    def next_source(self) -> None:
        self._here.clear()

    def news_of(self, message: Message) -> Message | None:
        """Leave out of a message what was heard; None when nothing remains."""
        text = message.text
        if text is not None and not self._is_new(message.role, text):
            text = None
        calls = tuple(call for call in message.calls if self._is_new_call(call))
        results = tuple(answered for answered in message.results if self._is_new_result(answered))
        if text is None and not calls and not results:
            return None
        return Message(message.role, text, calls, results)

    def _is_new(self, kind: str, what: str) -> bool:
        key = (kind, what)
        self._here[key] += 1
        if self._here[key] <= self._most[key]:
            return False
        self._most[key] += 1
        return True

    def _is_new_call(self, call: ToolCall) -> bool:
        if call.call_id is None:
            return self._is_new("call", key_of(call))
        return self._is_new_id("call of id", call.call_id)

    def _is_new_result(self, answered: ToolResult) -> bool:
        if answered.call_id is None:
            return self._is_new("result", text_of(answered.result))
        return self._is_new_id("result of id", answered.call_id)

    def _is_new_id(self, kind: str, call_id: str) -> bool:
        if self._most[kind, call_id]:
            return False
        self._most[kind, call_id] = 1
        return True
