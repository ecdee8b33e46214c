"""A trace as a whole, as every item tells of it: the member `trace`."""

from __future__ import annotations

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import names_of_models, output_of, start_of
from scorewright.telemetry.attribute_values import text
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.items.compact import STATUS, document_objects
from scorewright.telemetry.items.model_call import output_text
from scorewright.telemetry.items.reading import Reading
from scorewright.telemetry.items.steps import steps_in
from scorewright.telemetry.items.subtree_sums import Sum
from scorewright.telemetry.retrievals import retrieval_of

_ENVIRONMENTS = ("deployment.environment.name", "deployment.environment")


def light_members(reading: Reading) -> JsonObject:
    """Write what is short, the metrics last."""
    trace, root = reading.trace, reading.trace.root
    return {
        "trace_id": root.trace_id,
        "name": root.name,
        "start_time": iso_utc(root.start_ns),
        "end_time": iso_utc(root.end_ns),
        "input": reading.question,
        "output": output_of(trace),
        "status": STATUS[root.status],
        "models": [*names_of_models(trace, reading.order, reading.model_calls)],
        "agents": _agents(reading),
        "service": _of_resource(reading, "service.name"),
        "environment": _environment(reading),
        "metrics": _metrics(reading),
    }


def heavy_members(reading: Reading) -> JsonObject:
    """Write what a trace and a conversation tell of tools, steps and retrievals."""
    found = retrieval_of(reading.trace)
    passages = [one.content for one in found.documents if one.content is not None]
    tools: list[JsonValue] = [
        {
            "name": called.name,
            "arguments": called.arguments,
            "result": called.result,
            "error": called.error,
        }
        for called in reading.tool_calls
    ]
    steps: list[JsonValue] = [*steps_in(reading, reading.scope(None))]
    return {
        "tool_context": tools,
        "agent_trajectory": steps,
        "rag_context": "\n\n".join(passages) if passages else None,
        "rag_retrieval_queries": [*found.queries],
        "rag_retrieval_documents": document_objects(found.documents),
        "rag_llm_output": _answer_to_searches(reading),
    }


def _metrics(reading: Reading) -> JsonObject:
    tokens = _tokens(reading)
    errors = sum(failure is not None for failure in reading.failures)
    return {
        "total_duration_ms": reading.trace.root.duration_ms,
        "token_usage": None if tokens is None else tokens.document(),
        "cost_usd": reading.costs.total,
        "error_count": errors,
        "has_errors": errors > 0,
        "span_count": len(reading.spans),
        "llm_call_count": len(reading.model_calls),
        "tool_call_count": len(reading.tool_calls),
    }


def _tokens(reading: Reading) -> Sum | None:
    """Sum over all roots."""
    whole: Sum | None = None
    for position, parent in enumerate(reading.trace.tree.parents):
        carried = reading.tokens_at(position) if parent < 0 else None
        if carried is not None:
            whole = whole or Sum()
            whole.add(carried)
    return whole


def _agents(reading: Reading) -> list[JsonValue]:
    """Name the agents by start, each once."""
    names = [
        reading.facts[position].agent_name or reading.spans[position].name
        for position in reading.order
        if reading.facts[position].kind == "agent"
    ]
    return [*dict.fromkeys(names)]


def _environment(reading: Reading) -> str | None:
    for facts in reading.facts:
        if facts.environment is not None:
            return facts.environment
    return _of_resource(reading, *_ENVIRONMENTS)


def _of_resource(reading: Reading, *names: str) -> str | None:
    """Return what the first span in the tree says that says something of what sent it."""
    seen: JsonObject | None = None
    for span in reading.spans:
        # Spans that came together share theirs.
        if span.resource is not seen:
            seen = span.resource
            if (found := text(seen, *names)) is not None:
                return found
    return None


def _answer_to_searches(reading: Reading) -> str | None:
    """Return the text of the last model call that started when the searches were over."""
    spans = reading.spans
    ends = [
        end
        for position in reading.searches
        if (end := spans[position].end_ns or spans[position].start_ns) is not None
    ]
    if not ends:
        return None
    calls = [
        position
        for position in reading.in_order(reading.model_calls)
        if spans[position].start_ns is not None and start_of(spans[position]) >= max(ends)
    ]
    return output_text(reading.facts[calls[-1]]) if calls else None
