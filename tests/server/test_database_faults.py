"""The database is full, locked for long, or stopped in the midst of a run: who asks is told, and the run goes on by itself."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from sent_spans import a_span, request
from sqlalchemy import event
from starlette.testclient import TestClient

from callers import new_client
from databases import PostgresServer, new_database, require_postgres
from faults.killing import begin, differences, outcome, prepare, spawn, undisturbed
from run_parts import make_parts, numbers_task
from scorewright.api.context import Context
from scorewright.services import run_work, runs
from scorewright.services.run_model import ENDED
from scorewright.services.run_work import RunWork
from scorewright.storage.database import Database
from scorewright.storage.repositories import shares as share_rows
from scorewright.storage.repositories.projects import project_id
from served import server

COUNT = 120
TASKS = "/api/v1/projects/default/tasks"


def until(holds: Callable[[], bool]) -> None:
    ends_at_s = time.monotonic() + 90
    while not holds():
        assert time.monotonic() < ends_at_s
        time.sleep(0.02)


class Weak:
    """A database that can be made to refuse, and counts how often it did."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self.refused = 0
        self._pages = 2**31 - 2
        event.listen(self.database.engine, "handle_error", self._count)
        if self.database.is_sqlite:
            event.listen(self.database.engine, "begin", self._bound)

    def _count(self, _context: Any) -> None:
        self.refused += 1

    def _bound(self, connection: sa.Connection) -> None:
        # Below what there is it means: no page more.
        connection.exec_driver_sql(f"PRAGMA max_page_count = {self._pages}")
        connection.exec_driver_sql("PRAGMA busy_timeout = 50")

    @contextmanager
    def full(self) -> Generator[None]:
        """Have no space left, for as long as the block lasts."""
        if self.database.is_sqlite:
            self._pages = 1
            yield
            self._pages = 2**31 - 2
            return
        with self.database.write() as connection:
            connection.exec_driver_sql(
                "CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$"
            )
            for table in ("results", "tasks"):
                connection.exec_driver_sql(
                    f"CREATE TRIGGER no_space BEFORE INSERT ON {table} EXECUTE FUNCTION no_space()"
                )
        yield
        with self.database.write() as connection:
            connection.exec_driver_sql("DROP FUNCTION no_space CASCADE")


@pytest.fixture
def weak(database_url: str) -> Generator[Weak]:
    found = Weak(database_url)
    with closing(found.database):
        prepare(database_url).close()
        yield found


@contextmanager
def under_way(database: Database, run_id: str) -> Generator[None]:
    """Work on a run in a thread; all of it is done when the block has ended."""
    work = RunWork(database, make_parts(), workers=1)

    def add_share() -> None:
        with database.write() as connection:
            share_rows.add_share(connection, run_id, 0)

    def go_on() -> None:
        work.persistently(add_share)
        while work.step(run_id, f"{run_id}.0"):
            pass

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
        thread.join(60)
        assert not thread.is_alive()
    finally:
        work.stop()
        thread.join()
        work.close()


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_work, "_MAX_ITEMS", 20)
    monkeypatch.setattr(run_work, "_MAX_WAIT_S", 0.1)


@pytest.mark.usefixtures("small_chunks")
def test_a_full_disk_in_the_midst_of_a_run_costs_nothing_but_time(weak: Weak):
    database = weak.database
    expected = undisturbed(database, COUNT)
    run_id = begin(database, COUNT, "disturbed")
    with ExitStack() as disk, new_client(Context(database, run_parts=make_parts())) as client:
        before = done(database, run_id)
        disk.enter_context(weak.full())
        with under_way(database, run_id):
            until(lambda: weak.refused >= 3)
            answers_that_it_cannot_write(client)
            assert client.get(TASKS).status_code == 200
            assert done(database, run_id) == before
            disk.close()
        assert client.post(TASKS, json=numbers_task(5, "parity", name="more")).status_code == 201

    assert differences(outcome(database, run_id), expected) == []


