"""Vercel's AI SDK: `ai.generateText` and `ai.streamText` around one `…doGenerate` for each call of a model."""

from __future__ import annotations

from functools import partial
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import amount, count, text, usage_of, value
from scorewright.telemetry.container import container
from scorewright.telemetry.messages import Message, ToolCall, read_messages
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, SpanKind
from scorewright.telemetry.tool_definitions import read_tools


def read(span: RawSpan) -> SpanFacts | None:
    """Read a span of the SDK."""
    attributes = span.attributes
    operation = text(attributes, "ai.operationId", "operation.name")
    if operation is None or not operation.startswith("ai."):
        return None
    operation = operation.partition(" ")[0]
    kind = _kind(operation)
    facts = SpanFacts(
        kind=kind,
        framework="vercel-ai",
        model=text(attributes, "ai.model.id", "gen_ai.request.model"),
        vendor=text(attributes, "ai.model.provider", "gen_ai.system"),
        input_value=value(attributes, "ai.prompt", "ai.value"),
        session_id=text(
            attributes, "ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.threadId"
        ),
        usage=usage_of(
            count(attributes, "ai.usage.promptTokens", "ai.usage.inputTokens", "ai.usage.tokens"),
            count(attributes, "ai.usage.completionTokens", "ai.usage.outputTokens"),
            count(attributes, "ai.usage.totalTokens"),
        ),
    )
    if kind == "tool":
        facts.tool_name = text(attributes, "ai.toolCall.name")
        facts.tool_call_id = text(attributes, "ai.toolCall.id")
        facts.tool_arguments = value(attributes, "ai.toolCall.args", "ai.toolCall.input")
        facts.tool_result = value(attributes, "ai.toolCall.result", "ai.toolCall.output")
    elif kind in {"llm", "chain"}:
        facts.output_messages = partial(_answer, attributes)
        if "ai.prompt.messages" in attributes:
            facts.input_messages = partial(read_messages, attributes["ai.prompt.messages"])
        _add_request(facts, attributes)
    return facts


def _add_request(facts: SpanFacts, attributes: JsonObject) -> None:
    facts.temperature = amount(attributes, "gen_ai.request.temperature", "ai.settings.temperature")
    facts.cached_tokens = count(
        attributes, "ai.usage.cachedInputTokens", "ai.usage.inputTokenDetails.cacheReadTokens"
    )
    facts.time_to_first_token_ms = amount(
        attributes, "ai.response.msToFirstChunk", "ai.stream.msToFirstChunk"
    )
    if (tools := attributes.get("ai.prompt.tools")) is not None:
        facts.available_tools = partial(read_tools, tools)


def _kind(operation: str) -> SpanKind:
    if operation == "ai.toolCall":
        return "tool"
    if operation.startswith("ai.embed"):
        return "embedding"
    return "llm" if operation.endswith((".doGenerate", ".doStream")) else "chain"


def _answer(attributes: JsonObject) -> tuple[Message, ...]:
    """Make one message of the response's text, object and calls."""
    spoken = text(attributes, "ai.response.text", "ai.response.object", "ai.result.text")
    raw = attributes.get("ai.response.toolCalls")
    raw = container(raw) if isinstance(raw, str) else raw
    calls = (
        tuple(_call(item) for item in raw if isinstance(item, dict))
        if isinstance(raw, list)
        else ()
    )
    return (Message("assistant", spoken, calls),) if spoken or calls else ()


def _call(item: JsonObject) -> ToolCall:
    given: JsonValue = value(item, "input", "args")
    return ToolCall(text(item, "toolCallId"), text(item, "toolName") or "", given)


CONVENTION: Final = Convention("vercel", frozenset({"ai"}), read)
