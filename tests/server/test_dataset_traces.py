"""Stored traces become testcases: the fields that were asked for, and where each row comes from."""

from __future__ import annotations

from typing import Any

import pytest
from sent_spans import a_span, send
from starlette.testclient import TestClient

ROOT = "/api/v1/projects/default"
PATH = f"{ROOT}/datasets/rows/versions/from-traces"


def _said(question: str, answer: str) -> dict[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m",
        "gen_ai.input.messages": f'[{{"role":"user","parts":[{{"type":"text","content":"{question}"}}]}}]',
        "gen_ai.output.messages": f'[{{"role":"assistant","parts":[{{"type":"text","content":"{answer}"}}]}}]',
    }


@pytest.fixture
def caller(client: TestClient) -> TestClient:
    for number in (1, 2, 3):
        send(client, a_span(number, number, attributes=_said(f"q{number}", f"a{number}")))
    body = {"name": "rows", "rows": [{"input": "old", "expected": "kept"}]}
    assert client.post(f"{ROOT}/datasets", json=body).status_code == 201
    return client


def add(caller: TestClient, **body: Any) -> dict[str, Any]:
    answer = caller.post(PATH, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def rows(caller: TestClient) -> list[dict[str, Any]]:
    found = caller.get(f"{ROOT}/datasets/rows/versions/latest/rows").json()["items"]
    return [one["data"] for one in found]


def test_traces_stand_behind_the_rows_that_are_there_with_their_ids(caller: TestClient):
    added = add(caller, filter='trace.input != "q2"', note="from production")

    assert (added["added"], added["found"], added["version"]["number"]) == (2, 2, 2)
    assert added["version"]["note"] == "from production"
    assert rows(caller) == [
        {"input": "old", "expected": "kept"},
        {"input": "q1", "output": "a1", "trace_id": f"{1:032x}"},
        {"input": "q3", "output": "a3", "trace_id": f"{3:032x}"},
    ]
    columns = {one["name"]: one["nulls"] for one in added["version"]["columns"]}
    assert columns == {"input": 0, "expected": 2, "output": 1, "trace_id": 1}


def test_fields_become_the_columns_that_are_asked_for(caller: TestClient):
    columns = {"question": "trace.input", "expected": "trace.output", "none": "trace.input.deep"}
    add(caller, item_ids=[f"{2:032x}"], columns=columns)

    assert rows(caller)[1:] == [
        {"question": "q2", "expected": "a2", "none": None, "trace_id": f"{2:032x}"}
    ]


def test_model_calls_become_rows_with_their_spans(caller: TestClient):
    item_id = f"{3:032x}/{3:016x}"

    add(caller, item_ids=[item_id], level="llm", columns={"answer": "llm.output"})

    trace_id, span_id = item_id.split("/")
    assert rows(caller)[1:] == [{"answer": "a3", "trace_id": trace_id, "span_id": span_id}]


def test_a_search_adds_no_more_than_its_limit_and_says_how_many_there_were(caller: TestClient):
    added = add(caller, limit=2)

    assert (added["added"], added["found"]) == (2, 3)
    assert [row["input"] for row in rows(caller)] == ["old", "q1", "q2"]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"item_ids": ["0" * 32]}, "/item_ids/0"),
        ({"item_ids": [f"{1:032x}", f"{1:032x}/{9:016x}"], "level": "llm"}, "/item_ids/0"),
        ({"columns": {"a/b": "trace.inptu"}}, "/columns/a~1b"),
        ({"columns": {"a": "trace..input"}}, "/columns/a"),
        ({"columns": {"trace_id": "trace.name"}}, "/columns/trace_id"),
        ({"filter": "trace.nothing ="}, "/filter"),
        ({"item_ids": [f"{1:032x}"], "filter": "trace.name = 1"}, ""),
        ({"limit": 0}, "/limit"),
        ({"from": "2020-01-01T00:00:00"}, "/from"),
    ],
)
def test_what_cannot_be_meant_is_pointed_at_and_makes_no_version(
    body: dict[str, Any], pointer: str, caller: TestClient
):
    answer = caller.post(PATH, json=body)

    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert len(caller.get(f"{ROOT}/datasets/rows/versions").json()["items"]) == 1


def test_where_nothing_is_found_no_version_is_made(caller: TestClient):
    assert caller.post(PATH, json={"filter": 'trace.input = "q9"'}).status_code == 422
    assert caller.post(PATH, json={"level": "agent"}).status_code == 422
    assert len(caller.get(f"{ROOT}/datasets/rows/versions").json()["items"]) == 1


def test_traces_of_another_project_are_not_there(caller: TestClient):
    caller.post("/api/v1/projects", json={"name": "other"}).raise_for_status()
    caller.post("/api/v1/projects/other/datasets", json={"name": "rows", "rows": []})

    answer = caller.post(PATH.replace("default", "other"), json={"item_ids": [f"{1:032x}"]})

    assert answer.status_code == 422
