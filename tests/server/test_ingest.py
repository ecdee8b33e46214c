"""Spans over OTLP: all of a request is stored before it is answered, or nothing."""

from __future__ import annotations

import gzip
import json
import threading
from http import HTTPStatus
from itertools import permutations
from typing import Any

import pytest
import sqlalchemy as sa
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from sent_spans import (
    JSON,
    PROTOBUF,
    TRACES,
    a_span,
    in_protobuf,
    recorded,
    request,
    send,
    spans_of,
    summaries,
)
from sqlalchemy import event
from starlette.testclient import TestClient

from callers import new_client
from scorewright.api.context import Context
from scorewright.services import ingest
from scorewright.services.ingest import IngestLimits, settle_traces
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project
from scorewright.storage.tables import projects
from scorewright.storage.tables.metadata import new_id, now_us

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
ANSWERED = {**CHAT, "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}
WHOLE = (
    a_span(1, 1, attributes={"gen_ai.operation.name": "invoke_agent"}),
    a_span(1, 2, 1, attributes=ANSWERED),
    a_span(1, 3, 1, attributes={"gen_ai.operation.name": "execute_tool"}, status={"code": 2}),
)
CHANGING = ("version", "first_seen_at", "changed_at")


def told(client: TestClient) -> list[dict[str, Any]]:
    return [
        {name: value for name, value in one.items() if name not in CHANGING}
        for one in summaries(client)
    ]


def test_protobuf_and_json_are_stored_alike_and_answered_in_their_own_type(client: TestClient):
    answer = client.post("/v1/traces", content=in_protobuf(request(*WHOLE)), headers=PROTOBUF)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == "application/x-protobuf"
    first = told(client)
    assert first[0]["span_count"] == 3
    assert client.delete(f"{TRACES}/{1:032x}").status_code == 204

    answer = client.post(
        "/v1/traces",
        content=json.dumps(request(*WHOLE)),
        headers={"content-type": "Application/JSON; charset=utf-8"},
    )
    assert (answer.status_code, answer.json()) == (200, {})
    assert told(client) == first


def test_what_is_told_of_a_trace(client: TestClient):
    send(client, *WHOLE)

    [one] = summaries(client)
    assert one["tokens"] == {
        "input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "cache_read_tokens": None,
    }  # fmt: skip
    assert (one["models"], one["error_count"], one["llm_call_count"]) == (["m-1"], 1, 1)
    assert (one["status"], one["duration_ms"], one["cost_usd"]) == ("UNSET", 5.0, None)
    assert (one["version"], one["start_time"]) == (1, "2026-05-28T20:26:40.001000Z")


@pytest.mark.parametrize("headers", [JSON, PROTOBUF])
def test_an_empty_body_is_an_empty_request(headers: dict[str, str], client: TestClient):
    for path in ("/v1/traces", "/v1/logs"):
        assert client.post(path, content=b"", headers=headers).status_code == 200
    assert summaries(client) == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_other_types_are_refused(kind: str, client: TestClient):
    answer = client.post("/v1/traces", content=b"{}", headers={"content-type": kind})

    assert answer.status_code == 415
    packed = {**JSON, "content-encoding": "br"}
    assert client.post("/v1/traces", content=b"{}", headers=packed).status_code == 415


def test_of_what_cannot_be_decoded_nothing_is_stored(client: TestClient):
    body = in_protobuf(request(*WHOLE))
    text = json.dumps(request(*WHOLE)).encode()
    wrong = [
        (body[: len(body) // 2], PROTOBUF),
        (body, JSON),
        (text, PROTOBUF),
        (text[:-1], JSON),
        (b"[]", JSON),
        (b'{"resourceLogs": []}', JSON),
        (gzip.compress(body)[:-9], {**PROTOBUF, "content-encoding": "gzip"}),
        (body, {**PROTOBUF, "content-encoding": "gzip"}),
    ]
    for sent, headers in wrong:
        answer = client.post("/v1/traces", content=sent, headers=headers)
        assert answer.status_code == HTTPStatus.BAD_REQUEST
        kind = headers["content-type"].replace("application/json", "application/problem+json")
        assert answer.headers["content-type"] == kind
        assert answer.content
    assert summaries(client) == []


def test_a_refusal_in_protobuf_is_a_status_message(client: TestClient):
    answer = client.post("/v1/traces", content=b"\xff" * 9, headers=PROTOBUF)

    # google.rpc.Status: field 2 is the message.
    assert answer.content[:1] == b"\x12"
    assert answer.content[1] == len(answer.content) - 2
    assert b"protobuf" in answer.content


def test_packed_bodies_are_unpacked_no_further_than_they_may_be_large(database: Database):
    ensure_default_project(database)
    limits = IngestLimits(max_packed_bytes=50_000, max_bytes=1_000_000)
    packed = {**JSON, "content-encoding": "gzip"}
    small = json.dumps(request(*WHOLE)).encode()
    with new_client(Context(database, ingest_limits=limits)) as client:
        # Two members in one body, as gzip allows.
        twice = gzip.compress(small[:50]) + gzip.compress(small[50:])
        assert client.post("/v1/traces", content=twice, headers=packed).status_code == 200
        for bomb in (b"[" + b" " * 5_000_000 + b"]", b" " * 1_000_001):
            answer = client.post("/v1/traces", content=gzip.compress(bomb), headers=packed)
            assert answer.status_code == 413
        plain = client.post("/v1/traces", content=b" " * 50_001, headers=JSON)
        assert plain.status_code == 413


def test_spans_that_cannot_be_used_are_counted_and_the_others_stored(client: TestClient):
    bad = {**a_span(1, 4), "spanId": "0000000000000000"}
    answer = client.post("/v1/traces", json=request(*WHOLE, bad))
    part = answer.json()["partialSuccess"]
    assert (answer.status_code, part["rejectedSpans"]) == (200, "1")
    assert "span id" in part["errorMessage"]

    answer = client.post("/v1/traces", content=in_protobuf(request(bad)), headers=PROTOBUF)
    read = ExportTraceServiceResponse.FromString(answer.content)
    assert read.partial_success.rejected_spans == 1
    assert summaries(client)[0]["span_count"] == 3


def test_the_order_in_which_spans_arrive_makes_no_difference(client: TestClient):
    send(client, *WHOLE)
    expected = told(client)
    for order in permutations(WHOLE):
        assert client.delete(f"{TRACES}/{1:032x}").status_code == 204
        for span in order:
            send(client, span)
        assert told(client) == expected
        assert summaries(client)[0]["version"] == 3


@pytest.mark.parametrize("path", recorded(), ids=lambda path: path.name)
def test_what_instrumentations_send_is_told_alike_whole_and_in_parts(path: Any, client: TestClient):
    sent = json.loads(path.read_bytes())
    assert client.post("/v1/traces", json=sent).status_code == 200
    expected = told(client)
    assert sum(one["span_count"] for one in expected) == len(
        {s.span_id + s.trace_id for s in spans_of(path)}
    )
    for one in expected:
        client.delete(f"{TRACES}/{one['trace_id']}")

    for block in sent["resourceSpans"]:
        for scope in block["scopeSpans"]:
            for span in reversed(scope["spans"]):
                part = {**block, "scopeSpans": [{**scope, "spans": [span]}]}
                client.post("/v1/traces", json={"resourceSpans": [part]})
    assert told(client) == expected


def test_the_same_span_again_changes_nothing(client: TestClient):
    send(client, *WHOLE)
    before = summaries(client)
    send(client, *WHOLE)
    send(client, WHOLE[1])
    send(client, WHOLE[1], WHOLE[1])

    assert summaries(client) == before


def test_of_two_versions_of_a_span_the_one_that_says_more_stays(client: TestClient):
    short, long = a_span(2, 1, attributes=CHAT), a_span(2, 1, attributes=ANSWERED)
    for first, second in ((short, long), (long, short)):
        send(client, first)
        send(client, second)
        [one] = summaries(client)
        assert (one["span_count"], one["tokens"]["input_tokens"]) == (1, 10)
        client.delete(f"{TRACES}/{one['trace_id']}")
    send(client, short, long)
    assert summaries(client)[0]["tokens"]["input_tokens"] == 10


def test_a_large_trace_is_told_anew_when_it_has_grown_or_is_quiet(
    client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ingest, "_LARGE_TRACE", 20)

    def count() -> int:
        return summaries(client)[0]["span_count"]

    send(client, *(a_span(1, number, attributes=ANSWERED) for number in range(1, 31)))
    send(client, *(a_span(1, number, 1, attributes=ANSWERED) for number in (31, 32)))
    assert count() == 30  # a few more wait
    before = summaries(client)
    send(client, a_span(1, 32, 1, attributes=ANSWERED))
    assert summaries(client) == before  # the same again changes nothing
    send(client, a_span(1, 33, 1, attributes=ANSWERED))
    assert count() == 33  # a tenth more does not

    send(client, a_span(1, 34, 1, attributes=ANSWERED))
    assert settle_traces(database, quiet_us=3_600_000_000) == 0
    assert count() == 33
    assert settle_traces(database, quiet_us=-1_000_000) == 1
    assert settle_traces(database, quiet_us=-1_000_000) == 0
    assert count() == 34

    send(client, a_span(1, 35, 1, attributes=ANSWERED))
    trace = client.get(f"{TRACES}/{1:032x}").json()
    assert (trace["trace"]["span_count"], len(trace["spans"])) == (
        35,
        35,
    )  # who looks at it sees all of it
    assert count() == 35


@pytest.mark.parametrize("path", recorded(), ids=lambda path: path.name)
def test_put_together_later_a_trace_is_told_as_if_it_had_come_whole(
    path: Any, client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
):
    sent = json.loads(path.read_bytes())
    assert client.post("/v1/traces", json=sent).status_code == 200
    expected = told(client)
    for one in expected:
        client.delete(f"{TRACES}/{one['trace_id']}")
    monkeypatch.setattr(ingest, "_LARGE_TRACE", 1)
    monkeypatch.setattr(ingest, "_LEAST_GROWTH", 1e9)

    for block in sent["resourceSpans"]:
        for scope in block["scopeSpans"]:
            for span in scope["spans"]:
                part = {**block, "scopeSpans": [{**scope, "spans": [span]}]}
                client.post("/v1/traces", json={"resourceSpans": [part]})
    settle_traces(database, quiet_us=-1_000_000)

    assert told(client) == expected


def test_requests_with_spans_of_the_same_traces_at_once_end_with_the_right_summaries(
    client: TestClient,
):
    spans, traces = 12, 5

    def send_one(number: int) -> None:
        # In another order each: whoever takes hold of traces has to do so in one and the same.
        order = sorted(range(1, traces + 1), key=lambda trace: (trace * number) % 7)
        send(
            client,
            *(
                a_span(trace, number, None if number == 1 else 1, attributes=ANSWERED)
                for trace in order
            ),
        )

    threads = [threading.Thread(target=send_one, args=(n,)) for n in range(1, spans + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = summaries(client)
    assert len(found) == traces
    for one in found:
        assert (one["span_count"], one["version"]) == (spans, spans)
        # The first span stands around the others: it is no call of its own.
        assert one["tokens"]["input_tokens"] == 10 * (spans - 1)


def test_nul_and_half_of_a_surrogate_pair_are_stored_as_a_visible_stand_in(client: TestClient):
    span = a_span(3, 1, attributes={"a\0b": "c\0d", "gen_ai.conversation.id": "e\0"})
    body = json.dumps(request({**span, "name": "n\0\ud83d"}))
    assert client.post("/v1/traces", content=body, headers=JSON).status_code == 200

    [one] = summaries(client, filter='session.id = "e\ufffd"')
    assert (one["name"], one["session_id"]) == ("n\ufffd\ufffd", "e\ufffd")
    detail = client.get(f"{TRACES}/{one['trace_id']}").json()
    assert detail["spans"][0]["attributes"]["a\ufffdb"] == "c\ufffdd"


def test_projects_are_apart(client: TestClient, database: Database):
    with database.write() as connection:
        connection.execute(projects.insert().values(id=new_id(), name="other", created_us=now_us()))
    there = {"x-scorewright-project": "other"}
    assert client.post("/v1/traces", json=request(*WHOLE), headers=there).status_code == 200
    assert summaries(client) == []
    other = TRACES.replace("default", "other")
    assert len(client.get(other).json()["items"]) == 1
    trace = f"{1:032x}"
    assert client.get(f"{TRACES}/{trace}").status_code == 404
    assert client.delete(f"{TRACES}/{trace}").status_code == 404

    nowhere = client.post("/v1/traces", json={}, headers={"x-scorewright-project": "none"})
    assert nowhere.status_code == 404


def test_a_full_disk_is_an_error_to_come_back_from_and_stores_nothing(
    client: TestClient, database: Database
):
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has no such limit to set")

    def limit(connection: Any, _entry: object) -> None:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    database.engine.dispose()
    event.listen(database.engine, "connect", limit)
    spans = [a_span(n, n, attributes={"x": "y" * 2_000}) for n in range(1, 50)]
    answer = client.post("/v1/traces", json=request(*spans))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")

    event.remove(database.engine, "connect", limit)
    database.engine.dispose()
    assert summaries(client) == []
    send(client, *spans)
    assert len(summaries(client, limit=100)) == 49


def test_requests_beyond_those_that_fit_into_memory_are_told_to_come_back(database: Database):
    ensure_default_project(database)
    limits = IngestLimits(at_once=1, waiting=-1)
    with new_client(Context(database, ingest_limits=limits)) as client:
        answer = client.post("/v1/traces", json=request(*WHOLE))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")


def test_a_span_with_extremes_is_stored(client: TestClient):
    extreme = {
        **a_span(4, 1, attributes={"k" * 5_000: "v", "gen_ai.conversation.id": "s" * 20_000}),
        "name": "n" * 20_000,
        "startTimeUnixNano": str(2**64 - 1),
        "endTimeUnixNano": str(2**64 - 1),
    }
    send(client, extreme)

    [one] = summaries(client)
    assert (len(one["name"]), len(one["session_id"])) == (20_000, 20_000)
    assert one["start_time"].startswith("2554-")


def test_rows_and_spans_of_a_trace_go_together(client: TestClient, database: Database):
    send(client, *WHOLE)
    client.delete(f"{TRACES}/{1:032x}")

    with database.read() as connection:
        for table in ("traces", "spans"):
            assert connection.scalar(sa.text(f"SELECT count(*) FROM {table}")) == 0  # noqa: S608 - our own names
