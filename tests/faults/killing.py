"""Kills workers at random moments until a run is complete, and compares what it has with an undisturbed one."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import httpx
import msgspec
import sqlalchemy as sa

from run_parts import make_parts, numbers_task, work_off
from scorewright.services import run_results, runs, tasks
from scorewright.services.run_model import ENDED, TaskSpec
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project, project_id
from scorewright.storage.schema import migrate
from scorewright.storage.tables import results

_ROOT = Path(__file__).parents[2]
_WORKER = Path(__file__).with_name("worker.py")
_SERVER = Path(__file__).with_name("server.py")
_RUNS = "/api/v1/projects/default/runs"
CLOCK_S = 1_767_225_600.0
EVALUATORS = ("slow", "picky")


def prepare(url: str) -> Database:
    database = Database(url)
    migrate(database)
    ensure_default_project(database)
    return database


def make_task(database: Database, count: int, name: str) -> None:
    spec = msgspec.convert(numbers_task(count, *EVALUATORS, name=name), TaskSpec)
    tasks.create(database, make_parts(), project_id(database, "default"), spec)


def begin(database: Database, count: int, name: str) -> str:
    project = project_id(database, "default")
    make_task(database, count, name)
    return runs.start(database, make_parts(), project, name, clock_s=CLOCK_S).run_id


def outcome(database: Database, run_id: str) -> dict[str, Any]:
    """All of a run that does not depend on time."""
    project = project_id(database, "default")
    columns = [
        column
        for column in results.columns
        if column.name not in ("run_id", "duration_us", "created_us")
    ]
    with database.read() as connection:
        rows = connection.execute(
            sa.select(*columns)
            .where(results.c.run_id == run_id)
            .order_by(results.c.evaluator_no, results.c.item_no)
        )
        found = [tuple(row) for row in rows]
    report = run_results.document(database, project, run_id)
    run = runs.find(database, project, run_id)
    summary = [{**one, "slowest": None} for one in cast("list[dict[str, Any]]", report["summary"])]
    return {
        "rows": found,
        "summary": summary,
        "counts": run.counts,
        "done": run.done,
        "status": run.status,
    }


def undisturbed(database: Database, count: int) -> dict[str, Any]:
    run_id = begin(database, count, f"undisturbed {count}")
    work_off(database)
    return outcome(database, run_id)


@contextmanager
def workers(url: str, count: int) -> Generator[list[subprocess.Popen[str]]]:
    found = [spawn(url) for _ in range(count)]
    try:
        yield found
    finally:
        for one in found:
            one.kill()
            one.wait()
            if one.stdout is not None:
                one.stdout.close()


def spawn(
    url: str, within: Sequence[str] = (), *, program: Path = _WORKER
) -> subprocess.Popen[str]:
    """Start a worker; `within` is a command that runs it somewhere else, such as in a network namespace."""
    path = os.pathsep.join([str(_ROOT / "src"), str(_ROOT / "tests")])
    return subprocess.Popen(
        [*within, sys.executable, program, url],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def disturb(
    database: Database, url: str, run_id: str, *, chance: random.Random, kills: int, at_once: int
) -> int:
    """Kill workers, so many times at most, until a run has ended; returns how many were killed."""
    project = project_id(database, "default")
    killed = 0
    with workers(url, at_once) as alive:
        ends_at_s = time.monotonic() + 300
        while runs.find(database, project, run_id).status not in ENDED:
            assert time.monotonic() < ends_at_s, runs.find(database, project, run_id)
            if killed < kills:
                kill_one(alive, url, chance)
                killed += 1
            else:
                time.sleep(0.05)
    return killed


def kill_one(alive: list[subprocess.Popen[str]], url: str, chance: random.Random) -> None:
    """Kill one of the workers, in a while, and start another in its place."""
    at = chance.randrange(len(alive))
    if chance.random() < 0.7:  # the others die while they start, and take over what was left
        _wait_started(alive[at])
    time.sleep(chance.random() ** 2 * 1.5)
    alive[at].kill()
    alive[at].wait()
    _close(alive[at])
    alive[at] = spawn(url)


def disturb_server(url: str, task: str, *, chance: random.Random, kills: int) -> tuple[str, int]:
    """Kill the server that a run is begun and watched with, so many times at most, until the run has ended.

    Returns:
        The run's id, and how often the server was killed.
    """
    killed = 0
    run_id = ""
    ends_at_s: float | None = None
    while True:
        with _server(url) as (process, client):
            if not run_id:
                made = client.post(f"/api/v1/projects/default/tasks/{task}/runs")
                assert made.status_code == 201, made.text
                run_id = made.json()["id"]
            lives_until_s = time.monotonic() + chance.random() ** 2 * 1.5
            if killed >= kills and ends_at_s is None:  # how long killing takes is no matter
                ends_at_s = time.monotonic() + 300
            while ends_at_s is not None or time.monotonic() < lives_until_s:
                found = client.get(f"{_RUNS}/{run_id}").json()
                if found["status"] in ENDED:
                    return run_id, killed
                assert ends_at_s is None or time.monotonic() < ends_at_s, found
                time.sleep(0.02)
            process.kill()
            killed += 1


@contextmanager
def _server(url: str) -> Generator[tuple[subprocess.Popen[str], httpx.Client]]:
    process = spawn(url, program=_SERVER)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "the server did not start"
        with httpx.Client(base_url=address, timeout=30) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate()


def _wait_started(process: subprocess.Popen[str]) -> None:
    if process.stdout is not None and not process.stdout.closed:
        process.stdout.readline()


def _close(process: subprocess.Popen[str]) -> None:
    if process.stdout is not None:
        process.stdout.close()


def lost_and_twice(found: dict[str, Any], expected: dict[str, Any]) -> tuple[int, int]:
    """Count the results that are lost, and those that are there more than once."""
    keys = Counter((row[0], row[1]) for row in found["rows"])
    wanted = Counter((row[0], row[1]) for row in expected["rows"])
    return (wanted - keys).total(), (keys - wanted).total()


def differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Say what is lost, there twice, or different."""
    lost, twice = lost_and_twice(found, expected)
    wrong = [f"{what}: {count}" for what, count in (("lost", lost), ("twice", twice)) if count]
    return wrong + [name for name in expected if found[name] != expected[name]]
