"""Sources over the API: their fields and first items."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

ROOT = "/api/v1/projects/default"
ROWS = [{"input": f"Boots {n}?", "price": n} for n in range(1, 21)]
SOURCE: dict[str, Any] = {"kind": "dataset", "dataset": "rows"}


@pytest.fixture
def caller(client: TestClient) -> TestClient:
    assert client.post(f"{ROOT}/datasets", json={"name": "rows", "rows": ROWS}).status_code == 201
    return client


def fields(caller: TestClient, source: Any, **more: str) -> Any:
    return caller.get(f"{ROOT}/sources/fields", params={"source": json.dumps(source), **more})


def sample(caller: TestClient, **body: Any) -> Any:
    return caller.post(f"{ROOT}/sources/sample", json={"source": SOURCE, **body})


def test_the_fields_of_a_dataset_are_its_columns(caller: TestClient):
    answer = fields(caller, SOURCE)

    assert answer.json() == {
        "noun": "row",
        "size": 20,
        "level": "record",
        "fields": [
            {"name": "input", "description": "string"},
            {"name": "price", "description": "integer"},
        ],
    }


def test_a_sample_holds_the_first_items_that_match(caller: TestClient):
    first = sample(caller, n=2).json()
    matching = sample(caller, source={**SOURCE, "filter": "price > 17"}).json()

    assert [item["data"] for item in first["items"]] == ROWS[:2]
    assert (first["size"], first["scanned"], first["stopped_early"]) == (20, 2, False)
    assert [item["number"] for item in matching["items"]] == [18, 19, 20]
    assert [item["item_id"] for item in matching["items"]] == ["18", "19", "20"]
    assert matching["scanned"] == 20


def test_a_version_is_named_by_number(caller: TestClient):
    caller.post(f"{ROOT}/datasets/rows/versions", json={"rows": [{"new": 1}]})

    assert [f["name"] for f in fields(caller, SOURCE).json()["fields"]] == ["new"]
    assert fields(caller, {**SOURCE, "version": 1}).json()["size"] == 20


@pytest.mark.parametrize(
    ("source", "pointer"),
    [
        ({"kind": "dataset", "dataset": "nothing"}, "/source/dataset"),
        ({"kind": "dataset", "dataset": "rows", "version": 9}, "/source/version"),
        ({"kind": "dataset", "dataset": "rows", "version": 0}, "/source/version"),
        ({"kind": "dataset", "dataset": "rows", "filter": "colour = 1"}, "/source/filter"),
        ({"kind": "dataset", "dataset": "rows", "filter": "price >"}, "/source/filter"),
        ({"kind": "other", "dataset": "rows"}, "/source/kind"),
        ({"kind": "dataset"}, "/source/dataset"),
        ({"kind": "dataset", "dataset": "rows", "x": 1}, "/source/x"),
    ],
)
def test_a_description_of_nothing_is_pointed_at(
    source: dict[str, Any], pointer: str, caller: TestClient
):
    answer = sample(caller, source=source)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
    if "filter" not in source:
        assert fields(caller, source).status_code == 422


def test_what_is_no_description_is_refused(caller: TestClient):
    for text in ("", "x", "[]", "{}", "\0"):
        answer = caller.get(f"{ROOT}/sources/fields", params={"source": text})
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
    assert fields(caller, SOURCE, level="llm").status_code == 422
    assert sample(caller, level="agent").status_code == 422
    assert sample(caller, n=101).status_code == 422


def test_a_deleted_dataset_is_no_source(caller: TestClient):
    caller.delete(f"{ROOT}/datasets/rows", headers={"If-Match": "*"})

    answer = sample(caller)

    assert answer.status_code == 422
    assert "restore it" in answer.json()["detail"]
