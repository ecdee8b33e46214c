"""Agenta's `ag.…` namespace: data, metrics and type of a span, as dotted names or as JSON."""

from __future__ import annotations

from functools import partial
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import (
    amount,
    count,
    documents_of,
    has_prefix,
    object_of,
    text,
    unfold,
    usage_of,
)
from scorewright.telemetry.messages import read_messages
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, SpanKind

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "agent": "agent",
    "workflow": "chain",
    "chain": "chain",
    "task": "chain",
    "tool": "tool",
    "embedding": "embedding",
    "query": "retriever",
    "retriever": "retriever",
    "completion": "llm",
    "chat": "llm",
    "llm": "llm",
    "rerank": "reranker",
}


def read(span: RawSpan) -> SpanFacts | None:
    """Read a span with attributes called `ag.…`."""
    attributes = span.attributes
    if not has_prefix(attributes, "ag."):
        return None
    kind = text(attributes, "ag.type.span", "ag.type.node", "ag.node.type")
    inputs = unfold(attributes, "ag.data.inputs")
    outputs = unfold(attributes, "ag.data.outputs")
    metrics = "ag.metrics.unit"
    facts = SpanFacts(
        kind=_KINDS.get(kind.lower()) if kind else None,
        model=text(attributes, "ag.meta.response.model", "ag.meta.request.model"),
        vendor=text(attributes, "ag.meta.system", "ag.meta.request.system"),
        input_value=inputs,
        output_value=outputs,
        session_id=text(attributes, "ag.session.id", "ag.refs.session.id"),
        environment=text(attributes, "ag.refs.environment.slug", "ag.references.environment.slug"),
        cost_usd=amount(attributes, f"{metrics}.costs.total", "ag.metrics.costs.incremental.total"),
        usage=usage_of(
            *(
                count(
                    attributes,
                    f"{metrics}.tokens.{part}",
                    f"ag.metrics.tokens.incremental.{part}",
                )
                for part in ("prompt", "completion", "total")
            )
        ),
    )
    _add_by_kind(facts, inputs, outputs)
    if facts.kind == "llm":
        facts.temperature = _temperature(attributes)
    return facts


def _add_by_kind(facts: SpanFacts, inputs: JsonValue, outputs: JsonValue) -> None:
    if facts.kind == "tool":
        facts.tool_arguments, facts.tool_result = inputs, outputs
    elif facts.kind == "retriever":
        facts.documents = documents_of(outputs)
    elif facts.kind == "llm":
        prompt = inputs.get("prompt") if isinstance(inputs, dict) else None
        completion = outputs.get("completion") if isinstance(outputs, dict) else None
        if prompt is not None:
            facts.input_messages = partial(read_messages, prompt)
        if completion is not None:
            facts.output_messages = partial(read_messages, completion)


def _temperature(attributes: JsonObject) -> float | None:
    found = amount(attributes, "ag.data.parameters.temperature")
    return (
        amount(object_of(attributes, "ag.data.parameters"), "temperature")
        if found is None
        else found
    )


CONVENTION: Final = Convention("agenta", frozenset({"ag"}), read)
