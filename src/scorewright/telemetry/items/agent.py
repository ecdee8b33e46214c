"""An agent as evaluators see it: what its own span says, and else what its first and last model calls do."""

from __future__ import annotations

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import answered_of, asked_of, recorded_input, recorded_output
from scorewright.telemetry.items.chat import first_text, offered
from scorewright.telemetry.items.model_call import failure_members
from scorewright.telemetry.items.reading import Reading, Scope
from scorewright.telemetry.span_facts import SpanFacts


def agent_object(reading: Reading, top: int, scope: Scope) -> JsonObject:
    """Write the member `agent` of the span at `top`, whose scope this is."""
    span, facts = reading.spans[top], reading.facts[top]
    calls = [reading.facts[position] for position in scope.model_calls]
    first = calls[0] if calls else SpanFacts()
    tools = offered(facts)
    tokens = reading.tokens_at(top)
    return {
        "agent_id": span.span_id,
        "agent_name": facts.agent_name or span.name,
        "framework": facts.framework,
        "model": facts.model or first.model,
        "system_prompt": _instructions(facts) or _instructions(first),
        "available_tools": offered(first) if tools is None else tools,
        "input": question_to(facts, calls),
        "output": _answer_of(facts, calls),
        "metrics": {
            "duration_ms": span.duration_ms,
            **failure_members(reading.failures[top]),
            "token_usage": None if tokens is None else tokens.document(),
            "cost_usd": reading.costs.at(top),
        },
    }


def question_to(facts: SpanFacts, calls: list[SpanFacts]) -> JsonValue:
    """Return what a span was asked; where it does not say, the first user message of the calls inside it."""
    if (asked := asked_of(facts)) is not None:
        return asked
    for call in calls:
        if call.input_messages is None:
            said = recorded_input(call)
        else:
            said = first_text(call.input_messages(), "user")
        if said is not None:
            return said
    return None


def _answer_of(facts: SpanFacts, calls: list[SpanFacts]) -> JsonValue:
    """Return an agent's answer: one whose messages hold none gave none."""
    answered = answered_of(facts)
    if answered is not None or facts.output_messages is not None:
        return answered
    for call in reversed(calls):
        if (answered := recorded_output(call)) is not None:
            return answered
    return None


def _instructions(facts: SpanFacts) -> str | None:
    if facts.system_prompt is not None or facts.input_messages is None:
        return facts.system_prompt
    return first_text(facts.input_messages(), "system")
