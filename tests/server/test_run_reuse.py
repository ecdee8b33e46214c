"""Runs take over what earlier runs of their project have found, where it must come out the same, and say so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from run_parts import make_parts, numbers_source, numbers_task, work_off
from scorewright.services.evaluation import Evaluation
from scorewright.services.plan import Settings, Task
from scorewright.services.runner_choice import Runners
from scorewright.storage.database import Database

BASE = "/api/v1/projects/default"
ITEMS = 60


def run_once(
    client: TestClient, database: Database, folder: Path | None, body: dict[str, Any]
) -> tuple[list[dict[str, Any]], list[int]]:
    """Run a task; returns its results, and of each evaluator how many were taken over."""
    assert client.post(f"{BASE}/tasks", json=body).status_code in (201, 409)
    run = client.post(f"{BASE}/tasks/{body['name']}/runs").json()
    work_off(database, cache_folder=folder)
    path = f"{BASE}/runs/{run['id']}"
    assert client.get(path).json()["status"] == "completed"
    results = client.get(f"{path}/results", params={"limit": 500}).json()["items"]
    summary = client.get(f"{path}/summary").json()["evaluators"]
    return results, [one["reused"] for one in summary]


def what_counts(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    left_out = ("reused", "duration_ms", "created_at", "run_id")
    return [{key: one[key] for key in one if key not in left_out} for one in results]


def test_an_unchanged_evaluator_is_not_asked_twice_about_unchanged_items(
    client: TestClient, database: Database, tmp_path: Path
):
    body = numbers_task(ITEMS, "parity", "picky")

    first, of_first = run_once(client, database, tmp_path, body)
    second, of_second = run_once(client, database, tmp_path, body)

    assert of_first == [0, 0]
    assert what_counts(second) == what_counts(first)
    succeeded = [one["status"] != "failed" for one in first]
    assert [one["reused"] for one in second] == succeeded  # failures are judged again
    assert sum(of_second) == sum(succeeded) > ITEMS


def test_a_task_may_have_everything_judged_afresh(
    client: TestClient, database: Database, tmp_path: Path
):
    body = numbers_task(ITEMS, "parity")
    run_once(client, database, tmp_path, body)

    afresh = {**body, "name": "afresh", "settings": {"reuse": False}}
    _, reused = run_once(client, database, tmp_path, afresh)
    _, again = run_once(client, database, tmp_path, body)

    assert (reused, again) == ([0], [ITEMS])
    assert client.get(f"{BASE}/tasks/afresh").json()["settings"]["reuse"] is False


def test_without_a_folder_nothing_is_kept(client: TestClient, database: Database):
    body = numbers_task(ITEMS, "parity")
    assert [run_once(client, database, None, body)[1] for _ in range(2)] == [[0], [0]]


def test_a_damaged_file_costs_nothing_but_time(
    client: TestClient, database: Database, tmp_path: Path
):
    body = numbers_task(ITEMS, "parity")
    first, _ = run_once(client, database, tmp_path, body)
    for path in tmp_path.glob("results-*"):
        path.write_bytes(b"no database" * 1000)

    second, reused = run_once(client, database, tmp_path, body)

    assert reused == [0]
    assert what_counts(second) == what_counts(first)
    taken_over = [run_once(client, database, tmp_path, body)[1] for _ in range(2)]
    assert taken_over == [[0], [ITEMS]]  # the file was made anew


def test_results_of_another_project_are_never_taken_over(tmp_path: Path):
    parts = make_parts()
    source = parts.open_source("", numbers_source(ITEMS), ())
    runners = Runners("auto")

    def reused(owner: str) -> list[int]:
        found = parts.find_evaluator("", "parity", None).evaluator
        task = Task(evaluator=found, runner=runners.for_evaluator(found))
        settings = Settings(workers=1, cache_folder=tmp_path, cache_owner=owner)
        evaluation = Evaluation(source, [task], settings=settings)
        list(evaluation.run())
        return evaluation.report.reused

    try:
        found = [reused(owner) for owner in ("one/", "another/", "one/", "")]
    finally:
        runners.close()
    assert found == [[0], [0], [ITEMS], [0]]
