"""OpenTelemetry's GenAI conventions: messages in attributes, in one event, or in an event each.

Read too: the older names of the same attributes (`gen_ai.system`, `gen_ai.usage.prompt_tokens`).
"""

from __future__ import annotations

from functools import partial
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
from scorewright.telemetry.messages import Message, message_of, read_messages
from scorewright.telemetry.raw_span import RawSpan, SpanEvent
from scorewright.telemetry.span_facts import Convention, Messages, SpanFacts, SpanKind, Usage

_KINDS: Final[dict[str, SpanKind]] = {
    "chat": "llm",
    "text_completion": "llm",
    "completion": "llm",
    "generate_content": "llm",
    "embeddings": "embedding",
    "execute_tool": "tool",
    "invoke_agent": "agent",
    "create_agent": "setup",
    "invoke_workflow": "chain",
    "retrieval": "retriever",
    "rerank": "reranker",
}
DETAILS_EVENT: Final = "gen_ai.client.inference.operation.details"
_ROLE_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_CHOICE_EVENT: Final = "gen_ai.choice"


def read(span: RawSpan) -> SpanFacts | None:
    """Read a span with attributes or events called `gen_ai.…`."""
    attributes = span.attributes
    details = _details(span)
    kind = kind_of(span)
    facts = SpanFacts(
        kind=kind,
        model=text(attributes, "gen_ai.response.model", "gen_ai.request.model"),
        vendor=text(attributes, "gen_ai.provider.name", "gen_ai.system"),
        input_messages=_messages(attributes, details, "gen_ai.input.messages"),
        output_messages=_messages(attributes, details, "gen_ai.output.messages"),
        usage=usage(attributes),
        cost_usd=amount(attributes, "gen_ai.usage.cost", "gen_ai.usage.total_cost"),
        session_id=text(attributes, "gen_ai.conversation.id"),
        agent_name=text(attributes, "gen_ai.agent.name"),
    )
    if kind == "tool":
        _add_tool(facts, attributes)
    elif kind == "retriever":
        facts.query = text(attributes, "gen_ai.retrieval.query.text", "gen_ai.retrieval.query")
        facts.documents = documents_of(attributes.get("gen_ai.retrieval.documents"))
    if span.events and kind != "tool":
        _add_events(facts, span.events)
    return facts


def kind_of(span: RawSpan) -> SpanKind | None:
    """Tell what a span did by its operation, or else by what is known of it."""
    attributes = span.attributes
    operation = attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation:
        return _KINDS.get(operation)
    if "gen_ai.tool.name" in attributes:
        return "tool"
    if "gen_ai.agent.name" in attributes or "gen_ai.agent.id" in attributes:
        return "agent"
    named = ("gen_ai.response.model", "gen_ai.request.model", "gen_ai.usage.input_tokens")
    known = any(name in attributes for name in (*named, "gen_ai.usage.output_tokens"))
    spoken = any(event.name == _CHOICE_EVENT for event in span.events)
    return "llm" if known or spoken else None


def usage(attributes: JsonObject) -> Usage | None:
    """Read the tokens of a span, under the names of today and of before."""
    return usage_of(
        count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        count(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        count(attributes, "gen_ai.usage.total_tokens", "llm.usage.total_tokens"),
    )


def _details(span: RawSpan) -> JsonObject | None:
    for event in span.events:
        if event.name == DETAILS_EVENT:
            return event.attributes
    return None


def _messages(attributes: JsonObject, details: JsonObject | None, name: str) -> Messages | None:
    raw = attributes.get(name)
    if raw is None and details is not None:
        raw = details.get(name)
    return None if raw is None else partial(read_messages, raw)


def _add_tool(facts: SpanFacts, attributes: JsonObject) -> None:
    facts.tool_name = text(attributes, "gen_ai.tool.name")
    facts.tool_call_id = text(attributes, "gen_ai.tool.call.id")
    facts.tool_arguments = value(attributes, "gen_ai.tool.call.arguments")
    facts.tool_result = value(attributes, "gen_ai.tool.call.result")
    facts.tool_error = text(attributes, "error.type")


def _add_events(facts: SpanFacts, events: tuple[SpanEvent, ...]) -> None:
    """Read the style of one event for each message."""
    spoken = [event for event in events if event.name in _ROLE_EVENTS]
    chosen = [event.attributes for event in events if event.name == _CHOICE_EVENT]
    if spoken and facts.input_messages is None:
        facts.input_messages = partial(_spoken_messages, spoken)
    if chosen and facts.output_messages is None:
        facts.output_messages = partial(_chosen_messages, chosen)


def _said(attributes: JsonObject) -> JsonObject:
    """Unpack an event's body, which Azure's instrumentations write as one JSON text."""
    raw = attributes.get("gen_ai.event.content")
    body = container(raw) if isinstance(raw, str) else raw
    return {**attributes, **body} if isinstance(body, dict) else attributes


def _spoken_messages(events: list[SpanEvent]) -> tuple[Message, ...]:
    return _read_all(
        [{"role": _ROLE_EVENTS[event.name], **_said(event.attributes)} for event in events]
    )


def _chosen_messages(events: list[JsonObject]) -> tuple[Message, ...]:
    """Read the model's messages, which may be JSON text, as may be their content alone."""
    found: list[JsonValue] = []
    for said in map(_said, events):
        raw = value(said, "message", "content")
        whole = read_messages(raw) if isinstance(raw, (str, dict)) else ()
        found.append(raw if whole else {"role": "assistant", **said, "content": raw})
    return _read_all(found)


def _read_all(raws: list[JsonValue]) -> tuple[Message, ...]:
    found: list[Message] = []
    for raw in raws:
        if isinstance(raw, str):
            found.extend(read_messages(raw))
        elif (message := message_of(raw)) is not None:
            found.append(message)
    return tuple(found)


CONVENTION: Final = Convention("genai", frozenset({"gen_ai"}), read)
