"""Projects over the API: made, listed, and each to itself."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from callers import new_client
from scorewright.services.access import create_key
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id
from scorewright.storage.tables.metadata import now_us

PROJECTS = "/api/v1/projects"


def test_a_project_is_made_and_holds_its_own(client: TestClient):
    answer = client.post(PROJECTS, json={"name": "support-bot"})
    assert answer.status_code == 201
    made = answer.json()
    assert client.get(f"{PROJECTS}/support-bot").json() == made
    assert [one["name"] for one in client.get(PROJECTS).json()["items"]] == [
        "support-bot",
        "default",
    ]

    rows = {"name": "rows", "rows": [{"n": 1}]}
    assert client.post(f"{PROJECTS}/support-bot/datasets", json=rows).status_code == 201

    assert client.get(f"{PROJECTS}/default/datasets").json()["items"] == []
    notes = client.get(f"{PROJECTS}/support-bot/audit").json()["items"]
    assert [(one["action"], one["kind"]) for one in notes] == [
        ("create", "dataset"),
        ("create", "project"),
    ]


def test_pages_of_projects_have_each_once(client: TestClient):
    for number in range(5):
        client.post(PROJECTS, json={"name": f"p{number}"}).raise_for_status()
    names: list[str] = []
    cursor: str | None = None
    while cursor or not names:
        page = client.get(PROJECTS, params={"limit": 2, **({"cursor": cursor} if cursor else {})})
        names += [one["name"] for one in page.json()["items"]]
        cursor = page.json()["next_cursor"]
    assert names == ["p4", "p3", "p2", "p1", "p0", "default"]


def test_a_name_is_taken_once(client: TestClient):
    answer = client.post(PROJECTS, json={"name": "default"})

    assert answer.status_code == 409
    assert answer.json()["errors"][0]["pointer"] == "/name"


@pytest.mark.parametrize("name", ["", "Upper", "1st", "a b", "a/b", "é", "a" * 65, "a\n", "-a"])
def test_names_that_no_address_should_hold_are_refused(client: TestClient, name: str):
    answer = client.post(PROJECTS, json={"name": name})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/name"


def test_a_key_of_one_project_sees_that_one_and_makes_none(database: Database, client: TestClient):
    client.post(PROJECTS, json={"name": "other"}).raise_for_status()
    key = create_key(
        database, project_id(database, "other"), name="k", scopes=["admin"], expires_us=None
    )
    with new_client(database, secret=key.secret) as of_one:
        assert [one["name"] for one in of_one.get(PROJECTS).json()["items"]] == ["other"]
        assert of_one.get(f"{PROJECTS}/other").status_code == 200
        assert of_one.get(f"{PROJECTS}/default").status_code == 404
        assert of_one.post(PROJECTS, json={"name": "third"}).status_code == 403


def test_traces_without_a_project_go_to_the_default_one_whatever_the_clock_said(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "scorewright.services.projects.now_us", lambda: now_us() - 10 * 365 * 86400 * 10**6
    )
    client.post(PROJECTS, json={"name": "older"}).raise_for_status()
    span = {
        "traceId": "0" * 31 + "1",
        "spanId": "0" * 15 + "1",
        "name": "call",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
    }
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    client.post("/v1/traces", json=body).raise_for_status()

    assert len(client.get(f"{PROJECTS}/default/traces").json()["items"]) == 1
    assert client.get(f"{PROJECTS}/older/traces").json()["items"] == []
