"""A server with something in it, and of each operation a request that it does: what tests of all routes ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fastapi import FastAPI
from sent_spans import a_span, request
from starlette.testclient import TestClient

from run_parts import numbers_task, work_off
from scorewright.storage.database import Database

ROOT: Final = "/api/v1/projects/default"
SOURCE: Final = (
    "def evaluate(inputs, outputs, trace):\n    return {'score': 1, 'explanation': ''}\n"
)
ROWS: Final = [{"n": 1}, {"n": 2}]
ANY: Final = {"If-Match": "*"}


def described(client: TestClient) -> dict[str, Any]:
    """Return the description of the API that a server gives."""
    app = client.app
    assert isinstance(app, FastAPI)
    return app.openapi()


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
        self.ask("POST", "/v1/traces", json=request(a_span(1, 1), a_span(1, 2, 1)))
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
    "add_traces_to_dataset": lambda at: (
        f"{at.dataset()}/versions/from-traces",
        {"json": {"item_ids": [at.trace().rpartition("/")[2]]}},
    ),
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
    "purge_dataset": lambda at: (f"{at.deleted(at.dataset())}/purge", {}),
    "purge_evaluator": lambda at: (f"{at.deleted(at.evaluator())}/purge", {}),
    "purge_task": lambda at: (f"{at.deleted(at.task())}/purge", {}),
    "purge_run": lambda at: (f"{at.ended()}/purge", {}),
    "delete_trace": lambda at: (at.trace(), {}),
    "log_in": lambda at: (
        "/api/v1/session",
        {"json": {"token": at.client.headers["Authorization"].removeprefix("Bearer ")}},
    ),
    "log_out": lambda at: (at.log_in(), {}),
}
