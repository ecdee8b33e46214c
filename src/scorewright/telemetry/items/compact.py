"""Spans as items hold them: a flat list, each with what is known of it and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import Trace, query_of, recorded_input, recorded_output
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.items.agenta_attributes import agenta_object
from scorewright.telemetry.items.chat import message_objects, offered
from scorewright.telemetry.items.reading import Reading
from scorewright.telemetry.items.subtree_sums import own_tokens
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Document, SpanFacts, SpanKind
from scorewright.telemetry.tool_calls import CalledTool

STATUS: Final = {"ok": "OK", "error": "ERROR", "unset": "UNSET"}


def compact_spans(trace: Trace) -> list[JsonObject]:
    """List the spans of a trace in tree order."""
    reading = Reading(trace)
    return [
        {"span_id": span.span_id, "parent": parent, **span_body(reading, position)}
        for position, (span, parent) in enumerate(
            zip(reading.spans, trace.tree.parents, strict=True)
        )
    ]


def span_body(reading: Reading, position: int) -> JsonObject:
    """Write all of a span but its id and its place, which depends on the list that it stands in."""
    span, facts = reading.spans[position], reading.facts[position]
    body: JsonObject = {
        "name": span.name,
        "kind": facts.kind or "span",
        "start_time": iso_utc(span.start_ns),
        "end_time": iso_utc(span.end_ns),
        "duration_ms": span.duration_ms,
        "status": STATUS[span.status],
    }
    failure = reading.failures[position]
    if failure is not None:
        body["error"] = failure.text
        _put(body, "error_type", failure.kind)
    if facts.kind == "tool":
        _add_tool(body, reading.tools[position], facts)
    else:
        _put(body, "input", recorded_input(facts))
        _put(body, "output", recorded_output(facts))
    _put(body, "model", facts.model)
    _put(body, "vendor", facts.vendor)
    if (add := _BY_KIND.get(facts.kind)) is not None:
        add(body, span, facts)
    _add_usage(body, reading, position)
    _add_attributes(body, span.attributes)
    return body


def document_objects(documents: tuple[Document, ...] | list[Document]) -> list[JsonValue]:
    """Write the passages that a search found."""
    return [{"id": found.id, "content": found.content, "score": found.score} for found in documents]


def _put(body: JsonObject, name: str, value: JsonValue) -> None:
    if value is not None:
        body[name] = value


def _add_tool(body: JsonObject, called: CalledTool, facts: SpanFacts) -> None:
    """Tell a tool's arguments and result, under the general names as well: few instrumentations do."""
    _put(body, "input", called.arguments)
    _put(body, "output", called.result)
    body["tool"] = called.name
    _put(body, "call_id", facts.tool_call_id)
    _put(body, "arguments", called.arguments)
    _put(body, "result", called.result)


def _add_model_call(body: JsonObject, _: RawSpan, facts: SpanFacts) -> None:
    _put(body, "temperature", facts.temperature)
    if facts.input_messages is not None:
        body["messages"] = message_objects(facts.input_messages())
    if facts.output_messages is not None:
        body["completion"] = message_objects(facts.output_messages())
    _put(body, "available_tools", offered(facts))
    _put(body, "time_to_first_token_ms", facts.time_to_first_token_ms)


def _add_search(body: JsonObject, _: RawSpan, facts: SpanFacts) -> None:
    _put(body, "query", query_of(facts))
    if facts.documents is not None:
        body["documents"] = document_objects(facts.documents)
    _put(body, "vector_db", facts.vector_db)
    _put(body, "top_k", facts.top_k)


def _add_agent(body: JsonObject, span: RawSpan, facts: SpanFacts) -> None:
    body["agent"] = facts.agent_name or span.name
    _put(body, "framework", facts.framework)
    _put(body, "system_prompt", facts.system_prompt)
    _put(body, "available_tools", offered(facts))


_BY_KIND: Final[dict[SpanKind | None, Callable[[JsonObject, RawSpan, SpanFacts], None]]] = {
    "llm": _add_model_call,
    "retriever": _add_search,
    "agent": _add_agent,
}


def _add_usage(body: JsonObject, reading: Reading, position: int) -> None:
    facts = reading.facts[position]
    if (tokens := own_tokens(facts)) is not None:
        body["tokens"] = tokens.document()
    _put(body, "cost_usd", reading.costs.own[position])
    if (below := reading.tokens_below[position]) is not None:
        body["subtree_tokens"] = below.document()
    if position in reading.costs.below:
        # Null says that its own cost is not that of all below it.
        body["subtree_cost_usd"] = reading.costs.below[position]


def _add_attributes(body: JsonObject, attributes: JsonObject) -> None:
    unfolded = agenta_object(attributes)
    if unfolded is None:
        body["attributes"] = attributes
        return
    body["ag"] = unfolded
    body["attributes"] = {
        name: value for name, value in attributes.items() if not name.startswith("ag.")
    }


class EncodedSpans:
    """The spans of a trace as JSON, each written once, whichever items it stands in."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        #: By position, what stands before and behind the place of the parent.
        self._written: dict[int, tuple[bytes, bytes]] = {}

    def at(self, positions: Sequence[int]) -> bytes:
        """Write a list of some spans: the first one, which has no parent there, and of those below it."""
        written, parents = self._written, self._reading.trace.tree.parents
        places = {position: place for place, position in enumerate(positions)}
        spans: list[bytes] = []
        for position in positions:
            before, behind = written.get(position) or self._write(position)
            spans.append(b"%b%d%b" % (before, places.get(parents[position], -1), behind))
        return b"[%b]" % b",".join(spans)

    def _write(self, position: int) -> tuple[bytes, bytes]:
        body = msgspec.json.encode(span_body(self._reading, position))
        span_id = self._reading.spans[position].span_id.encode()
        parts = b'{"span_id":"%b","parent":' % span_id, b"," + body[1:]
        self._written[position] = parts
        return parts
