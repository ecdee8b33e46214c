"""Tasks and runs in any order of what can be done to them: every answer and every state is what a small model says."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from starlette.testclient import TestClient

from run_parts import make_parts, numbers_source
from scorewright.services.run_work import RunWork
from scorewright.storage.database import Database
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import shares as share_rows

#: Of them `picky` skips one and fails on another.
ITEMS: Final = 12
ENDED: Final = frozenset({"completed", "cancelled"})
_numbers = count(1)


@dataclass
class KnownTask:
    task_id: str
    name: str
    #: Whether something fails in its runs, so that there is something to be judged again.
    is_picky: bool
    is_deleted: bool = False
    is_purged: bool = False
    revision: int = 1
    runs: int = 0


@dataclass
class KnownRun:
    run_id: str
    task: KnownTask
    parent: KnownRun | None = None
    status: str = "queued"
    #: Results by item that a worker has stored, of this run or taken over.
    is_judged: bool = False
    is_purged: bool = False
    repeats: list[KnownRun] = field(default_factory=list["KnownRun"])


class Lifecycle(RuleBasedStateMachine):
    """One project; what a test gives is set on the class."""

    client: TestClient
    database: Database
    work: RunWork

    tasks = Bundle("tasks")
    runs = Bundle("runs")

    def __init__(self) -> None:
        super().__init__()
        self.project = f"p{next(_numbers)}"
        self.client.post("/api/v1/projects", json={"name": self.project}).raise_for_status()
        self.known_tasks: list[KnownTask] = []
        self.known_runs: list[KnownRun] = []

    def ask(self, method: str, path: str, **options: Any) -> tuple[int, Any]:
        answer = self.client.request(method, f"/api/v1/projects/{self.project}{path}", **options)
        assert answer.status_code < 500, answer.text
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
        return answer.status_code, answer.json() if answer.content else None

    # ── Tasks ──

    @initialize(target=tasks)
    def begin(self) -> KnownTask:
        return self.create(is_picky=True)

    @rule(target=tasks, is_picky=st.booleans())
    def create_task(self, *, is_picky: bool) -> KnownTask:
        return self.create(is_picky=is_picky)

    def create(self, *, is_picky: bool) -> KnownTask:
        name = f"task {len(self.known_tasks)}"
        body = {
            "name": name,
            "source": numbers_source(ITEMS),
            "evaluators": [{"evaluator": "picky" if is_picky else "parity"}],
        }
        status, made = self.ask("POST", "/tasks", json=body)
        assert status == 201
        assert self.ask("POST", "/tasks", json=body)[0] == 409
        return self.add_task(made, is_picky=is_picky)

    def add_task(self, made: Any, *, is_picky: bool) -> KnownTask:
        task = KnownTask(made["id"], made["name"], is_picky)
        self.known_tasks.append(task)
        return task

    @rule(target=tasks, task=tasks)
    def duplicate_task(self, task: KnownTask) -> KnownTask:
        status, made = self.ask("POST", f"/tasks/{task.task_id}/duplicate", json={})
        assert status == (404 if task.is_purged else 201)
        return task if task.is_purged else self.add_task(made, is_picky=task.is_picky)

    @rule(task=tasks, is_stale=st.booleans())
    def change_task(self, task: KnownTask, *, is_stale: bool) -> None:
        tag = {"If-Match": f'"{task.revision - is_stale}"'}
        body = {"description": f"revision {task.revision}"}
        status, found = self.ask("PATCH", f"/tasks/{task.task_id}", json=body, headers=tag)
        if task.is_purged or task.is_deleted:
            assert status == 404
        elif is_stale:
            assert status == 412
        else:
            assert (status, found["description"]) == (200, body["description"])
            task.revision += 1

    @rule(task=tasks)
    def delete_task(self, task: KnownTask) -> None:
        status, _ = self.ask("DELETE", f"/tasks/{task.task_id}", headers={"If-Match": "*"})
        assert status == (404 if task.is_purged or task.is_deleted else 200)
        if status == 200:
            task.is_deleted = True
            task.revision += 1

    @rule(task=tasks)
    def restore_task(self, task: KnownTask) -> None:
        status, _ = self.ask("POST", f"/tasks/{task.task_id}/restore")
        assert status == (404 if task.is_purged else 200)
        if task.is_deleted and not task.is_purged:
            task.is_deleted = False
            task.revision += 1

    @rule(task=tasks)
    def purge_task(self, task: KnownTask) -> None:
        status, _ = self.ask("POST", f"/tasks/{task.task_id}/purge")
        has_runs = any(one.task is task and not one.is_purged for one in self.known_runs)
        if task.is_purged:
            assert status == 404
        elif has_runs or not task.is_deleted:
            assert status == 409
        else:
            assert status == 204
            task.is_purged = True

    # ── Runs ──

    def add_run(self, made: Any, task: KnownTask, parent: KnownRun | None = None) -> KnownRun:
        task.runs += 1
        assert (made["status"], made["number"]) == ("queued", task.runs)
        run = KnownRun(made["id"], task, parent)
        self.known_runs.append(run)
        return run

    @rule(target=runs, task=tasks, key=st.sampled_from([None, "one", "two"]))
    def start_run(self, task: KnownTask, key: str | None) -> KnownRun | None:
        # One key for each task and number of runs: sent again, it is the same run.
        headers = {} if key is None else {"Idempotency-Key": f"{key} {task.task_id} {task.runs}"}
        path = f"/tasks/{task.task_id}/runs"
        status, made = self.ask("POST", path, headers=headers)
        if task.is_purged or task.is_deleted:
            assert status == 404
            return None
        assert status == 201
        if key is not None:
            assert self.ask("POST", path, headers=headers) == (201, made)
        return self.add_run(made, task)

    @rule(run=runs)
    def pause_run(self, run: KnownRun | None) -> None:
        self.change(run, "pause", {"queued": "paused", "paused": "paused"})

    @rule(run=runs)
    def resume_run(self, run: KnownRun | None) -> None:
        self.change(run, "resume", {"paused": "queued", "queued": "queued"})

    @rule(run=runs)
    def cancel_run(self, run: KnownRun | None) -> None:
        kept = {status: status for status in ENDED}
        self.change(run, "cancel", {"queued": "cancelled", "paused": "cancelled", **kept})

    def change(self, run: KnownRun | None, action: str, becomes: dict[str, str]) -> None:
        if run is None:
            return
        status, found = self.ask("POST", f"/runs/{run.run_id}/{action}")
        if run.is_purged:
            assert status == 404
        elif run.status in becomes:
            run.status = becomes[run.status]
            assert (status, found["status"]) == (200, run.status)
        else:
            assert status == 409

    @rule(target=runs, run=runs, mode=st.sampled_from(["all", "failed"]))
    def repeat_run(self, run: KnownRun | None, mode: str) -> KnownRun | None:
        if run is None:
            return None
        status, made = self.ask("POST", f"/runs/{run.run_id}/repeat", json={"mode": mode})
        expected = self.repeated(run, mode)
        assert status == expected, (status, expected, run, mode)
        if status != 201:
            return None
        assert (made["parent_run_id"], made["mode"]) == (run.run_id, mode)
        repeat = self.add_run(made, run.task, run)
        run.repeats.append(repeat)
        return repeat

    def repeated(self, run: KnownRun, mode: str) -> int:
        if run.is_purged or (run.status in ENDED and mode == "all" and run.task.is_deleted):
            return 404
        nothing_failed = run.status == "completed" and not run.task.is_picky
        if run.status not in ENDED or (mode == "failed" and nothing_failed):
            return 409
        return 201

    @rule(run=runs)
    def purge_run(self, run: KnownRun | None) -> None:
        if run is None:
            return
        status, _ = self.ask("POST", f"/runs/{run.run_id}/purge")
        if run.is_purged:
            assert status == 404
        elif run.status not in ENDED or any(not one.is_purged for one in run.repeats):
            assert status == 409
        else:
            assert status == 204
            run.is_purged = True

    @rule(run=consumes(runs))
    def forget(self, run: KnownRun | None) -> None:
        """Let other runs be taken up."""

    @rule()
    def work_off(self) -> None:
        while True:
            with self.database.read() as connection:
                waiting = [(run.id, run.next_share) for run in run_rows.active(connection)]
            if not waiting:
                break
            for run_id, number in waiting:
                with self.database.write() as connection:
                    share_rows.add_share(connection, run_id, number)
                while self.work.step(run_id, f"{run_id}.{number}"):
                    pass
        for run in self.known_runs:
            if run.status == "queued":
                run.status, run.is_judged = "completed", True

    # ── What always holds ──

    @invariant()
    def lists_are_as_the_model_has_them(self) -> None:
        kept = [run for run in self.known_runs if not run.is_purged]
        _, page = self.ask("GET", "/runs", params={"limit": 500})
        shown = [(one["id"], one["status"]) for one in page["items"]]
        assert shown == [(run.run_id, run.status) for run in reversed(kept)]
        for is_deleted in (False, True):
            _, page = self.ask("GET", "/tasks", params={"limit": 500, "deleted": is_deleted})
            assert [(one["id"], one["revision"]) for one in page["items"]] == [
                (task.task_id, task.revision)
                for task in reversed(self.known_tasks)
                if task.is_deleted == is_deleted and not task.is_purged
            ]

    @invariant()
    def a_run_has_each_result_once_or_none(self) -> None:
        for run in self.known_runs[-3:]:
            if run.is_purged:
                assert self.ask("GET", f"/runs/{run.run_id}/results")[0] == 404
                continue
            _, page = self.ask("GET", f"/runs/{run.run_id}/results", params={"limit": 500})
            numbers = [one["item_no"] for one in page["items"]]
            assert numbers == ([*range(1, ITEMS + 1)] if run.is_judged else [])

    def teardown(self) -> None:
        for run in self.known_runs:
            if not run.is_purged:
                self.ask("POST", f"/runs/{run.run_id}/cancel")


@pytest.fixture
def work(database: Database) -> Generator[RunWork]:
    """What judges, with one sandbox for all examples."""
    found = RunWork(database, make_parts(), workers=1, cache_folder=None)
    yield found
    found.close()


def test_whatever_is_done_in_whatever_order_leads_where_the_model_says(
    client: TestClient, database: Database, work: RunWork
):
    machine = type("Bound", (Lifecycle,), {"client": client, "database": database, "work": work})

    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=7,
            stateful_step_count=25,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],  # making an example smaller would take minutes
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        ),
    )
