"""Tasks: made only when they are ready to run, found by name, changed by one person at a time."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from run_parts import numbers_source, numbers_task

TASKS = "/api/v1/projects/default/tasks"


def create(client: TestClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = client.post(TASKS, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_a_task_is_found_by_name_and_id_and_says_all_that_was_said(client: TestClient):
    body = numbers_task(5, "parity", name="Every Night")
    body["settings"] = {"filter": "n > 2", "sample_rate": 0.5, "limit": 3, "timeout_s": 2}

    made = create(client, body)

    for ref in ("Every Night", "every night", made["id"]):
        answer = client.get(f"{TASKS}/{ref}")
        assert answer.json() == made
        assert answer.headers["etag"] == '"1"'
    assert made["source"] == {**numbers_source(5), "version": "latest", "filter": None}
    assert made["settings"]["filter"] == "n > 2"
    assert made["evaluators"][0]["evaluator"] == "parity"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        (
            {"evaluators": [{"evaluator": "parity"}, {"evaluator": "nobody"}]},
            "/evaluators/1/evaluator",
        ),
        ({"evaluators": [{"evaluator": "parity", "version": 2}]}, "/evaluators/0/evaluator"),
        ({"evaluators": [{"evaluator": "strict"}]}, "/evaluators/0/mapping"),
        (
            {"evaluators": [{"evaluator": "strict", "mapping": {"ansver": "n"}}]},
            "/evaluators/0/mapping",
        ),
        ({"evaluators": [{"evaluator": "parity", "params": {"x": 1}}]}, "/evaluators/0/params"),
        ({"evaluators": [{"evaluator": "parity"}] * 2}, "/evaluators/1/name"),
        ({"evaluators": []}, "/evaluators"),
        ({"source": {"kind": "nothing"}}, "/source/kind"),
        ({"source": {}}, "/source/kind"),
        ({"source": {"kind": "items", "items": [{"n": 1}, 2]}}, "/source/items/1"),
        ({"source": {"kind": "items", "items": []}}, "/source/items"),
        ({"settings": {"filter": "m = 1"}}, "/settings/filter"),
        ({"settings": {"sample_rate": 2}}, "/settings/sample_rate"),
        ({"settings": {"limit": 0}}, "/settings/limit"),
        ({"name": " x"}, "/name"),
        ({"name": "a/b"}, "/name"),
        ({"name": "a\0b"}, "/name"),
        ({"name": "x" * 129}, "/name"),
        ({"unknown": 1}, "/unknown"),
    ],
)
def test_what_is_wrong_is_pointed_at_and_nothing_is_made(
    change: dict[str, Any], pointer: str, client: TestClient
):
    answer = client.post(TASKS, json={**numbers_task(5, "parity"), **change})

    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert client.get(TASKS).json()["items"] == []


def test_a_mapping_makes_an_evaluator_ready(client: TestClient):
    body = numbers_task(5)
    body["evaluators"] = [{"evaluator": "strict", "mapping": {"answer": "n"}, "name": "mapped"}]

    assert create(client, body)["evaluators"][0]["name"] == "mapped"


def test_two_editors_notice_each_other(client: TestClient):
    create(client, numbers_task(5, "parity"))

    first = client.patch(f"{TASKS}/numbers", json={"description": "a"}, headers={"If-Match": '"1"'})
    second = client.patch(
        f"{TASKS}/numbers", json={"description": "b"}, headers={"If-Match": '"1"'}
    )

    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    assert second.status_code == 412
    assert client.patch(f"{TASKS}/numbers", json={}).status_code == 428
    assert client.get(f"{TASKS}/numbers").json()["description"] == "a"


def test_a_change_is_checked_as_a_new_task_is(client: TestClient):
    create(client, numbers_task(5, "parity"))
    create(client, numbers_task(5, "parity", name="other"))

    def patch(body: dict[str, Any]) -> int:
        return client.patch(f"{TASKS}/numbers", json=body, headers={"If-Match": "*"}).status_code

    assert patch({"evaluators": [{"evaluator": "strict"}]}) == 422
    assert patch({"name": "OTHER"}) == 409
    assert patch({"name": "Numbers"}) == 200
    assert client.get(f"{TASKS}/numbers").json()["name"] == "Numbers"


def test_a_deleted_task_keeps_its_name_and_can_be_restored(client: TestClient):
    made = create(client, numbers_task(5, "parity"))

    deleted = client.delete(f"{TASKS}/numbers", headers={"If-Match": '"1"'})

    assert deleted.json()["deleted_at"] is not None
    assert client.get(TASKS).json()["items"] == []
    assert [one["id"] for one in client.get(TASKS, params={"deleted": True}).json()["items"]] == [
        made["id"]
    ]
    assert client.post(TASKS, json=numbers_task(5, "parity")).status_code == 409
    assert client.post(f"{TASKS}/numbers/runs").status_code == 404
    assert client.post(f"{TASKS}/numbers/restore").json()["deleted_at"] is None
    assert client.post(f"{TASKS}/numbers/runs").status_code == 201


def test_copies_have_names_of_their_own(client: TestClient):
    create(client, numbers_task(5, "parity"))

    names = [client.post(f"{TASKS}/numbers/duplicate", json={}).json()["name"] for _ in range(3)]
    named = client.post(f"{TASKS}/numbers/duplicate", json={"name": "mine"})

    assert names == ["numbers (copy)", "numbers (copy 2)", "numbers (copy 3)"]
    assert named.json()["name"] == "mine"
    assert client.post(f"{TASKS}/numbers/duplicate", json={"name": "MINE"}).status_code == 409


def test_pages_come_newest_first_and_search_finds_names_and_texts(client: TestClient):
    for number in range(5):
        body = numbers_task(5, "parity", name=f"task {number}")
        create(client, {**body, "description": "100% ODD" if number % 2 else "even"})

    first = client.get(TASKS, params={"limit": 3}).json()
    second = client.get(TASKS, params={"limit": 3, "cursor": first["next_cursor"]}).json()
    found = client.get(TASKS, params={"search": "% odd"}).json()

    assert [one["name"] for one in first["items"]] == ["task 4", "task 3", "task 2"]
    assert [one["name"] for one in second["items"]] == ["task 1", "task 0"]
    assert second["next_cursor"] is None
    assert [one["name"] for one in found["items"]] == ["task 3", "task 1"]
    assert client.get(TASKS, params={"cursor": "x"}).status_code == 422


def test_unknown_tasks_are_not_found(client: TestClient):
    for ref in ("nothing", "0" * 32, "x" * 5_000):
        assert client.get(f"{TASKS}/{ref}").status_code == 404
        assert client.post(f"{TASKS}/{ref}/runs").status_code == 404
