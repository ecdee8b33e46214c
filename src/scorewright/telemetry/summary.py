"""What is told of a trace: the members of `traces inspect --format json`."""

from __future__ import annotations

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry import assembly
from scorewright.telemetry.items import notices_of_items
from scorewright.telemetry.prices import notices_of_costs
from scorewright.telemetry.retrievals import Retrieval, retrieval_of
from scorewright.telemetry.span_facts import Usage
from scorewright.telemetry.tool_calls import CalledTool, tool_calls_of


class TraceSummary(msgspec.Struct, frozen=True):
    """One trace; null is unknown, never 0."""

    trace_id: str
    root: JsonObject
    spans: int
    input: JsonValue
    output: JsonValue
    llm_calls: int
    models: list[str]
    tokens: Usage | None
    cost_usd: float | None
    tool_calls: list[CalledTool]
    retrieval: Retrieval
    agents: list[JsonObject]
    session_id: str | None
    duration_ms: float | None
    notices: list[str]


def summarise(trace: assembly.Trace) -> TraceSummary:
    """Read everything out of a trace that is told of it."""
    root = trace.root
    costs = assembly.costs_in(trace)
    return TraceSummary(
        root.trace_id,
        {"span_id": root.span_id, "name": root.name},
        len(trace.tree.spans),
        assembly.input_of(trace),
        assembly.output_of(trace),
        len(assembly.model_calls_of(trace)),
        assembly.models_of(trace),
        assembly.tokens_of(trace),
        costs.total,
        tool_calls_of(trace),
        retrieval_of(trace),
        assembly.agents_of(trace),
        assembly.session_of(trace),
        root.duration_ms,
        [*assembly.notices_of(trace), *notices_of_costs(costs), *notices_of_items(trace)],
    )
