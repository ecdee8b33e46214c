"""LangSmith's OpenTelemetry export: whole inputs and outputs as JSON, and a kind of its own."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.attribute_values import (
    amount,
    count,
    documents_of,
    object_of,
    text,
    value,
)
from scorewright.telemetry.conventions import genai
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, SpanKind

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "llm": "llm",
    "chain": "chain",
    "tool": "tool",
    "retriever": "retriever",
    "embedding": "embedding",
    "prompt": "chain",
    "parser": "chain",
}


def read(span: RawSpan) -> SpanFacts | None:
    """Read a span with a kind by LangSmith's name."""
    attributes = span.attributes
    kind = text(attributes, "langsmith.span.kind")
    if kind is None:
        return None
    facts = SpanFacts(
        kind=_KINDS.get(kind.lower()),
        model=text(attributes, "gen_ai.response.model", "gen_ai.request.model"),
        vendor=text(attributes, "gen_ai.provider.name", "gen_ai.system"),
        input_value=value(attributes, "gen_ai.prompt", "inputs"),
        output_value=value(attributes, "gen_ai.completion", "outputs"),
        usage=genai.usage(attributes),
        session_id=text(
            attributes,
            "langsmith.metadata.session_id",
            "langsmith.metadata.thread_id",
            "langsmith.metadata.conversation_id",
            "langsmith.trace.session_id",
        ),
    )
    if facts.kind == "tool":
        facts.tool_name = text(attributes, "gen_ai.tool.name", "langsmith.trace.name")
        facts.tool_arguments, facts.tool_result = facts.input_value, facts.output_value
    elif facts.kind == "retriever":
        facts.documents = documents_of(facts.output_value)
    elif facts.kind == "llm":
        details = object_of(attributes, "gen_ai.usage.input_token_details")
        facts.cached_tokens = count(details, "cache_read")
        facts.temperature = amount(
            attributes, "gen_ai.request.temperature", "langsmith.metadata.ls_temperature"
        )
    return facts


CONVENTION: Final = Convention("langsmith", frozenset({"langsmith"}), read)
