"""OTLP requests for tests: built as protobuf, written as any of the forms that are read."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any, cast

from google.protobuf import json_format
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope as Scope
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span, Status

from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.raw_span import RawSpan

FIXTURES = Path(__file__).parents[2] / "fixtures" / "traces"


def _recorded() -> tuple[list[str], list[str]]:
    """List the names of attributes and events, and the texts, that stand in the fixtures."""
    keys, said = set[str](), set[str]()
    for path in FIXTURES.glob("*.json"):
        text = path.read_text(encoding="utf-8")
        keys.update(re.findall(r'"key": "([^"]*)"', text))
        said.update(json.loads(f'"{raw}"') for raw in re.findall(r'"stringValue": "(.*)"\n', text))
    return sorted(keys), sorted(said)


TEXTS = st.text(max_size=12)
INT64 = st.integers(-(2**63), 2**63 - 1)
_KEYS, _SAID = _recorded()
#: Of every convention, so that they meet as they never would.
NAMES = st.sampled_from(_KEYS) | st.text(max_size=8)

VALUES = st.recursive(
    st.builds(AnyValue)
    | st.builds(AnyValue, string_value=TEXTS)
    | st.builds(AnyValue, string_value=st.sampled_from(_SAID))
    | st.builds(AnyValue, int_value=INT64)
    | st.builds(AnyValue, bool_value=st.booleans())
    | st.builds(AnyValue, double_value=st.floats())
    | st.builds(AnyValue, bytes_value=st.binary(max_size=6)),
    lambda inner: (
        st.builds(
            AnyValue,
            array_value=st.builds(ArrayValue, values=st.lists(inner, max_size=3)),
        )
        | st.builds(
            AnyValue,
            kvlist_value=st.builds(
                KeyValueList,
                values=st.lists(st.builds(KeyValue, key=TEXTS, value=inner), max_size=3),
            ),
        )
    ),
    max_leaves=6,
)
ATTRIBUTES = st.lists(st.builds(KeyValue, key=NAMES, value=VALUES), max_size=4)
TIMES = st.integers(0, 2**64 - 1)
FEW_SPAN_IDS = st.sampled_from([bytes([0] * 7 + [n]) for n in range(6)])
SPANS = st.builds(
    Span,
    trace_id=st.sampled_from([bytes(16), bytes([1] * 16), bytes([2] * 16), b"short"]),
    span_id=FEW_SPAN_IDS,
    parent_span_id=FEW_SPAN_IDS | st.just(b""),
    name=TEXTS,
    start_time_unix_nano=TIMES,
    end_time_unix_nano=TIMES,
    attributes=ATTRIBUTES,
    events=st.lists(st.builds(Span.Event, name=TEXTS, attributes=ATTRIBUTES), max_size=2),
    status=st.builds(Status, code=st.sampled_from([0, 1, 2]), message=TEXTS),
)
REQUESTS = st.builds(
    ExportTraceServiceRequest,
    resource_spans=st.lists(
        st.builds(
            ResourceSpans,
            resource=st.builds(Resource, attributes=ATTRIBUTES),
            scope_spans=st.lists(
                st.builds(
                    ScopeSpans,
                    scope=st.builds(Scope, name=TEXTS),
                    spans=st.lists(SPANS, max_size=5),
                ),
                max_size=2,
            ),
        ),
        min_size=1,
        max_size=2,
    ),
)


def cut(
    request: ExportTraceServiceRequest, chance: random.Random
) -> list[ExportTraceServiceRequest]:
    """Send the spans of a request one by one or some at once, in any order; resource and scope stay with each."""
    alone = [
        ResourceSpans(
            resource=block.resource, scope_spans=[ScopeSpans(scope=scope_block.scope, spans=[one])]
        )
        for block in request.resource_spans
        for scope_block in block.scope_spans
        for one in scope_block.spans
    ]
    chance.shuffle(alone)
    requests: list[ExportTraceServiceRequest] = []
    while alone:
        size = chance.randint(1, len(alone))
        requests.append(ExportTraceServiceRequest(resource_spans=alone[:size]))
        alone = alone[size:]
    return requests


def as_camel_json(request: ExportTraceServiceRequest) -> bytes:
    """Write what protobuf's own JSON mapping writes: base64 ids, 64-bit integers as text."""
    return json_format.MessageToJson(request).encode()


def as_snake_json(request: ExportTraceServiceRequest) -> bytes:
    """Write the same with the names of the protocol's fields."""
    return json_format.MessageToJson(request, preserving_proto_field_name=True).encode()


def span(span_id: int, parent: int = 0, **members: Any) -> dict[str, Any]:
    """Make a span of trace 1 as OTLP/JSON writes it; `attributes` are plain values here."""
    attributes = cast("dict[str, object]", members.pop("attributes", {}))
    start = members.pop("start", span_id)
    return {
        "traceId": f"{1:032x}",
        "spanId": f"{span_id:016x}",
        "parentSpanId": f"{parent:016x}",
        "name": f"span {span_id}",
        "startTimeUnixNano": str(start * 1_000_000),
        "endTimeUnixNano": str((start + 1) * 1_000_000),
        "attributes": [{"key": key, "value": typed(value)} for key, value in attributes.items()],
        **members,
    }


def typed(value: object) -> dict[str, Any]:
    """Write a plain value as OTLP/JSON types it; lists and objects become their JSON text."""
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case str():
            return {"stringValue": value}
        case _:
            return {"stringValue": json.dumps(value)}


def request(*spans: object, scope: str = "") -> bytes:
    """Write spans as one request."""
    block = {"scope": {"name": scope}, "spans": list(spans)}
    return json.dumps({"resourceSpans": [{"scopeSpans": [block]}]}).encode()


def decoded(*spans: object, findings: Findings | None = None) -> list[RawSpan]:
    """Read spans written as OTLP/JSON."""
    return decode_json(request(*spans), findings or Findings())
