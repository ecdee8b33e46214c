"""Log records over OTLP, and their search."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from sent_spans import JSON, PROTOBUF, START_NS
from starlette.testclient import TestClient

LOGS = "/api/v1/projects/default/logs"


def a_record(second: int, body: Any = "done", **known: Any) -> dict[str, Any]:
    return {
        "timeUnixNano": str(START_NS + second * 1_000_000_000),
        "body": {"stringValue": body},
        **known,
    }


def send(client: TestClient, *records: dict[str, Any]) -> None:
    sent = {"resourceLogs": [{"scopeLogs": [{"logRecords": [*records]}]}]}
    answer = client.post("/v1/logs", json=sent)
    assert (answer.status_code, answer.json()) == (200, {})


def bodies(client: TestClient, **asked: Any) -> list[Any]:
    answer = client.get(LOGS, params=asked)
    assert answer.status_code == 200, answer.text
    return [one["body"] for one in answer.json()["items"]]


def test_records_are_listed_by_time_severity_and_trace(client: TestClient):
    trace = f"{7:032x}"
    send(
        client,
        a_record(1, "one", severityNumber=9),
        a_record(2, "two", severityNumber=17, severityText="bad", traceId=trace),
        a_record(3, "three", traceId=trace, attributes=[{"key": "a.b", "value": {"intValue": 1}}]),
    )

    assert bodies(client) == ["three", "two", "one"]
    assert bodies(client, severity="INFO") == ["two", "one"]
    assert bodies(client, severity="WARN") == ["two"]
    assert bodies(client, trace_id=trace.upper()) == ["three", "two"]
    assert bodies(client, **{"from": "2026-05-28T20:26:42Z", "to": "2026-05-28T20:26:43Z"}) == [
        "two"
    ]
    entry = client.get(LOGS, params={"severity": "ERROR"}).json()["items"][0]
    assert (entry["severity"], entry["time"]) == ("bad", "2026-05-28T20:26:42.000000Z")
    assert client.get(LOGS, params={"trace_id": "x"}).status_code == 422
    assert client.get(LOGS, params={"severity": "bad"}).status_code == 422


def test_pages_follow_each_other(client: TestClient):
    send(client, *(a_record(n % 2, f"{n}") for n in range(7)))
    expected = bodies(client)
    found: list[Any] = []
    asked: dict[str, Any] = {"limit": 3}
    while True:
        page = client.get(LOGS, params=asked).json()
        found += [one["body"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        asked["cursor"] = page["next_cursor"]
    assert found == expected
    assert sorted(found) == [str(n) for n in range(7)]


def test_a_request_that_is_sent_again_adds_nothing_and_one_that_repeats_itself_means_it(
    client: TestClient,
):
    records = [a_record(1, "twice"), a_record(1, "twice"), a_record(2, "once")]
    send(client, *records)
    send(client, *records)

    assert bodies(client) == ["once", "twice", "twice"]


def test_a_record_without_a_time_stands_where_it_arrived(client: TestClient):
    send(client, a_record(1, "dated"), {"body": {"stringValue": "undated"}})

    assert bodies(client) == ["undated", "dated"]


def test_values_of_any_kind_come_back_as_they_were(client: TestClient):
    values = [
        {"key": "n", "value": {"doubleValue": 0}},
        {"key": "x", "value": {"stringValue": "\0"}},
    ]
    send(client, {**a_record(1), "body": {"kvlistValue": {"values": values}}})

    assert bodies(client) == [{"n": 0.0, "x": "\ufffd"}]


def test_protobuf_is_answered_in_protobuf(client: TestClient):
    message = ExportLogsServiceRequest()
    record = message.resource_logs.add().scope_logs.add().log_records.add()
    record.time_unix_nano = START_NS
    record.body.string_value = "said"
    answer = client.post("/v1/logs", content=message.SerializeToString(), headers=PROTOBUF)

    assert answer.status_code == 200
    assert not ExportLogsServiceResponse.FromString(answer.content).HasField("partial_success")
    assert bodies(client) == ["said"]


@pytest.mark.parametrize("body", [b"{", b"[]", json.dumps({"resourceSpans": []}).encode()])
def test_what_is_no_request_of_logs_is_refused(body: bytes, client: TestClient):
    assert client.post("/v1/logs", content=body, headers=JSON).status_code == 400


def test_records_that_are_none_are_counted(client: TestClient):
    sent = {"resourceLogs": [{"scopeLogs": [{"logRecords": [5, a_record(1)]}]}]}
    answer = client.post("/v1/logs", json=sent)

    assert answer.json()["partialSuccess"]["rejectedLogRecords"] == "1"
    assert bodies(client) == ["done"]
