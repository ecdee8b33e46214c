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
    instructions_of,
    milliseconds,
    text,
    usage_of,
    value,
)
from scorewright.telemetry.container import container
from scorewright.telemetry.messages import Message, last_text, message_of, read_messages
from scorewright.telemetry.raw_span import RawSpan, SpanEvent
from scorewright.telemetry.span_facts import Convention, Messages, SpanFacts, SpanKind, Usage
from scorewright.telemetry.tool_definitions import read_tools

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
_TEMPERATURE: Final = "gen_ai.request.temperature"
_INSTRUCTIONS: Final = ("gen_ai.system_instructions", "gen_ai.agent.instructions")
#: Of several spellings one counts.
_CACHED_TOKENS: Final = (
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.prompt_tokens_details.cached_tokens",
    "gen_ai.usage.input_tokens.cached",
    "gen_ai.usage.details.cache_read_tokens",
    "gen_ai.usage.details.cached_tokens",
)
_FIRST_TOKEN_S: Final = (
    "gen_ai.response.time_to_first_chunk",
    "gen_ai.server.time_to_first_token",
)
_TOOLS: Final = ("gen_ai.tool.definitions", "gen_ai.agent.tools")
_BESIDE: Final = frozenset(
    {_TEMPERATURE, *_CACHED_TOKENS, *_FIRST_TOKEN_S, *_TOOLS, *_INSTRUCTIONS}
)


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
        add_retrieval(facts, attributes)
    else:
        _add_request(facts, attributes, details)
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


def add_retrieval(facts: SpanFacts, attributes: JsonObject) -> None:
    """Read what a search looked for and what it found."""
    facts.query = text(attributes, "gen_ai.retrieval.query.text", "gen_ai.retrieval.query")
    facts.documents = documents_of(attributes.get("gen_ai.retrieval.documents"))
    facts.top_k = count(attributes, "gen_ai.request.top_k", "gen_ai.retrieval.top_k")


def _add_request(facts: SpanFacts, attributes: JsonObject, details: JsonObject | None) -> None:
    """Read what stands beside the messages of a model's or an agent's span."""
    if details is not None:
        attributes = {**details, **attributes}
    present = _BESIDE.intersection(attributes)
    if not present:
        return
    if _TEMPERATURE in present:
        facts.temperature = amount(attributes, _TEMPERATURE)
    if not present.isdisjoint(_CACHED_TOKENS):
        facts.cached_tokens = count(attributes, *_CACHED_TOKENS)
    if not present.isdisjoint(_FIRST_TOKEN_S):
        facts.time_to_first_token_ms = milliseconds(amount(attributes, *_FIRST_TOKEN_S))
    if (tools := value(attributes, *_TOOLS)) is not None:
        facts.available_tools = partial(read_tools, tools)
    if not present.isdisjoint(_INSTRUCTIONS):
        _add_instructions(facts, value(attributes, *_INSTRUCTIONS))


def _add_instructions(facts: SpanFacts, instructions: JsonValue) -> None:
    if facts.kind != "llm":
        facts.system_prompt = instructions_of(instructions)
    elif (given := facts.input_messages) is not None:
        facts.input_messages = partial(_instructed, instructions, given)


def _instructed(instructions: JsonValue, given: Messages) -> tuple[Message, ...]:
    """Put the instructions in front of messages that have none among them."""
    messages = given()
    said = instructions_of(instructions)
    if said is None or any(message.role == "system" for message in messages):
        return messages
    return (Message("system", said), *messages)


def _add_events(facts: SpanFacts, events: tuple[SpanEvent, ...]) -> None:
    """Read the style of one event for each message."""
    spoken = [event for event in events if event.name in _ROLE_EVENTS]
    chosen = [event.attributes for event in events if event.name == _CHOICE_EVENT]
    if facts.kind == "agent" and facts.system_prompt is None:
        facts.system_prompt = last_text(_spoken_messages(spoken[:1]), "system")
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
