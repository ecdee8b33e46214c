"""Stored traces: listed in pages, found by time and words, read with their spans, deleted."""

from __future__ import annotations

from typing import Any

import pytest
from sent_spans import START_NS, TRACES, a_span, ids, recorded, send, spans_of
from starlette.testclient import TestClient

from scorewright.telemetry.assembly import assemble
from scorewright.telemetry.items import compact_spans


def at(second: int) -> dict[str, Any]:
    start = START_NS + second * 1_000_000_000
    return {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 1_000_000)}


def page_through(client: TestClient, limit: int, **asked: Any) -> list[int]:
    found: list[int] = []
    while True:
        page = client.get(TRACES, params={**asked, "limit": limit}).json()
        assert len(page["items"]) <= limit
        found += [int(one["trace_id"], 16) for one in page["items"]]
        if page["next_cursor"] is None:
            return found
        asked["cursor"] = page["next_cursor"]


def test_the_latest_come_first_and_those_of_unknown_start_last(client: TestClient):
    send(client, *(a_span(n, 1, **at(n % 3)) for n in range(1, 8)))
    send(client, a_span(9, 1, startTimeUnixNano="0"), a_span(8, 1, startTimeUnixNano="0"))

    expected = [5, 2, 7, 4, 1, 6, 3, 9, 8]
    assert ids(client) == expected
    for limit in (1, 2, 8, 9, 10):
        assert page_through(client, limit) == expected


def test_what_comes_meanwhile_shifts_nothing(client: TestClient):
    send(client, *(a_span(n, 1, **at(n)) for n in range(1, 5)))
    page = client.get(TRACES, params={"limit": 2}).json()
    send(client, a_span(5, 1, **at(5)))

    rest = client.get(TRACES, params={"limit": 2, "cursor": page["next_cursor"]}).json()
    assert [int(one["trace_id"], 16) for one in rest["items"]] == [2, 1]
    assert rest["next_cursor"] is None


def test_a_window_is_of_the_traces_own_times(client: TestClient):
    send(client, *(a_span(n, 1, **at(n)) for n in range(1, 5)))
    send(client, a_span(9, 1, startTimeUnixNano="0"))
    second = "2026-05-28T20:26:4{}Z".format

    assert ids(client, **{"from": second(2)}) == [4, 3, 2]
    assert ids(client, to=second(2)) == [1]
    assert ids(client, **{"from": second(2), "to": "2026-05-28T22:26:44+02:00"}) == [3, 2]
    assert ids(client, **{"from": "1969-01-01T00:00:00Z"}) == [4, 3, 2, 1]
    assert client.get(TRACES, params={"from": "2026-05-28T20:26:42"}).status_code == 422


def test_words_are_looked_for_in_names_ids_sessions_questions_and_answers(client: TestClient):
    session = {"gen_ai.conversation.id": "Session-7"}
    send(client, a_span(1, 1, name="Buy 100%"), a_span(2, 1, attributes=session))
    send(
        client,
        a_span(
            0xABC,
            1,
            attributes={"input.value": "Wo ist ÄRGER?", "openinference.span.kind": "CHAIN"},
        ),
    )

    assert ids(client, search="buy") == [1]
    assert ids(client, search="100%") == [1]
    assert ids(client, search="_") == []
    assert ids(client, search="session-7") == [2]
    assert ids(client, search="abc") == [0xABC]
    assert ids(client, search="IST Ä") == [0xABC]
    # Letters beyond ASCII have one case, on every database.
    assert ids(client, search="ä") == []
    assert ids(client, search="\0") == []
    assert client.get(TRACES, params={"search": "x" * 201}).status_code == 422


@pytest.mark.parametrize("path", recorded(), ids=lambda path: path.name)
def test_spans_are_told_in_tree_order_page_by_page(path: Any, client: TestClient):
    client.post(
        "/v1/traces", content=path.read_bytes(), headers={"content-type": "application/json"}
    )
    for trace in assemble(spans_of(path)):
        expected = compact_spans(trace)
        url = f"{TRACES}/{trace.root.trace_id}"
        spans: list[dict[str, Any]] = []
        asked: dict[str, Any] = {"limit": 2}
        while True:
            detail = client.get(url, params=asked).json()
            spans += detail["spans"]
            if detail["next_cursor"] is None:
                break
            asked["cursor"] = detail["next_cursor"]
        assert [span.pop("depth") for span in spans] == list(trace.tree.depths)
        assert spans == expected


def test_a_circle_of_parents_is_shown_whole_and_told_of(client: TestClient):
    send(client, a_span(1, 1, 3), a_span(1, 2, 1), a_span(1, 3, 2))

    detail = client.get(f"{TRACES}/{1:032X}").json()
    assert [span["span_id"][-1] for span in detail["spans"]] == ["1", "2", "3"]
    assert "circle" in " ".join(detail["notices"])


def test_pages_of_a_trace_that_changed_meanwhile_are_not_mixed(client: TestClient):
    send(client, *(a_span(1, n) for n in range(1, 5)))
    url = f"{TRACES}/{1:032x}"
    cursor = client.get(url, params={"limit": 2}).json()["next_cursor"]
    send(client, a_span(1, 5))

    assert client.get(url, params={"cursor": cursor}).status_code == 412


@pytest.mark.parametrize("wrong", ["x", "0" * 32, "1" * 31, "1" * 4_000, "%00", "ä"])
def test_an_id_that_is_none_is_not_found(wrong: str, client: TestClient):
    for call in (client.get, client.delete):
        assert call(f"{TRACES}/{wrong}").status_code == 404


def test_spans_that_arrive_after_a_trace_was_deleted_make_it_anew(client: TestClient):
    send(client, a_span(1, 1), a_span(1, 2, 1))
    assert client.delete(f"{TRACES}/{1:032x}").status_code == 204
    send(client, a_span(1, 2, 1))

    detail = client.get(f"{TRACES}/{1:032x}").json()
    assert (detail["trace"]["version"], len(detail["spans"])) == (1, 1)
