"""What the database tells of a trace without reading its spans: a row of the table `traces`."""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.storage.tables.traces import EXCERPT_CHARS, session_key
from scorewright.telemetry.assembly import Trace, is_setup, session_of
from scorewright.telemetry.items.reading import Reading
from scorewright.telemetry.items.whole import light_members

#: Of an attribute's value as JSON, in the row.
_MAX_ATTRIBUTE_BYTES: Final = 256
#: A larger one is written in full by PostgreSQL, and would come back as an integer.
_MAX_FLOAT: Final = float(2**53)
_MAX_INTEGER: Final = 2**63 - 1


def trace_row(project_id: str, trace: Trace, now: int) -> dict[str, Any]:
    """Make the row of a trace.

    Args:
        project_id: Whose it is.
        trace: Put together from all its spans.
        now: The present moment; as well when its first span arrived, where the row is new.
    """
    reading = Reading(trace)
    light = light_members(reading)
    start_us = _microseconds(trace.root.start_ns)
    session_id = session_of(trace)
    short, long = _split(trace.root.attributes)
    return {
        "project_id": project_id,
        "trace_id": trace.root.trace_id,
        "created_us": now,
        "changed_us": now,
        "version": 1,
        "order_us": start_us or 0,
        "start_us": start_us,
        "end_us": _microseconds(trace.root.end_ns),
        "name": trace.root.name,
        "status": light["status"],
        **_excerpt("input", light["input"]),
        **_excerpt("output", light["output"]),
        **_metrics(cast("JsonObject", light["metrics"])),
        "models": light["models"],
        "agents": light["agents"],
        **_items(reading),
        "is_setup": is_setup(trace),
        "session_id": session_id,
        "session_key": None if session_id is None else session_key(session_id),
        "service": light["service"],
        "environment": light["environment"],
        "attributes": short,
        "long_attributes": long,
    }


def _metrics(metrics: JsonObject) -> dict[str, Any]:
    return {
        "duration_ms": metrics["total_duration_ms"],
        **_tokens(metrics["token_usage"]),
        **{name: metrics[name] for name in ("cost_usd", "error_count", "span_count")},
        **{name: metrics[name] for name in ("llm_call_count", "tool_call_count")},
    }


def _items(reading: Reading) -> dict[str, Any]:
    spans, facts = reading.spans, reading.facts
    agents = [spans[at].span_id for at in reading.order if facts[at].kind == "agent"]
    calls = [spans[at].span_id for at in reading.in_order(reading.model_calls)]
    return {"agent_spans": agents, "llm_spans": calls}


def _microseconds(ns: int | None) -> int | None:
    return None if ns is None else ns // 1_000


def _excerpt(name: str, value: JsonValue) -> dict[str, Any]:
    """Write the beginning of a question or an answer, and what it is the beginning of."""
    if value is None:
        return {name: None, f"{name}_form": None}
    is_text = isinstance(value, str)
    whole = value if is_text else msgspec.json.encode(value).decode()
    form = "text" if is_text else "json"
    cut = "_cut" if len(whole) > EXCERPT_CHARS else ""
    return {name: whole[:EXCERPT_CHARS], f"{name}_form": form + cut}


_TOKENS: Final = ("input_tokens", "output_tokens", "total_tokens", "cache_read_tokens")


def _tokens(usage: JsonValue) -> dict[str, int | None]:
    counts = cast("dict[str, int | None]", usage or {})
    return {name: _fitting(counts.get(name)) for name in _TOKENS}


def _fitting(count: int | None) -> int | None:
    return None if count is None else min(count, _MAX_INTEGER)


def _split(attributes: JsonObject) -> tuple[JsonObject, list[str]]:
    short: JsonObject = {}
    long: list[str] = []
    for name, value in attributes.items():
        if _is_short(value):
            short[name] = value
        else:
            long.append(name)
    return short, long


def _is_short(value: JsonValue) -> bool:
    if isinstance(value, str):
        return len(value) <= _MAX_ATTRIBUTE_BYTES
    if isinstance(value, float):
        return abs(value) < _MAX_FLOAT
    if isinstance(value, list):
        return (
            len(value) <= _MAX_ATTRIBUTE_BYTES
            and all(isinstance(part, str | int) for part in value)
            and len(msgspec.json.encode(value)) <= _MAX_ATTRIBUTE_BYTES
        )
    return not isinstance(value, dict)
