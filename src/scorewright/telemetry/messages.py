"""Chat messages, whichever library wrote them down: OpenAI, Anthropic, Gemini, LangChain, Vercel, OTel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.container import container

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

_ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "SystemMessage": "system",
    "user": "user",
    "human": "user",
    "HumanMessage": "user",
    "HumanMessageChunk": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "tool": "tool",
    "function": "tool",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}
#: Those of them whose text is what they said, and no tool's result.
_SPEAKERS: Final = frozenset(name for name, role in _ROLES.items() if role != "tool")
#: How many members there are in a message that is a text and nothing else: with a tool's, the id of its call.
_PLAIN_MEMBERS: Final = (2, 3)
#: Where calls stand that are not in a message's content.
_BESIDE: Final = frozenset(
    {"tool_calls", "invalid_tool_calls", "function_call", "additional_kwargs"}
)
#: Items of OpenAI's Responses API that stand among messages and have no role.
_ITEM_ROLES: Final[dict[str, Role]] = {
    "function_call": "assistant",
    "custom_tool_call": "assistant",
    "function_call_output": "tool",
    "custom_tool_call_output": "tool",
}
_TEXT_BLOCKS: Final = {"text", "output_text", "input_text", ""}
_CALL_BLOCKS: Final = {
    "tool_call", "tool_use", "tool-call", "function_call", "custom_tool_call", "server_tool_use",
}  # fmt: skip
_RESULT_BLOCKS: Final = {
    "tool_call_response",
    "tool_result",
    "tool-result",
    "function_call_output",
    "custom_tool_call_output",
    "function_result",
}


class ToolCall(msgspec.Struct, frozen=True):
    """A tool that the model asked for; arguments as they were written."""

    call_id: str | None
    name: str
    arguments: JsonValue


class ToolResult(msgspec.Struct, frozen=True):
    """What a tool answered, as it was written."""

    call_id: str | None
    result: JsonValue
    failed: bool = False
    #: Of the tool, where the answer names it.
    name: str | None = None


class Message(msgspec.Struct, frozen=True):
    """One message; `text` is None when it holds none, as one that only calls tools."""

    role: Role
    text: str | None
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


def read_messages(raw: JsonValue) -> tuple[Message, ...]:
    """Read messages from a list, one message, an object that holds them, or the JSON text of these."""
    if isinstance(raw, str):
        raw = container(raw)
    if isinstance(raw, dict) and isinstance(raw.get("messages"), list):
        raw = raw["messages"]
    return tuple(message for item in listed(raw) if (message := message_of(item)) is not None)


def conversation(raw: list[JsonValue]) -> tuple[Message, ...] | None:
    """Read a list of messages; None when it is empty, or some of it is no message."""
    messages = read_messages(raw)
    return messages if messages and len(messages) == len(listed(raw)) else None


def listed(raw: JsonValue) -> list[JsonValue]:
    """Return the items of a list of messages; one message alone is a list of itself."""
    if not isinstance(raw, list) or _is_pair(raw):
        return [raw]
    if len(raw) == 1 and isinstance(raw[0], list) and not _is_pair(raw[0]):
        return raw[0]  # a batch of one, as LangChain logs it
    return raw


def message_of(raw: JsonValue) -> Message | None:
    """Read one message; None when it is none."""
    if (plain := _plain(raw)) is not None:
        return plain
    if _is_pair(raw):
        role, text = cast("list[str]", raw)
        return Message(_ROLES[role], text)
    if not isinstance(raw, dict):
        return None
    body = body_of(raw)
    role = _role(body)
    if role is None:
        return None
    texts: list[str] = []
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    is_tool = role == "tool" and _first(body, "tool_call_id", "toolCallId") is not None
    for block in _blocks(body):
        _sort_block(block, texts, calls, results)
    if not _BESIDE.isdisjoint(body):
        calls.extend(_calls_beside(body, calls))
    if is_tool or (role == "tool" and not results and texts):
        call_id = _first(body, "tool_call_id", "toolCallId", "id")
        answered = "\n".join(texts) if texts else None
        failed, name = body.get("status") == "error", word_of(body, "name") or None
        results = [ToolResult(_id(call_id), answered, failed, name)]
        texts = []
    return Message(role, "\n".join(texts) if texts else None, tuple(calls), tuple(results))


def _plain(raw: JsonValue) -> Message | None:
    """Read a text that somebody said, or a tool returned, with nothing beside it: most messages are that.

    It takes a tenth of the time that others do.
    """
    if not isinstance(raw, dict) or len(raw) not in _PLAIN_MEMBERS:
        return None
    role, told = raw.get("role"), raw.get("content")
    if len(raw) == 3:
        call_id = raw.get("tool_call_id")
        if role != "tool" or not isinstance(told, str) or not isinstance(call_id, str):
            return None
        return Message("tool", None, (), (ToolResult(call_id or None, told),))
    if told is None:
        parts = raw.get("parts")
        part = parts[0] if isinstance(parts, list) and len(parts) == 1 else None
        if not isinstance(part, dict) or len(part) != 2 or part.get("type") != "text":
            return None
        told = part.get("content")
    elif isinstance(told, str) and told.startswith('[{"'):
        return None  # blocks, written as a text
    if isinstance(told, str) and isinstance(role, str) and role in _SPEAKERS:
        return Message(_ROLES[role], told)
    return None


def last_text(messages: tuple[Message, ...], role: Role) -> str | None:
    """Return the text of the last message of a role that has one."""
    for message in reversed(messages):
        if message.role == role and message.text is not None:
            return message.text
    return None


def _is_pair(raw: JsonValue) -> bool:
    """Tell whether this is LangChain's short form of a message: `["user", "text"]`."""
    return (
        isinstance(raw, list)
        and len(raw) == 2
        and isinstance(raw[0], str)
        and isinstance(raw[1], str)
        and raw[0] in _ROLES
    )


