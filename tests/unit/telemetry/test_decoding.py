"""Requests as spans: the same from JSON and protobuf, and nothing that is sent brings the reader down."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_requests import REQUESTS, as_camel_json, as_snake_json, decoded, request, span

from scorewright.domain.errors import TraceError
from scorewright.telemetry.findings import MAX_KINDS, Findings
from scorewright.telemetry.json_attributes import MAX_DEPTH
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.protobuf_request import decode_protobuf

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)
MEMBERS = (
    "traceId spanId parentSpanId name kind status attributes events startTimeUnixNano "
    "endTimeUnixNano links"
).split()


@given(REQUESTS)
def test_json_of_either_spelling_is_what_protobuf_is(sent: ExportTraceServiceRequest):
    of_protobuf, of_camel, of_snake = Findings(), Findings(), Findings()

    spans = decode_protobuf(sent.SerializeToString(), of_protobuf)

    assert decode_json(as_camel_json(sent), of_camel) == spans
    assert decode_json(as_snake_json(sent), of_snake) == spans
    assert of_camel.rejected == of_snake.rejected == of_protobuf.rejected
    assert set(of_camel.notices()) == set(of_snake.notices()) == set(of_protobuf.notices())


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON_VALUES))
def test_a_span_of_any_shape_is_read_or_counted(members: dict[str, Any]):
    findings = Findings()

    spans = decoded({**span(1), **members}, span(2), findings=findings)

    assert len(spans) + findings.rejected == 2
    assert spans[-1].span_id == f"{2:016x}"


@given(st.dictionaries(st.text(max_size=20), JSON_VALUES))
def test_an_attribute_of_any_shape_costs_no_span(value: dict[str, Any]):
    kinds = ["stringValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue"]
    odd = [{"key": kind, "value": {kind: value}} for kind in kinds]

    (read,) = decoded(
        span(1) | {"attributes": [*odd, {"key": "k", "value": {"intValue": 1}}, value]}
    )

    assert read.attributes["k"] == 1
    json.dumps(read.attributes, allow_nan=False)


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_read_or_refused(data: bytes):
    for decode in (decode_json, decode_protobuf):
        try:
            spans = decode(data, Findings())
        except TraceError:
            continue
        assert isinstance(spans, list)


@given(REQUESTS, st.data())
def test_a_damaged_message_is_read_or_refused(sent: ExportTraceServiceRequest, data: st.DataObject):
    whole = bytearray(sent.SerializeToString())
    for _ in range(3):
        if whole:
            at = data.draw(st.integers(0, len(whole) - 1))
            whole[at] = data.draw(st.integers(0, 255))

    with contextlib.suppress(TraceError):
        assert all(one.span_id for one in decode_protobuf(bytes(whole), Findings()))


@pytest.mark.parametrize("data", [b"", b"{}", b'{"resourceSpans": []}', b'{"resource_spans": []}'])
def test_a_request_without_spans_is_a_valid_one(data: bytes):
    decode = decode_json if data else decode_protobuf

    assert decode(data, Findings()) == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"resourceLogs": []}', "holds logs, no traces"),
        (b'{"spans": []}', "an object with resourceSpans is needed, this one has spans"),
        (b"[1]", "not an object but a list"),
        (b'{"resourceSpans": [NaN]}', "NaN is not JSON"),
        (b'{"resourceSpans": ' + b"[" * 5_000, "nested too deeply"),
    ],
)
def test_what_is_no_request_is_refused_by_its_reason(data: bytes, reason: str):
    with pytest.raises(TraceError, match=reason):
        decode_json(data, Findings())


@pytest.mark.parametrize(
    ("trace_id", "span_id", "reason"),
    [
        ("0" * 32, "1" * 16, "trace id is missing or all zero"),
        ("1" * 32, "0" * 16, "span id is missing or all zero"),
        ("1" * 32, None, "span id is missing or all zero"),
        ("1" * 31, "1" * 16, "trace id is not 16 bytes"),
        ("1" * 32, "no hex digits...", "span id is not 8 bytes"),
        ("1" * 32, 17, "span id is not 8 bytes"),
        ("AAAAAAAAAAAAAAAAAAAAAA==", "1" * 16, "trace id is missing or all zero"),
    ],
)
def test_a_span_without_ids_is_rejected_by_name(trace_id: object, span_id: object, reason: str):
    findings = Findings()

    spans = decoded(span(1) | {"traceId": trace_id, "spanId": span_id}, findings=findings)

    assert spans == []
    assert findings.rejected == 1
    assert reason in next(findings.notices())


def test_values_nested_too_deeply_are_null_and_the_rest_is_kept():
    value: dict[str, Any] = {"stringValue": "inside"}
    for _ in range(MAX_DEPTH + 1):
        value = {"arrayValue": {"values": [value]}}
    findings = Findings()

    (read,) = decoded(
        span(1) | {"attributes": [{"key": "deep", "value": value}], "name": "kept"},
        findings=findings,
    )

    innermost: Any = read.attributes["deep"]
    for _ in range(MAX_DEPTH):
        innermost = innermost[0]
    assert innermost is None
    assert read.name == "kept"
    assert any(f"more than {MAX_DEPTH} deep" in notice for notice in findings.notices())


@pytest.mark.parametrize("value", [0, "0", None, "", -1, "1e9", True, 2**64, "9" * 30, [], "٣"])
def test_a_time_that_is_none_is_unknown_and_not_1970(value: object):
    (read,) = decoded(span(1) | {"startTimeUnixNano": value})

    assert read.start_ns is None
    assert read.duration_ms is None


def test_nanoseconds_keep_their_last_digit():
    (read,) = decoded(span(1) | {"startTimeUnixNano": 1767225600000000001})

    assert read.start_ns == 1767225600000000001


def test_findings_are_bounded_whatever_a_file_holds():
    findings = Findings()
    for number in range(10 * MAX_KINDS):
        findings.note(f"kind {number}")
        findings.reject("x" * 10_000 + str(number))

    notices = list(findings.notices())

    assert len(notices) <= 2 * (MAX_KINDS + 1)
    assert max(map(len, notices)) < 300
    assert findings.rejected == 10 * MAX_KINDS


def test_a_list_of_requests_is_refused_with_what_is_needed():
    with pytest.raises(TraceError, match="not an object but a list"):
        decode_json(b"[" + request(span(1)) + b"]", Findings())
