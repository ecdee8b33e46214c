"""LoongSuite and ARMS: GenAI attributes with a kind and a session of their own."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.attribute_values import amount, text
from scorewright.telemetry.conventions import genai
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
    if "gen_ai.span.kind" not in attributes and "gen_ai.session.id" not in attributes:
        return None
    kind = text(attributes, "gen_ai.span.kind")
    session = text(attributes, "gen_ai.session.id")
    if kind is None and session is None:
        return None
    facts = SpanFacts(
        kind=_KINDS.get(kind.upper()) if kind else None,
        session_id=session,
        input_value=attributes.get("input.value"),
        output_value=attributes.get("output.value"),
        framework=text(attributes, "gen_ai.framework"),
    )
    if facts.kind == "retriever":
        genai.add_retrieval(facts, attributes)
    elif facts.kind == "llm":
        # Nanoseconds here, where others that use the name mean seconds.
        waited = amount(attributes, "gen_ai.response.time_to_first_token")
        facts.time_to_first_token_ms = None if waited is None else waited / 1e6
    return facts


CONVENTION: Final = Convention("loongsuite", frozenset({"gen_ai"}), read)
