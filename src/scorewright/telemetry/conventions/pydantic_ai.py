"""Pydantic AI, as Logfire or any other exporter sends it: what stands beside the GenAI attributes."""

from __future__ import annotations

from functools import partial
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import (
    amount,
    count,
    object_of,
    text,
    usage_of,
    value,
)
from scorewright.telemetry.container import container
from scorewright.telemetry.messages import Message, message_of, read_messages
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, ToolDefinition
from scorewright.telemetry.tool_definitions import read_tools

_AGENT: Final = ("pydantic_ai.all_messages", "all_messages_events", "final_result", "agent_name")


def read(span: RawSpan) -> SpanFacts | None:
    """Read an agent's run, a tool's, or a model's."""
    attributes = span.attributes
    if any(name in attributes for name in _AGENT) and "gen_ai.tool.name" not in attributes:
        return _agent_run(span)
    if "tool_arguments" in attributes or "tool_response" in attributes:
        return SpanFacts(
            kind="tool",
            tool_name=text(attributes, "gen_ai.tool.name"),
            tool_call_id=text(attributes, "gen_ai.tool.call.id"),
            tool_arguments=attributes.get("tool_arguments"),
            tool_result=attributes.get("tool_response"),
        )
    return _model_call(attributes)


def _model_call(attributes: JsonObject) -> SpanFacts | None:
    facts = SpanFacts(
        cost_usd=amount(attributes, "operation.cost"),
        input_value=attributes.get("request_data"),
    )
    if "response_data" in attributes:
        facts.output_messages = partial(read_messages, attributes["response_data"])
    if "model_request_parameters" in attributes and "gen_ai.tool.definitions" not in attributes:
        facts.available_tools = partial(_offered, attributes)
    if "events" in attributes:
        facts.input_messages = partial(_told, attributes["events"], chosen=False)
        facts.output_messages = partial(_told, attributes["events"], chosen=True)
    return facts


def _told(raw: JsonValue, *, chosen: bool) -> tuple[Message, ...]:
    """Read the events of a model call, written as one list: what was sent, or what was chosen."""
    events = container(raw) if isinstance(raw, str) else raw
    return tuple(
        message
        for event in (events if isinstance(events, list) else ())
        if isinstance(event, dict) and (event.get("event.name") == "gen_ai.choice") is chosen
        if (message := message_of(event)) is not None
    )


def _offered(attributes: JsonObject) -> tuple[ToolDefinition, ...]:
    """Read the tools of a request, as versions wrote them that knew no attribute for them."""
    settings = object_of(attributes, "model_request_parameters")
    return (*read_tools(settings.get("function_tools")), *read_tools(settings.get("output_tools")))


def _agent_run(span: RawSpan) -> SpanFacts:
    attributes = span.attributes
    messages = value(attributes, "pydantic_ai.all_messages", "all_messages_events")
    aggregated = "gen_ai.aggregated_usage"
    return SpanFacts(
        kind="agent",
        model=text(attributes, "model_name"),
        agent_name=text(attributes, "gen_ai.agent.name", "agent_name"),
        input_messages=None if messages is None else partial(read_messages, messages),
        output_value=attributes.get("final_result"),
        cost_usd=amount(attributes, "operation.cost"),
        usage=usage_of(
            count(attributes, f"{aggregated}.input_tokens", "gen_ai.usage.input_tokens"),
            count(attributes, f"{aggregated}.output_tokens", "gen_ai.usage.output_tokens"),
            None,
        ),
    )


CONVENTION: Final = Convention(
    "pydantic-ai",
    frozenset(
        {
            "pydantic_ai",
            "all_messages_events",
            "final_result",
            "agent_name",
            "tool_arguments",
            "tool_response",
            "operation",
            "events",
            "model_request_parameters",
            "request_data",
            "response_data",
        }
    ),
    read,
)
