"""Runs over what a server keeps: evaluators by version, dataset rows by filter, traces, conversations and logs."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from callers import new_client
from run_parts import work_off
from scorewright.api.composition import make_context
from scorewright.domain.errors import UsageError
from scorewright.services.server_parts import make_parts
from scorewright.services.settings import Settings
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project

BASE = "/api/v1/projects/default"
EXAMPLES = Path(__file__).parents[2] / "examples"
FIRST = "def evaluate(output):\n    return {'score': 0, 'explanation': 'first'}\n"
SECOND = "def evaluate(output):\n    return {'score': 1, 'explanation': 'second'}\n"
WHOLE = """
def evaluate(trace: Trace) -> EvalResult:
    return EvalResult(score=1.0, explanation="seen")
"""


@pytest.fixture
def client(database: Database) -> Generator[TestClient]:
    ensure_default_project(database)
    with new_client(make_context(database, Settings())) as found:
        yield found


def made(answer: Any, status: int = 201) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def save(client: TestClient, name: str, source: str) -> None:
    made(client.post(f"{BASE}/evaluators", json={"name": name, "source": source}))


def begin(client: TestClient, name: str, source: Any, use: Any, **settings: Any) -> Any:
    body = {"name": name, "source": source, "evaluators": [use], "settings": settings}
    made(client.post(f"{BASE}/tasks", json=body))
    return made(client.post(f"{BASE}/tasks/{name}/runs"))


def finished(client: TestClient, database: Database, run: Any) -> list[Any]:
    work_off(database, make_parts(database))
    found = made(client.get(f"{BASE}/runs/{run['id']}"), 200)
    assert found["status"] == "completed", found
    return made(client.get(f"{BASE}/runs/{run['id']}/results"), 200)["items"]


def send_traces(client: TestClient) -> None:
    for line in (EXAMPLES / "support/traces.otlp.jsonl").read_bytes().splitlines():
        kind = {"Content-Type": "application/json"}
        made(client.post("/v1/traces", content=line, headers=kind), 200)


def test_the_latest_version_is_that_of_the_moment_when_the_run_was_made(
    client: TestClient, database: Database
):
    save(client, "tone", FIRST)
    items = {"kind": "items", "items": [{"output": "x"}]}
    run = begin(client, "a", items, {"evaluator": "tone"})
    change = {"source": SECOND}
    made(client.patch(f"{BASE}/evaluators/tone", json=change, headers={"If-Match": '"1"'}), 200)
    fixed = begin(client, "b", items, {"evaluator": "tone", "version": 1})
    latest = begin(client, "c", items, {"evaluator": "TONE"})

    said = [finished(client, database, one)[0]["explanation"] for one in (run, fixed, latest)]

    assert said == ["first", "first", "second"]
    usage = made(client.get(f"{BASE}/evaluators/tone/usage"), 200)
    assert [(one["name"], one["version"]) for one in usage["tasks"]] == [
        ("a", None),
        ("b", 1),
        ("c", None),
    ]


def test_filters_of_source_and_settings_both_hold_and_a_version_stays(
    client: TestClient, database: Database
):
    save(client, "tone", FIRST)
    rows = [{"output": str(n), "n": n} for n in range(20)]
    made(client.post(f"{BASE}/datasets", json={"name": "numbers", "rows": rows}))
    source = {"kind": "dataset", "dataset": "numbers", "filter": "n > 4 or n = 1"}
    run = begin(client, "a", source, {"evaluator": "tone"}, filter="n < 7")

    assert run["source"]["version"] == 1
    assert len(finished(client, database, run)) == 3
    wrong = {"kind": "dataset", "dataset": "numbers", "filter": "m > 4"}
    body = {"name": "b", "source": wrong, "evaluators": [{"evaluator": "tone"}]}
    refused = made(client.post(f"{BASE}/tasks", json=body), 422)
    assert refused["errors"][0]["pointer"] == "/source/filter"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ({"kind": "traces"}, 24),
        ({"kind": "traces", "filter": 'trace.environment = "staging"'}, 6),
        ({"kind": "traces", "to": "2026-03-02T09:10:00Z"}, 6),
        ({"kind": "traces", "from": "2026-03-02T11:10:00+02:00", "to": "2027-01-01T00:00:00Z"}, 18),
        ({"kind": "traces", "arrived_by": "2026-03-02T09:10:00Z"}, 0),
        ({"kind": "conversations", "previous_turns": True}, None),
        ({"kind": "trajectories"}, 24),
        ({"kind": "logs"}, 0),
    ],
)
def test_what_was_sent_is_a_source_in_samples_as_in_tasks(
    source: dict[str, Any], count: int | None, client: TestClient
):
    send_traces(client)

    sample = made(client.post(f"{BASE}/sources/sample", json={"source": source, "n": 100}), 200)

    assert sample["size"] == len(sample["items"])
    assert sample["size"] == count if count is not None else 0 < sample["size"] <= 24


@pytest.mark.parametrize(
    ("source", "pointer"),
    [
        ({"kind": "traces", "from": "2026-03-02T09:10:00"}, "/source/from"),
        ({"kind": "traces", "filter": "trace.environment ="}, "/source/filter"),
        ({"kind": "logs", "filter": "x = 1"}, "/source/filter"),
        ({"kind": "traces", "traces": 1}, "/source/traces"),
    ],
)
def test_what_is_wrong_about_a_source_is_pointed_at(
    source: dict[str, Any], pointer: str, client: TestClient
):
    save(client, "whole", WHOLE)
    body = {"name": "a", "source": source, "evaluators": [{"evaluator": "whole"}]}

    for answer in (
        client.post(f"{BASE}/sources/sample", json={"source": source}),
        client.post(f"{BASE}/tasks", json=body),
    ):
        assert made(answer, 422)["errors"][0]["pointer"] == pointer


def test_a_server_runs_nothing_without_a_sandbox():
    with pytest.raises(UsageError, match="without a sandbox"):
        Settings(runner="local")
    with pytest.raises(UsageError, match="no such runner"):
        Settings(runner="jial")