def done(database: Database, run_id: str) -> int:
    return runs.find(database, project_id(database, "default"), run_id).done


def answers_that_it_cannot_write(client: TestClient) -> None:
    bodies = (numbers_task(5, "parity", name=f"more {number}") for number in range(1_000))
    answers = (client.post(TASKS, json=body) for body in bodies)
    # As many as go into what is left of the pages there are.
    refused = next(answer for answer in answers if not answer.is_success)
    assert refused.status_code == 503
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.headers["retry-after"] == "5"


@pytest.mark.usefixtures("small_chunks")
def test_a_database_that_is_locked_for_long_is_waited_for(weak: Weak, database_url: str):
    database = weak.database
    expected = undisturbed(database, COUNT)
    run_id = begin(database, COUNT, "disturbed")
    with closing(Database(database_url)) as other, ExitStack() as lock:
        holder = lock.enter_context(other.write())
        if not database.is_sqlite:
            holder.exec_driver_sql("LOCK TABLE chunks IN EXCLUSIVE MODE")

        def is_waited_for() -> bool:
            if database.is_sqlite:
                return weak.refused >= 3
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted"
            return bool(holder.exec_driver_sql(waiting).scalar())

        with under_way(database, run_id):
            until(is_waited_for)
            lock.close()

    assert differences(outcome(database, run_id), expected) == []


@pytest.mark.timeout(240)
def test_postgresql_is_stopped_and_started_again_in_the_midst_of_a_run(tmp_path: Path):
    require_postgres()
    with tempfile.TemporaryDirectory(prefix="scorewright-pg-") as folder:
        postgres = PostgresServer(Path(folder))
        postgres.start()
        url = new_database(postgres.url)
        try:
            with (
                closing(prepare(url)) as database,
                server_of(tmp_path / "home", url) as (running, client),
                spawned(url) as worker,
            ):
                _stop_in_the_midst(postgres, database, client)
                assert running.poll() is None
                assert worker.poll() is None
        finally:
            postgres.stop()


def _stop_in_the_midst(postgres: PostgresServer, database: Database, client: httpx.Client) -> None:
    count = 1_500
    run_id = begin(database, count, "disturbed")
    path = f"/api/v1/projects/default/runs/{run_id}"
    until(lambda: client.get(path).json()["done"] > 0)
    postgres.stop()

    away = client.get(path)
    assert away.status_code == 503
    assert away.headers["content-type"] == "application/problem+json"
    assert away.headers["retry-after"] == "5"
    for path_of_ours in ("/healthz", "/metrics"):
        assert client.get(path_of_ours).status_code == 200
    assert client.get("/readyz").json()["checks"]["database"] == "failing"
    for answer in (
        client.get(f"{path}/events"),
        client.get(f"{path}/results"),
        client.post(TASKS, json=numbers_task(5, "parity", name="more")),
        client.post("/api/v1/session", json={"token": "sw_any"}),
        client.post("/v1/traces", json=request(a_span(1, 1))),
    ):
        told = (answer.status_code, answer.headers.get("retry-after"), answer.text[:200])
        assert told[:2] == (503, "5"), (answer.url, told)
        assert answer.headers["content-type"] == "application/problem+json"
    postgres.start()

    until(lambda: client.get(path).status_code == 200)
    until(lambda: client.get(path).json()["status"] in ENDED)
    assert differences(outcome(database, run_id), undisturbed(database, count)) == []


@contextmanager
def server_of(home: Path, url: str) -> Generator[tuple[Any, httpx.Client]]:
    """Run a server that leaves runs to workers."""
    options = ("--database", url, "--no-worker", "--no-auth")
    with (
        server(home, *options) as running,
        httpx.Client(base_url=running.address, timeout=60) as client,
    ):
        yield running.process, client


@contextmanager
def spawned(url: str) -> Generator[Any]:
    process = spawn(url)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
