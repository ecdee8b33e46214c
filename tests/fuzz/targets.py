"""What must hold of any input whatever: it is read or refused by name, and what is told of it is JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import msgspec

from scorewright.domain.errors import TraceError, UsageError
from scorewright.domain.filter import compile_filter, parse_filter, print_filter
from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.assembly import Trace, assemble
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.protobuf_request import decode_protobuf
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.summary import summarise

_ITEM: Final[JsonObject] = {
    "score": 0.5,
    "output": "a b",
    "tags": ["x", 1],
    "at": "2026-01-02T03:04:05Z",
}


def read_json(data: bytes) -> None:
    """Decode an OTLP/JSON request, and tell everything of it."""
    _read(data, decode_json)


def read_protobuf(data: bytes) -> None:
    """Decode an OTLP protobuf request, and tell everything of it."""
    _read(data, decode_protobuf)


def read_filter(data: bytes) -> None:
    """Parse a filter expression, print it, parse that again, and apply it."""
    try:
        tree = parse_filter(data.decode("utf-8", "replace"))
    except UsageError:
        return
    assert parse_filter(print_filter(tree)) == tree
    assert compile_filter(tree)(_ITEM) in {True, False}


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "json": read_json,
    "protobuf": read_protobuf,
    "filter": read_filter,
}


def _read(data: bytes, decode: Callable[[bytes, Findings], list[RawSpan]]) -> None:
    findings = Findings()
    try:
        spans = decode(data, findings)
    except TraceError:
        return
    _as_json(list(findings.notices()))
    told = [_told(trace) for trace in assemble(spans)]
    assert [_told(trace) for trace in assemble(reversed(spans))] == told


def _told(trace: Trace) -> bytes:
    for facts in trace.facts:
        messages = [source() for source in (facts.input_messages, facts.output_messages) if source]
        tools = facts.available_tools() if facts.available_tools else ()
        _as_json([messages, tools, facts.input_value, facts.output_value, facts.documents])
        _as_json([facts.tool_arguments, facts.tool_result, facts.temperature, facts.top_k])
        _as_json([facts.cached_tokens, facts.time_to_first_token_ms, facts.system_prompt])
    return _as_json(summarise(trace))


def _as_json(value: object) -> bytes:
    encoded = msgspec.json.encode(value)
    json.loads(encoded, parse_constant=_refuse)
    return encoded


def _refuse(token: str) -> float:
    raise AssertionError(f"{token} is not JSON")