def body_of(raw: JsonObject) -> JsonObject:
    """Take a message out of what it is wrapped in."""
    inner = raw.get("message")
    if isinstance(inner, dict):
        return inner
    kwargs, names = raw.get("kwargs"), raw.get("id")
    if raw.get("type") == "constructor" and isinstance(kwargs, dict) and isinstance(names, list):
        return {**kwargs, "role": names[-1] if names else None}
    data = raw.get("data")
    if isinstance(data, dict) and "content" in data and word_of(raw, "type") in _ROLES:
        return {**data, "role": raw["type"]}
    return raw


def _role(body: JsonObject) -> Role | None:
    for word in (body.get("role"), body.get("type")):
        if isinstance(word, str):
            role = _ROLES.get(word) or _ITEM_ROLES.get(word)
            if role is not None:
                return role
    return None


def _blocks(body: JsonObject) -> Iterator[JsonValue]:
    if word_of(body, "type") in _ITEM_ROLES:
        yield body
        return
    content = _first(body, "parts", "content", "contents")
    if isinstance(content, str) and content.startswith('[{"') and body.get("role") != "tool":
        content = container(content) or content
    if isinstance(content, list):
        yield from content
    elif content is not None:
        yield content


def _sort_block(
    block: JsonValue, texts: list[str], calls: list[ToolCall], results: list[ToolResult]
) -> None:
    if isinstance(block, str):
        texts.append(block)
        return
    if not isinstance(block, dict):
        return
    inner = block.get("message_content")
    block = inner if isinstance(inner, dict) else block
    kind = word_of(block, "type")
    if kind in _CALL_BLOCKS or "toolUse" in block or "functionCall" in block:
        calls.append(_call(block))
    elif _is_result(kind) or "toolResult" in block or "functionResponse" in block:
        results.append(_result(block))
    elif kind in _TEXT_BLOCKS and isinstance(text := _first(block, "text", "content"), str):
        texts.append(text)


def _is_result(kind: str) -> bool:
    # Those of tools that the model's provider runs: web_search_tool_result and others.
    return kind in _RESULT_BLOCKS or kind.endswith("_tool_result")


def _call(block: JsonObject) -> ToolCall:
    body = _object(_first(block, "toolUse", "functionCall")) or block
    name = _first(body, "name", "toolName")
    return ToolCall(
        _id(_first(body, "call_id", "toolCallId", "toolUseId", "id")),
        name if isinstance(name, str) else "",
        _first(body, "arguments", "input", "args"),
    )


def _result(block: JsonObject) -> ToolResult:
    body = _object(_first(block, "toolResult", "functionResponse")) or block
    names = ("call_id", "tool_use_id", "toolCallId", "toolUseId", "id")
    result = _first(body, "response", "result", "output", "content")
    if (
        isinstance(result, dict)
        and word_of(result, "type") in {"text", "json"}
        and "value" in result
    ):
        result = result["value"]
    failed = body.get("is_error") is True or body.get("status") == "error"
    return ToolResult(_id(_first(body, *names)), result, failed, word_of(body, "name") or None)


def _calls_beside(body: JsonObject, known: list[ToolCall]) -> Iterator[ToolCall]:
    """Read the calls that stand beside a message's content, as OpenAI and LangChain write them.

    LangChain repeats there what the content holds, and keeps the provider's own form of it further in.
    """
    ids = {call.call_id for call in known if call.call_id is not None}
    for beside in (body, _object(body.get("additional_kwargs"))):
        if not beside:
            continue
        found = [
            call
            for name in ("tool_calls", "invalid_tool_calls", "function_call")
            if (raw := beside.get(name)) is not None
            for call in _listed_calls(raw)
            if call.call_id not in ids
        ]
        yield from found
        if found or known:
            return


def _listed_calls(raw: JsonValue) -> Iterator[ToolCall]:
    for item in raw if isinstance(raw, list) else [raw]:
        entry = _object(item)
        entry = _object(entry.get("tool_call")) or entry
        body = _object(entry.get("function")) or entry
        name = body.get("name")
        if isinstance(name, str):
            arguments = _first(body, "arguments", "args")
            yield ToolCall(_id(entry.get("id")), name, arguments)


def word_of(body: JsonObject, name: str) -> str:
    """Return a member that is a text, or else the empty one: a list could not be looked up."""
    value = body.get(name)
    return value if isinstance(value, str) else ""


def _id(value: JsonValue) -> str | None:
    return value if isinstance(value, str) and value else None


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _first(body: JsonObject, *names: str) -> JsonValue:
    """Return the first of some members that is there and not null."""
    for name in names:
        value: Any = body.get(name)
        if value is not None:
            return value
    return None
