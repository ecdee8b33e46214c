"""Langfuse's own SDK: observations with input and output, around spans of any other convention."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import (
    amount,
    count,
    documents_of,
    object_of,
    text,
    usage_of,
    value,
)
from scorewright.telemetry.container import unquoted
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, SpanKind, Usage

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "generation": "llm",
    "embedding": "embedding",
    "agent": "agent",
    "tool": "tool",
    "retriever": "retriever",
    "chain": "chain",
    "span": "chain",
}
_CACHED_TOKENS: Final = (
    "input_cached_tokens",
    "cache_read_input_tokens",
    "input_cache_read",
    "input_cached",
    "prompt_tokens_details.cached_tokens",
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read(span: RawSpan) -> SpanFacts | None:
    """Read an observation."""
    attributes = span.attributes
    kind = text(attributes, "langfuse.observation.type")
    tokens = object_of(attributes, "langfuse.observation.usage_details")
    cost = object_of(attributes, "langfuse.observation.cost_details")
    facts = SpanFacts(
        kind=_KINDS.get(kind) if kind else None,
        model=text(attributes, "langfuse.observation.model.name"),
        input_value=value(attributes, "langfuse.observation.input", "langfuse.trace.input"),
        output_value=value(attributes, "langfuse.observation.output", "langfuse.trace.output"),
        session_id=text(attributes, "langfuse.session.id", "session.id"),
        environment=text(attributes, "langfuse.environment"),
        cost_usd=amount(cost, "total"),
        cached_tokens=count(tokens, *_CACHED_TOKENS) if tokens else None,
        usage=_usage(tokens) if tokens else None,
    )
    if facts.kind == "tool":
        facts.tool_arguments, facts.tool_result = facts.input_value, facts.output_value
    elif facts.kind == "retriever":
        facts.documents = documents_of(facts.output_value)
    elif facts.kind == "llm":
        settings = object_of(attributes, "langfuse.observation.model.parameters")
        facts.temperature = amount(settings, "temperature")
        facts.time_to_first_token_ms = _waited_ms(span)
    return facts


def _usage(tokens: JsonObject) -> Usage | None:
    """Read the tokens; the cached ones are a part of the input, and stand beside it where the total says so."""
    given = count(tokens, "input", "prompt_tokens")
    said = count(tokens, "output", "completion_tokens")
    total = count(tokens, "total")
    cached = count(tokens, *_CACHED_TOKENS)
    if given is not None and said is not None and cached and given + cached + said == total:
        given += cached
    return usage_of(given, said, total)


def _waited_ms(span: RawSpan) -> float | None:
    """Tell how long the first token took, from the time at which it came."""
    came = unquoted(span.attributes.get("langfuse.observation.completion_start_time"))
    if not isinstance(came, str) or span.start_ns is None:
        return None
    try:
        at = datetime.fromisoformat(came)
    except ValueError:
        return None
    if at.tzinfo is None:
        return None
    waited_ns = (at - _EPOCH) // timedelta(microseconds=1) * 1000 - span.start_ns
    return waited_ns / 1e6 if waited_ns >= 0 else None


CONVENTION: Final = Convention("langfuse", frozenset({"langfuse"}), read)
