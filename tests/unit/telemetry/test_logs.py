"""Log records: the same from JSON and protobuf, from plain lines by their members, and nothing brings the reader down."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st
from log_requests import LOG_REQUESTS
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from otlp_requests import REQUESTS

from scorewright.domain.errors import TraceError
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_logs import decode_log_line, decode_logs
from scorewright.telemetry.logs import LogRecord, log_item, severity_name
from scorewright.telemetry.protobuf_logs import decode_protobuf_logs

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
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
LINE_MEMBERS = (
    "body message severity level levelname severity_number timestamp ts asctime trace_id dd.trace_id dd trace "
    "span_id attributes user"
).split()
RECORD_MEMBERS = (
    "traceId spanId timeUnixNano observedTimeUnixNano severityNumber severityText body attributes eventName"
).split()


def of_line(line: object) -> LogRecord:
    (record,) = decode_log_line(json.dumps(line).encode(), Findings())
    return record


def of_request(*records: object, findings: Findings | None = None) -> list[LogRecord]:
    request = {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}
    return decode_logs(json.dumps(request).encode(), findings or Findings())


def log_of(record: LogRecord) -> dict[str, Any]:
    return json.loads(log_item(record))["log"]


# ── OTLP ─────────────────────────────────────────────────────────────────────────────────────────


@given(LOG_REQUESTS)
def test_json_of_either_spelling_is_what_protobuf_is(sent: ExportLogsServiceRequest):
    of_protobuf, of_camel, of_snake = Findings(), Findings(), Findings()
    snake = json_format.MessageToJson(sent, preserving_proto_field_name=True)

    records = decode_protobuf_logs(sent.SerializeToString(), of_protobuf)

    assert decode_logs(json_format.MessageToJson(sent).encode(), of_camel) == records
    assert decode_log_line(snake.encode(), of_snake) == records
    assert set(of_camel.notices()) == set(of_snake.notices()) == set(of_protobuf.notices())


@given(LOG_REQUESTS)
def test_every_record_that_was_sent_is_an_item(sent: ExportLogsServiceRequest):
    count = sum(len(s.log_records) for b in sent.resource_logs for s in b.scope_logs)

    items = [
        json.loads(log_item(record))
        for record in decode_protobuf_logs(sent.SerializeToString(), Findings())
    ]

    assert len(items) == count
    assert all(
        set(item["log"]) == {"body", "severity", "timestamp", "attributes"} for item in items
    )


def test_a_record_is_read_with_all_its_members():
    sent = {
        "timeUnixNano": "1767323045123456789",
        "observedTimeUnixNano": 1767323046000000000,
        "severityNumber": 17,
        "severityText": "error",
        "body": {"kvlistValue": {"values": [{"key": "n", "value": {"intValue": "7"}}]}},
        "attributes": [{"key": "user.id", "value": {"stringValue": "u"}}],
        "traceId": TRACE_ID.upper(),
        "spanId": "AAAAAAAAAAE=",
        "eventName": "paid",
    }

    (record,) = of_request(sent)

    assert record.span_id == "0000000000000001"
    assert record.event_name == "paid"
    assert json.loads(log_item(record)) == {
        "traceId": TRACE_ID,
        "log": {
            "body": {"n": 7},
            "severity": "error",
            "timestamp": "2026-01-02T03:04:05.123456Z",
            "attributes": {"user.id": "u"},
        },
    }


def test_what_a_record_does_not_say_is_null():
    (record,) = of_request({})

    assert json.loads(log_item(record)) == {
        "traceId": None,
        "log": {"body": None, "severity": None, "timestamp": None, "attributes": {}},
    }


def test_the_time_of_collection_stands_in_for_an_unknown_one():
    (record,) = of_request({"observedTimeUnixNano": "1767323045000000000"})

    assert log_of(record)["timestamp"] == "2026-01-02T03:04:05.000000Z"


@pytest.mark.parametrize(
    ("number", "name"), [(1, "TRACE"), (4, "TRACE4"), (9, "INFO"), (10, "INFO2"), (24, "FATAL4")]
)
def test_a_severity_without_text_is_named_by_its_number(number: int, name: str):
    assert severity_name(number) == name
    for written in (number, str(number), f"SEVERITY_NUMBER_{name}"):
        assert of_request({"severityNumber": written})[0].severity == name


def test_bad_ids_cost_no_record_and_are_named():
    findings = Findings("log record")

    (record,) = of_request({"traceId": "1" * 31, "spanId": 17}, findings=findings)

    assert (record.trace_id, record.span_id) == (None, None)
    assert list(findings.notices()) == [
        "a trace id that is none was ignored",
        "a span id that is none was ignored",
    ]


def test_what_is_no_object_is_counted_as_a_log_record():
    findings = Findings("log record")

    assert len(of_request({}, 7, [], findings=findings)) == 1

    assert findings.rejected == 2
    assert "2 log records rejected: it is not an object" in findings.notices()


@given(st.dictionaries(st.sampled_from(RECORD_MEMBERS), JSON_VALUES))
def test_a_record_of_any_shape_is_read(members: dict[str, Any]):
    records = of_request(members, {"severityText": "kept"})

    assert [json.loads(log_item(record)) for record in records][-1]["log"]["severity"] == "kept"


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_are_read_or_refused(data: bytes):
    for decode in (decode_logs, decode_log_line, decode_protobuf_logs):
        with contextlib.suppress(TraceError):
            assert isinstance(decode(data, Findings()), list)


@given(REQUESTS)
def test_traces_are_never_read_as_logs(sent: Any):
    findings = Findings()

    for decode in (decode_protobuf_logs, decode_logs):
        data = sent.SerializeToString()
        if decode is decode_logs:
            data = json_format.MessageToJson(sent).encode()
        with contextlib.suppress(TraceError):
            records = decode(data, findings)
            assert [log_of(r) for r in records if r.body or r.timestamp_ns or r.trace_id] == []


def test_a_message_of_traces_is_refused_by_name():
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    sent = ExportTraceServiceRequest()
    span = sent.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = b"t" * 16, b"s" * 8, "chat"
    span.attributes.add(key="k").value.string_value = "v"

    with pytest.raises(TraceError, match="holds traces, no logs"):
        decode_protobuf_logs(sent.SerializeToString(), Findings())


# ── Plain lines ──────────────────────────────────────────────────────────────────────────────────


def test_a_plain_line_is_sorted_into_what_it_says():
    record = of_line(
        {
            "time": "2026-01-02T04:04:05.5+01:00",
            "level": "warning",
            "message": "slow",
            "trace_id": TRACE_ID,
            "span_id": "00f067aa0ba902b7",
            "http.status": 200,
            "user": {"id": 7},
        }
    )

    assert record.span_id == "00f067aa0ba902b7"
    assert json.loads(log_item(record)) == {
        "traceId": TRACE_ID,
        "log": {
            "body": "slow",
            "severity": "warning",
            "timestamp": "2026-01-02T03:04:05.500000Z",
            "attributes": {
                "span_id": "00f067aa0ba902b7",
                "http.status": 200,
                "user": {"id": 7},
            },
        },
    }


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ({"msg": "a", "event": "b"}, "a"),
        ({"body": {"k": 1}, "message": "a"}, {"k": 1}),
        ({"body": None, "text": "a"}, "a"),
        ({"msg": ""}, ""),
        ({"score": 1}, {"score": 1}),
    ],
)
def test_the_body_is_the_first_member_that_is_one_or_the_whole_line(
    line: dict[str, Any], body: object
):
    assert of_line(line).body == body


def test_a_second_member_of_a_kind_stays_an_attribute():
    record = of_line({"message": "a", "msg": "b", "level": "info", "levelname": "INFO"})

    assert record.attributes == {"msg": "b", "levelname": "INFO"}


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-02T03:04:05Z",
        "2026-01-02 03:04:05,000",
        "2026-01-02T03:04:05.000000000Z",
        "2026-01-02T05:04:05+02:00",
        1767323045,
        1767323045.0,
        "1767323045",
        1767323045_000,
        1767323045_000_000,
        1767323045_000_000_000,
        "1767323045000",
    ],
)
def test_a_time_is_read_in_every_unit(value: object):
    assert log_of(of_line({"ts": value}))["timestamp"] == "2026-01-02T03:04:05.000000Z"


@pytest.mark.parametrize(
    "value", ["soon", 12.5, 0, -1, True, None, [], "0001-01-01", 10**30, "1969"]
)
def test_a_time_that_cannot_be_read_stays_an_attribute(value: object):
    record = of_line({"message": "m", "ts": value})

    assert record.timestamp_ns is None
    assert record.attributes == {"ts": value}


@pytest.mark.parametrize(
    "line",
    [
        {"traceId": TRACE_ID},
        {"trace.id": TRACE_ID},
        {"trace": {"id": TRACE_ID}},
        {"otelTraceID": TRACE_ID},
        {"trace_id": "0x" + TRACE_ID},
        {"trace_id": "0", "traceId": TRACE_ID},
        {"dd.trace_id": TRACE_ID},
    ],
)
def test_the_trace_is_found_under_any_of_its_names(line: dict[str, Any]):
    assert of_line(line).trace_id == TRACE_ID


@pytest.mark.parametrize(
    "line", [{"dd.trace_id": "18446744073709551615"}, {"dd": {"trace_id": 2**64 - 1}}]
)
def test_a_decimal_trace_id_is_shown_in_hexadecimal(line: dict[str, Any]):
    assert of_line(line).trace_id == "0" * 16 + "f" * 16


def test_an_object_of_attributes_is_opened():
    record = of_line({"body": "b", "attributes": {"user": "u", "k": 1}, "k": 2})

    assert record.attributes == {"user": "u", "k": 2}


@pytest.mark.parametrize(
    ("level", "severity"), [(30, "30"), ("", None), (True, None), ({}, None), ("Warn", "Warn")]
)
def test_a_severity_is_kept_as_it_is_written(level: object, severity: str | None):
    assert of_line({"level": level}).severity == severity


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"resourceSpans": []}', "holds traces, no logs"),
        (b'{"resource_metrics": []}', "holds metrics, no logs"),
        (b"started", "not JSON"),
        (b"[]", "not an object but a list"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "nested more than 100 levels deep"),
    ],
)
def test_a_line_that_is_no_record_is_refused_by_its_reason(data: bytes, reason: str):
    with pytest.raises(TraceError, match=reason):
        decode_log_line(data, Findings())


@given(st.dictionaries(st.sampled_from(LINE_MEMBERS) | st.text(max_size=8), JSON_VALUES))
def test_a_line_of_any_shape_is_one_item(line: dict[str, Any]):
    records = decode_log_line(json.dumps(line).encode(), Findings())

    assert len(records) == (1 if line else 0)
    for record in records:
        assert json.loads(log_item(record))["log"]["body"] == json.loads(json.dumps(record.body))
