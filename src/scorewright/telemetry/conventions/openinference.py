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
from scorewright.telemetry.container import container
from scorewright.telemetry.messages import Message, read_messages
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, Document, Messages, SpanFacts, SpanKind
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
#: Stands for what an application was told not to record.
_HIDDEN: Final = "__REDACTED__"
_OWN: Final = ("openinference.span.kind", "input.value", "output.value", "llm.model_name")


def read(span: RawSpan) -> SpanFacts | None:
    """Read a span with a kind, a value or a model by OpenInference's names."""
    attributes = span.attributes
    if not any(name in attributes for name in _OWN):
        return None
    if _HIDDEN in attributes.values():
        attributes = {name: found for name, found in attributes.items() if found != _HIDDEN}
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
        facts.documents = _documents(attributes)
    elif facts.kind == "chain" and (name := _agent_of_graph(span)) is not None:
        facts.kind, facts.agent_name = "agent", name
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
    facts.tool_call_id = text(attributes, "tool_call.id", "tool.id") or _answered_call(attributes)
    facts.tool_arguments = value(
        attributes, "input.value", "tool_call.function.arguments", "tool.arguments"
    )
    facts.tool_result = attributes.get("output.value")


def _answered_call(attributes: JsonObject) -> str | None:
    """Return the call that a tool answered, which LangChain's tools say in their answer alone."""
    answer = attributes.get("output.value")
    if not isinstance(answer, str) or '"tool_call_id"' not in answer:
        return None
    answers = [result for message in read_messages(answer) for result in message.results]
    return answers[0].call_id if len(answers) == 1 else None


def _agent_of_graph(span: RawSpan) -> str | None:
    """Return the name of the agent that a graph of LangChain is; its steps name the agent as well."""
    raw = span.attributes.get("metadata")
    if not isinstance(raw, str) or '"lc_agent_name"' not in raw:
        return None
    metadata = container(raw)
    named = isinstance(metadata, dict) and metadata.get("lc_agent_name") == span.name
    return span.name if named else None


def _documents(attributes: JsonObject) -> tuple[Document, ...] | None:
    """Read the passages; their ids may stand in the recorded output alone, as LangChain's do."""
    found = documents_of(unfold(attributes, "retrieval.documents"))
    if not found or any(one.id is not None for one in found):
        return found
    told = documents_of(attributes.get("output.value")) or ()
    if [one.content for one in told] != [one.content for one in found]:
        return found
    pairs = zip(found, told, strict=True)
    return tuple(Document(other.id, one.content, one.score) for one, other in pairs)


CONVENTION: Final = Convention(
    "openinference", frozenset({"openinference", "input", "output", "llm"}), read
)
