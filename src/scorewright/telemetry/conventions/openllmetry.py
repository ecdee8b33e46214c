"""OpenLLMetry (Traceloop): entities with input and output, and numbered prompts and completions."""

from __future__ import annotations

from functools import partial
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import documents_of, has_prefix, text, unfold
from scorewright.telemetry.container import container, unquoted
from scorewright.telemetry.conventions import genai
from scorewright.telemetry.messages import Message, read_messages
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, Messages, SpanFacts, SpanKind
from scorewright.telemetry.tool_definitions import unfolded_tools

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "workflow": "chain",
    "task": "chain",
    "agent": "agent",
    "tool": "tool",
}
_REQUEST_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "chat": "llm",
    "completion": "llm",
    "embedding": "embedding",
    "rerank": "reranker",
}
#: What a task did, where its operation says more of it than that it is one.
_OPERATION_KINDS: Final[dict[JsonValue, SpanKind]] = {"vector_db_retrieve": "retriever"}
_SESSIONS: Final = tuple(
    f"traceloop.association.properties.{name}"
    for name in ("session_id", "session.id", "conversation_id", "thread_id", "chat_id")
)


#: What each span of this convention has at least one of; most GenAI spans are none.
_OWN: Final = (
    "traceloop.span.kind",
    "llm.request.type",
    "gen_ai.prompt.0.role",
    "gen_ai.prompt.0.content",
    "gen_ai.completion.0.role",
    "gen_ai.completion.0.content",
)


def read(span: RawSpan) -> SpanFacts | None:
    """Read an entity, or a call of a model."""
    attributes = span.attributes
    if not any(map(attributes.__contains__, _OWN)):
        return None
    kind = _kind(attributes)
    facts = SpanFacts(
        kind=kind,
        input_value=_whole(attributes.get("traceloop.entity.input")),
        output_value=_whole(attributes.get("traceloop.entity.output")),
        session_id=text(attributes, *_SESSIONS),
    )
    if kind == "llm":
        facts.input_messages = _messages(attributes, "gen_ai.prompt")
        facts.output_messages = _messages(attributes, "gen_ai.completion")
        facts.usage = genai.usage(attributes)
        if "llm.request.functions.0.name" in attributes:
            facts.available_tools = partial(unfolded_tools, attributes, "llm.request.functions")
    elif kind == "tool":
        facts.tool_name = text(attributes, "traceloop.entity.name", "gen_ai.tool.name")
        facts.tool_arguments = facts.input_value
        facts.tool_result = facts.output_value
    elif kind == "retriever":
        facts.query = _query(facts.input_value)
        facts.documents = documents_of(facts.output_value)
    elif kind == "agent":
        facts.agent_name = text(attributes, "gen_ai.agent.name", "traceloop.entity.name")
    return facts


def _kind(attributes: JsonObject) -> SpanKind | None:
    entity = attributes.get("traceloop.span.kind")
    request = attributes.get("llm.request.type")
    if isinstance(request, str) and request in _REQUEST_KINDS:
        return _REQUEST_KINDS[request]
    if isinstance(entity, str):
        operation = attributes.get("gen_ai.operation.name")
        known = _OPERATION_KINDS.get(operation) if isinstance(operation, str) else None
        return known or _KINDS.get(entity)
    return "llm"  # a prompt or a completion is all that tells


def _whole(raw: JsonValue) -> JsonValue:
    """Take texts out of their quotes, and pass over JSON that was cut at a length limit."""
    if isinstance(raw, str) and raw[:1] in {"{", "["} and raw[-1:] not in {"}", "]"}:
        return None
    return unquoted(raw)


def _query(raw: JsonValue) -> str | None:
    """Take what was searched for out of the call that LangChain's callbacks are told of."""
    call = container(raw) if isinstance(raw, str) else raw
    return text(call, "query") if isinstance(call, dict) else None


def _messages(attributes: JsonObject, prefix: str) -> Messages | None:
    if has_prefix(attributes, f"{prefix}.0."):
        return partial(_numbered_messages, attributes, prefix)
    return None


def _numbered_messages(attributes: JsonObject, prefix: str) -> tuple[Message, ...]:
    return read_messages(unfold(attributes, prefix))


CONVENTION: Final = Convention("openllmetry", frozenset({"traceloop", "llm", "gen_ai"}), read)
