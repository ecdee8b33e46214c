"""One call of a model, as evaluators of level `llm` see it."""

from __future__ import annotations

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import recorded_input, recorded_output
from scorewright.telemetry.failures import Failure
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.items.chat import call_objects, message_objects, offered, text_of
from scorewright.telemetry.items.reading import Reading
from scorewright.telemetry.items.subtree_sums import own_tokens
from scorewright.telemetry.messages import ToolCall
from scorewright.telemetry.span_facts import SpanFacts


def model_call_object(reading: Reading, position: int) -> JsonObject:
    """Write the member `llm`."""
    span, facts = reading.spans[position], reading.facts[position]
    tokens = own_tokens(facts)
    return {
        "span_id": span.span_id,
        "parent_span_id": span.parent_id,
        "name": span.name,
        "start_time": iso_utc(span.start_ns),
        "model": facts.model,
        "vendor": facts.vendor,
        "temperature": facts.temperature,
        "input": _input(facts),
        "output": output_text(facts),
        "tool_calls": call_objects(calls_of(facts)),
        "available_tools": offered(facts),
        "metrics": {
            "duration_ms": span.duration_ms,
            **failure_members(reading.failures[position]),
            "token_usage": None if tokens is None else tokens.document(),
            "time_to_first_token_ms": facts.time_to_first_token_ms,
            "cost_usd": reading.costs.own[position],
        },
    }


def output_text(facts: SpanFacts) -> str | None:
    """Return what a model said last; None when it said nothing, or nothing was recorded."""
    said = recorded_output(facts)
    return None if said is None else text_of(said)


def calls_of(facts: SpanFacts) -> list[ToolCall]:
    """List the tools that a model asked for."""
    if facts.output_messages is None:
        return []
    return [call for message in facts.output_messages() for call in message.calls]


def failure_members(failure: Failure | None) -> JsonObject:
    """Write what the metrics of an agent or a model call say of its failure."""
    return {
        "error": failure is not None,
        "error_type": None if failure is None else failure.kind,
        "error_message": None if failure is None else failure.message,
    }


def _input(facts: SpanFacts) -> list[JsonValue]:
    """Write the messages; an input that is none of these is one of the user's."""
    if facts.input_messages is not None:
        return message_objects(facts.input_messages())
    given = recorded_input(facts)
    return [] if given is None else [{"role": "user", "content": text_of(given)}]
