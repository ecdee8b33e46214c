"""Whatever a caller changes is noted, with who did it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from sent_spans import a_span, request
from starlette.testclient import TestClient

from run_parts import numbers_task, work_off
from scorewright.storage.database import Database
from scorewright.storage.tables import audit

ROOT = "/api/v1/projects/default"
SOURCE = "def evaluate(inputs, outputs, trace):\n    return {'score': 1, 'explanation': ''}\n"
ROWS = [{"n": 1}, {"n": 2}]
ANY = {"If-Match": "*"}
#: What notes nothing, and why.
EXEMPT = {
    "parse_evaluator": "nothing is stored",
    "check_evaluator": "nothing is stored",
    "preview_evaluators": "nothing is stored",
    "sample_source": "nothing is stored",
    "export_traces": "applications send them all the time; what arrives is the record itself",
    "export_logs": "as export_traces",
    "create_project": "noted in the project that it makes: tests/server/test_projects.py",
}


class Workplace:
    """What requests are made about."""

    def __init__(self, client: TestClient, database: Database) -> None:
        self.client = client
        self.database = database

    def ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        path = path if path.startswith(("/api/", "/v1/")) else f"{ROOT}{path}"
        answer = self.client.request(method, path, headers=ANY, **options)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else {}

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        return self.ask("POST", path, json=body)

    def evaluator(self) -> str:
        self.post("/evaluators", name="mine", source=SOURCE)
        return "/evaluators/mine"

    def dataset(self) -> str:
        self.post("/datasets", name="rows", rows=ROWS)
        return "/datasets/rows"

    def task(self) -> str:
        return f"/tasks/{self.post('/tasks', **numbers_task(2, 'parity'))['id']}"

    def run(self) -> str:
        return f"/runs/{self.post(f'{self.task()}/runs')['id']}"

    def key(self) -> str:
        return f"/api-keys/{self.post('/api-keys', name='k', scopes=['read'])['id']}"

    def deleted(self, path: str) -> str:
        self.ask("DELETE", path)
        return path

    def paused(self) -> str:
        path = self.run()
        self.post(f"{path}/pause")
        return path

    def ended(self) -> str:
        path = self.run()
        work_off(self.database)
        return path

    def log_in(self) -> str:
        secret = self.client.headers["Authorization"].removeprefix("Bearer ")
        self.post("/api/v1/session", token=secret)
        return "/api/v1/session"

    def trace(self) -> str:
        self.ask("POST", "/v1/traces", json=request(a_span(1, 1)))
        return f"/traces/{1:032x}"


Prepare = Callable[[Workplace], tuple[str, dict[str, Any]]]
#: By operation: the path to ask for once what it needs is there, and the body.
CHANGES: dict[str, Prepare] = {
    "create_api_key": lambda _: ("/api-keys", {"json": {"name": "k", "scopes": ["read"]}}),
    "revoke_api_key": lambda at: (at.key(), {}),
    "create_dataset": lambda _: ("/datasets", {"json": {"name": "rows", "rows": ROWS}}),
    "upload_dataset": lambda _: (
        "/datasets/upload",
        {"files": {"file": ("rows.jsonl", b'{"n": 1}\n')}},
    ),
    "upload_dataset_version": lambda at: (
        f"{at.dataset()}/versions/upload",
        {"files": {"file": ("rows.jsonl", b'{"n": 1}\n')}},
    ),
    "create_dataset_version": lambda at: (f"{at.dataset()}/versions", {"json": {"rows": ROWS}}),
    "describe_dataset": lambda at: (at.dataset(), {"json": {"description": "other"}}),
    "delete_dataset": lambda at: (at.dataset(), {}),
    "restore_dataset": lambda at: (f"{at.deleted(at.dataset())}/restore", {}),
    "edit_dataset_rows": lambda at: (
        f"{at.dataset()}/rows",
        {"json": {"changes": [{"op": "delete", "number": 1}]}},
    ),
    "create_evaluator": lambda _: ("/evaluators", {"json": {"name": "mine", "source": SOURCE}}),
    "edit_evaluator": lambda at: (at.evaluator(), {"json": {"description": "other"}}),
    "delete_evaluator": lambda at: (at.evaluator(), {}),
    "restore_evaluator": lambda at: (f"{at.deleted(at.evaluator())}/restore", {}),
    "duplicate_evaluator": lambda at: (f"{at.evaluator()}/duplicate", {"json": {}}),
    "create_task": lambda _: ("/tasks", {"json": numbers_task(2, "parity")}),
    "change_task": lambda at: (at.task(), {"json": {"description": "other"}}),
    "delete_task": lambda at: (at.task(), {}),
    "restore_task": lambda at: (f"{at.deleted(at.task())}/restore", {}),
    "duplicate_task": lambda at: (f"{at.task()}/duplicate", {"json": {}}),
    "start_run": lambda at: (f"{at.task()}/runs", {}),
    "cancel_run": lambda at: (f"{at.run()}/cancel", {}),
    "pause_run": lambda at: (f"{at.run()}/pause", {}),
    "resume_run": lambda at: (f"{at.paused()}/resume", {}),
    "repeat_run": lambda at: (f"{at.ended()}/repeat", {"json": {"mode": "all"}}),
    "delete_trace": lambda at: (at.trace(), {}),
    "log_in": lambda at: (
        "/api/v1/session",
        {"json": {"token": at.client.headers["Authorization"].removeprefix("Bearer ")}},
    ),
    "log_out": lambda at: (at.log_in(), {}),
}


def operations(client: TestClient) -> dict[str, str]:
    """Methods of what changes something, by operation."""
    app = client.app
    assert isinstance(app, FastAPI)
    return {
        operation["operationId"]: method
        for methods in app.openapi()["paths"].values()
        for method, operation in methods.items()
        if method != "get"
    }


def entries(database: Database) -> list[tuple[str, str, str]]:
    wanted = sa.select(audit.c.actor_name, audit.c.kind, audit.c.action)
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(wanted.order_by(audit.c.id))]  # type: ignore[misc]


def test_every_operation_that_changes_something_is_tried_here_or_exempt(client: TestClient):
    assert set(operations(client)) == {*CHANGES, *EXEMPT}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_noted_once_with_who_made_it(name: str, client: TestClient, database: Database):
    place = Workplace(client, database)
    path, options = CHANGES[name](place)
    before = entries(database)

    place.ask(operations(client)[name].upper(), path, **options)

    (noted,) = entries(database)[len(before) :]
    assert noted[0] == "tests"


def test_what_is_refused_notes_nothing(client: TestClient, database: Database):
    place = Workplace(client, database)
    place.dataset()
    before = entries(database)

    assert client.post(f"{ROOT}/datasets", json={"name": "rows", "rows": ROWS}).status_code == 409
    assert client.post(f"{ROOT}/tasks", json=numbers_task(2, "nobody")).status_code == 422

    assert entries(database) == before


def test_every_creation_takes_an_idempotency_key_but_that_of_secrets_and_of_projects(
    client: TestClient,
):
    app = client.app
    assert isinstance(app, FastAPI)
    posts = [methods["post"] for methods in app.openapi()["paths"].values() if "post" in methods]
    creating = {post["operationId"] for post in posts if "201" in post["responses"]}
    taking = {
        post["operationId"]
        for post in posts
        if any(one["name"] == "Idempotency-Key" for one in post.get("parameters", ()))
    }

    assert len(taking) > 8
    assert creating - taking == {"create_api_key", "create_project"}


@pytest.mark.parametrize(
    "name",
    "create_dataset upload_dataset upload_dataset_version create_dataset_version create_evaluator "
    "duplicate_evaluator create_task duplicate_task start_run repeat_run".split(),
)
def test_a_creation_that_is_sent_again_is_done_once(
    name: str, client: TestClient, database: Database
):
    path, options = CHANGES[name](Workplace(client, database))
    before = len(entries(database))

    answers = [
        client.post(f"{ROOT}{path}", headers={"Idempotency-Key": "mine"}, **options)
        for _ in range(2)
    ]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    assert len(entries(database)) == before + 1
