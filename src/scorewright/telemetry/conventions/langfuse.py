"""Langfuse's own SDK: observations with input and output, around spans of any other convention."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import (
    amount,
    count,
    documents_of,
    text,
    usage_of,
    value,
)
from scorewright.telemetry.container import container
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, SpanKind

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "generation": "llm",
    "embedding": "embedding",
    "agent": "agent",
    "tool": "tool",
    "retriever": "retriever",
    "chain": "chain",
    "span": "chain",
}


def read(span: RawSpan) -> SpanFacts | None:
    """Read an observation."""
    attributes = span.attributes
    kind = text(attributes, "langfuse.observation.type")
    tokens = _object(attributes, "langfuse.observation.usage_details")
    cost = _object(attributes, "langfuse.observation.cost_details")
    facts = SpanFacts(
        kind=_KINDS.get(kind) if kind else None,
        model=text(attributes, "langfuse.observation.model.name"),
        input_value=value(attributes, "langfuse.observation.input", "langfuse.trace.input"),
        output_value=value(attributes, "langfuse.observation.output", "langfuse.trace.output"),
        session_id=text(attributes, "langfuse.session.id", "session.id"),
        cost_usd=amount(cost, "total"),
        usage=usage_of(
            count(tokens, "input", "prompt_tokens"),
            count(tokens, "output", "completion_tokens"),
            count(tokens, "total"),
        ),
    )
    if facts.kind == "tool":
        facts.tool_arguments, facts.tool_result = facts.input_value, facts.output_value
    elif facts.kind == "retriever":
        facts.documents = documents_of(facts.output_value)
    return facts


def _object(attributes: JsonObject, name: str) -> JsonObject:
    raw = attributes.get(name)
    found = container(raw) if isinstance(raw, str) else raw
    return found if isinstance(found, dict) else {}


CONVENTION: Final = Convention("langfuse", frozenset({"langfuse"}), read)
