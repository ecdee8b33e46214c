"""LoongSuite and ARMS: GenAI attributes with a kind and a session of their own."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.attribute_values import documents_of, text
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, SpanKind

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "ENTRY": "chain",
    "CHAIN": "chain",
    "TASK": "chain",
    "STEP": "chain",
    "AGENT": "agent",
    "LLM": "llm",
    "TOOL": "tool",
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "EMBEDDING": "embedding",
}


def read(span: RawSpan) -> SpanFacts | None:
    """Read the kind and what only this convention names."""
    attributes = span.attributes
    kind = text(attributes, "gen_ai.span.kind")
    session = text(attributes, "gen_ai.session.id")
    if kind is None and session is None:
        return None
    facts = SpanFacts(
        kind=_KINDS.get(kind.upper()) if kind else None,
        session_id=session,
        input_value=attributes.get("input.value"),
        output_value=attributes.get("output.value"),
    )
    if facts.kind == "retriever":
        facts.query = text(attributes, "gen_ai.retrieval.query.text", "gen_ai.retrieval.query")
        facts.documents = documents_of(attributes.get("gen_ai.retrieval.documents"))
    return facts


CONVENTION: Final = Convention("loongsuite", frozenset({"gen_ai"}), read)
