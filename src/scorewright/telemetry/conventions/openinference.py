"""OpenInference: Arize's conventions, written by its instrumentations of most frameworks."""

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
    value,
)
from scorewright.telemetry.messages import Message, read_messages
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, Messages, SpanFacts, SpanKind
from scorewright.telemetry.tool_definitions import unfolded_tools

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "LLM": "llm",
    "EMBEDDING": "embedding",
    "AGENT": "agent",
    "TOOL": "tool",
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "CHAIN": "chain",
    "GUARDRAIL": "chain",
    "EVALUATOR": "chain",
    "PROMPT": "chain",
}
_OWN: Final = ("openinference.span.kind", "input.value", "output.value", "llm.model_name")


def read(span: RawSpan) -> SpanFacts | None:
    """Read a span with a kind, a value or a model by OpenInference's names."""
    attributes = span.attributes
    if not any(name in attributes for name in _OWN):
        return None
    kind = attributes.get("openinference.span.kind")
    kind = _KINDS.get(kind.upper()) if isinstance(kind, str) else None
    facts = SpanFacts(
        kind=kind or ("llm" if "llm.model_name" in attributes else None),
        model=text(attributes, "llm.model_name", "embedding.model_name"),
        vendor=text(attributes, "llm.provider", "llm.system"),
        input_value=attributes.get("input.value"),
        output_value=attributes.get("output.value"),
        cost_usd=amount(attributes, "llm.cost.total"),
        session_id=text(attributes, "session.id"),
        agent_name=text(attributes, "agent.name", "graph.node.id"),
        usage=usage_of(
            count(attributes, "llm.token_count.prompt"),
            count(attributes, "llm.token_count.completion"),
            count(attributes, "llm.token_count.total"),
        ),
    )
    if facts.kind == "llm":
        facts.input_messages = _messages(attributes, "llm.input_messages")
        facts.output_messages = _messages(attributes, "llm.output_messages")
        _add_request(facts, attributes)
    elif facts.kind == "tool":
        _add_tool(facts, attributes)
    elif facts.kind == "retriever":
        facts.documents = documents_of(unfold(attributes, "retrieval.documents"))
    return facts


def _messages(attributes: JsonObject, prefix: str) -> Messages | None:
    if prefix in attributes or has_prefix(attributes, f"{prefix}."):
        return partial(_unfolded_messages, attributes, prefix)
    return None


def _unfolded_messages(attributes: JsonObject, prefix: str) -> tuple[Message, ...]:
    return read_messages(unfold(attributes, prefix))


def _add_request(facts: SpanFacts, attributes: JsonObject) -> None:
    facts.cached_tokens = count(attributes, "llm.token_count.prompt_details.cache_read")
    settings = attributes.get("llm.invocation_parameters")
    if isinstance(settings, str) and "temperature" in settings:
        facts.temperature = amount(
            object_of(attributes, "llm.invocation_parameters"), "temperature"
        )
    if "llm.tools.0.tool.json_schema" in attributes or "llm.tools" in attributes:
        facts.available_tools = partial(unfolded_tools, attributes, "llm.tools")


def _add_tool(facts: SpanFacts, attributes: JsonObject) -> None:
    facts.tool_name = text(attributes, "tool.name")
    facts.tool_call_id = text(attributes, "tool_call.id", "tool.id")
    facts.tool_arguments = value(
        attributes, "input.value", "tool_call.function.arguments", "tool.arguments"
    )
    facts.tool_result = attributes.get("output.value")


CONVENTION: Final = Convention(
    "openinference", frozenset({"openinference", "input", "output", "llm"}), read
)
