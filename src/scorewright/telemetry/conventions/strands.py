"""Strands Agents: a tool's arguments and result are messages in its span's events."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.attribute_values import amount, text, value
from scorewright.telemetry.conventions.genai import DETAILS_EVENT
from scorewright.telemetry.messages import Message, read_messages
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts

_SCOPE: Final = "strands.telemetry.tracer"
#: Milliseconds here, where the name means seconds elsewhere.
_WAITED: Final = "gen_ai.server.time_to_first_token"


def read(span: RawSpan) -> SpanFacts | None:
    """Read a tool's span that has events, and what a model's says in another unit; all else is plain GenAI."""
    if span.scope == _SCOPE and _WAITED in span.attributes:
        return SpanFacts(time_to_first_token_ms=amount(span.attributes, _WAITED))
    if not span.events or span.attributes.get("gen_ai.operation.name") != "execute_tool":
        return None
    facts = SpanFacts(kind="tool")
    for event in span.events:
        attributes = event.attributes
        if event.name == "gen_ai.tool.message":
            facts.tool_arguments = value(attributes, "content")
        elif event.name == "gen_ai.choice":
            facts.tool_result = value(attributes, "message", "content")
        elif event.name == DETAILS_EVENT:
            facts.tool_arguments = _called(read_messages(attributes.get("gen_ai.input.messages")))
            facts.tool_result = _answered(read_messages(attributes.get("gen_ai.output.messages")))
    if text(span.attributes, "gen_ai.tool.status", "tool.status") == "error":
        facts.tool_error = text(span.attributes, "error.type") or "error"
    return facts


def _called(messages: tuple[Message, ...]) -> JsonValue:
    calls = [call for message in messages for call in message.calls]
    return calls[-1].arguments if calls else None


def _answered(messages: tuple[Message, ...]) -> JsonValue:
    results = [result for message in messages for result in message.results]
    return results[-1].result if results else None


CONVENTION: Final = Convention("strands", frozenset({"gen_ai"}), read)
