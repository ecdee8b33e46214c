"""What is purged is gone for good with all that is its own, and nothing that is kept refers to it."""

from __future__ import annotations

from collections.abc import Generator

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient
from workplace import ROOT, ROWS, SOURCE, Workplace

from callers import new_client
from run_parts import numbers_task, work_off
from scorewright.api.context import Context
from scorewright.services import purging
from scorewright.services.server_parts import make_parts
from scorewright.storage.database import Database
from scorewright.storage.repositories import purges
from scorewright.storage.repositories.projects import ensure_default_project
from scorewright.storage.tables import (
    METADATA,
    audit,
    idempotency_keys,
    projects,
    result_times,
    results,
)

#: What is not of the things themselves.
KEPT = {"projects", "api_keys", "sessions", "audit", "executors", "idempotency_keys"}


def left(database: Database) -> set[str]:
    """Name the tables that hold something."""
    assert {audit.name, projects.name, idempotency_keys.name} < KEPT
    with database.read() as connection:
        return {
            table.name
            for table in METADATA.sorted_tables
            if table.name not in KEPT
            and connection.scalar(sa.select(sa.func.count()).select_from(table).where(*_own(table)))
        }


def _own(table: sa.Table) -> list[sa.ColumnElement[bool]]:
    """Leave out what a project's results came to over time: it is a history, which no purge changes."""
    if table is not result_times:
        return []
    return [table.c.scope_id.not_in(sa.select(projects.c.id))]


@pytest.fixture
def place(database: Database) -> Generator[Workplace]:
    """A server whose runs are over its own evaluators and datasets."""
    ensure_default_project(database)
    parts = make_parts(database)
    with new_client(Context(database, run_parts=parts)) as caller:
        found = Workplace(caller, database)
        found.evaluator()
        found.dataset()
        found.post(
            "/tasks",
            name="judged",
            source={"kind": "dataset", "dataset": "rows"},
            evaluators=[{"evaluator": "mine", "mapping": {"outputs": "n"}}],
        )
        yield found


def purge(place: Workplace, path: str) -> tuple[int, str]:
    answer = place.client.post(f"{ROOT}{path}/purge")
    return answer.status_code, answer.json()["detail"] if answer.content else ""


def test_all_is_given_back_from_the_runs_to_what_they_were_about(
    place: Workplace, database: Database
):
    run = f"/runs/{place.post('/tasks/judged/runs')['id']}"
    work_off(database, make_parts(database))
    again = f"/runs/{place.post(f'{run}/repeat', mode='all')['id']}"
    work_off(database, make_parts(database))
    for path in ("/tasks/judged", "/datasets/rows", "/evaluators/mine"):
        place.ask("DELETE", path)

    run_id, again_id = run.rpartition("/")[2], again.rpartition("/")[2]
    referred = f"referred to by task 'judged', run {again_id}, run {run_id}; purge these first"
    for path in ("/datasets/rows", "/evaluators/mine"):
        status, detail = purge(place, path)
        assert (status, detail.replace('"', "'").partition(" is ")[2]) == (409, referred)
    assert purge(place, "/tasks/judged")[0] == 409
    status, detail = purge(place, run)
    assert (status, again_id in detail) == (409, True)

    for path in (again, run, "/tasks/judged", "/datasets/rows", "/evaluators/mine"):
        assert purge(place, path) == (204, "")
        assert place.client.get(f"{ROOT}{path}").status_code == 404
        assert purge(place, path)[0] == 404
    assert left(database) == set()


def test_a_run_alone_keeps_what_it_was_about(place: Workplace, database: Database):
    place.post("/tasks/judged/runs")
    work_off(database, make_parts(database))
    for path in ("/tasks/judged", "/datasets/rows", "/evaluators/mine"):
        place.ask("DELETE", path)
    with database.write() as connection:  # as if the task were about something else by now
        connection.execute(sa.text("UPDATE tasks SET source = '{}', evaluators = '[]'"))

    for path in ("/datasets/rows", "/evaluators/mine"):
        status, detail = purge(place, path)
        assert (status, "by run " in detail) == (409, True), detail


def test_a_name_is_free_again(place: Workplace):
    place.ask("DELETE", "/tasks/judged")
    place.ask("DELETE", "/datasets/rows")
    place.ask("DELETE", "/evaluators/mine")
    for path in ("/tasks/judged", "/datasets/rows", "/evaluators/mine"):
        assert purge(place, path) == (204, "")

    assert place.post("/datasets", name="rows", rows=ROWS)["latest_version"]["number"] == 1
    assert place.post("/evaluators", name="mine", source=SOURCE)["name"] == "mine"


@pytest.mark.parametrize("path", ["/datasets/rows", "/evaluators/mine", "/tasks/judged"])
def test_what_is_not_deleted_is_not_purged(path: str, place: Workplace):
    status, detail = purge(place, path)

    assert status == 409
    assert "is not deleted" in detail
    assert place.client.get(f"{ROOT}{path}").status_code == 200


def test_a_run_that_is_not_over_is_not_purged(client: TestClient, database: Database):
    place = Workplace(client, database)
    run = place.run()
    assert purge(place, run)[0] == 409
    place.post(f"{run}/pause")
    assert purge(place, run)[0] == 409
    place.post(f"{run}/cancel")

    assert purge(place, run) == (204, "")


def test_a_purge_that_was_cut_off_is_seen_by_nobody_and_finished_at_the_next_start(
    client: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch
):
    place = Workplace(client, database)
    client.post(f"{ROOT}/tasks", json=numbers_task(30, "parity", "picky")).raise_for_status()
    run = f"/runs/{place.post('/tasks/numbers/runs')['id']}"
    work_off(database)
    monkeypatch.setattr(purges, "_BLOCK_RESULTS", 10)

    def cut_off(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(purging, "_remove_run", cut_off)
        assert client.post(f"{ROOT}{run}/purge").status_code == 500
    for path in (run, f"{run}/results", f"{run}/summary", f"{run}/events"):
        assert client.get(f"{ROOT}{path}").status_code == 404
    assert client.post(f"{ROOT}{run}/repeat", json={"mode": "failed"}).status_code == 404
    assert client.get(f"{ROOT}/runs").json()["items"] == []
    assert results.name in left(database)

    with new_client(Context(database)):
        assert left(database) == {"tasks", "result_times"}
