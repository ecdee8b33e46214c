"""Three workers on three hosts share a run; one is cut off from the others, and comes back."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from databases import PostgresServer, new_database, require_postgres
from faults.killing import begin, differences, outcome, prepare, spawn, undisturbed
from faults.namespaces import NETWORK, Host, hosts, require_namespaces
from scorewright.services import runs
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id
from scorewright.storage.tables import chunks, executors

COUNT = 1_500
#: What DBOS waits at most, once it has been without its database for long, is a minute and a half.
PATIENCE_S = 150


def until(holds: Callable[[], bool], what: str) -> None:
    ends_at_s = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < ends_at_s, what
        time.sleep(0.05)


class Cluster:
    """Workers on hosts of their own, and the database that they share."""

    def __init__(self, database: Database, url: str) -> None:
        self.database = database
        self.url = url
        self.workers: list[subprocess.Popen[str]] = []
        self.executor_ids: list[str] = []

    def add(self, host: Host) -> None:
        """Start a worker on a host; it is known by when it was seen first."""
        known = set(self.executor_ids)
        self.workers.append(spawn(self.url, within=host.command))
        until(lambda: bool(self.living() - known), "the worker started")
        self.executor_ids += self.living() - known

    def living(self) -> set[str]:
        """Which workers are said to be alive."""
        with self.database.read() as connection:
            return set(connection.scalars(sa.select(executors.c.id)))

    def working(self, run_id: str, *, done: bool) -> set[str]:
        """Which workers have, or have done, a chunk of a run."""
        is_done = chunks.c.done_us.is_not(None) if done else chunks.c.done_us.is_(None)
        with self.database.read() as connection:
            shares = set(
                connection.scalars(
                    sa.select(chunks.c.share_id).where(chunks.c.run_id == run_id, is_done)
                )
            )
            works = connection.execute(
                sa.text("SELECT workflow_uuid, executor_id FROM dbos.workflow_status")
            )
            return {executor_id for share_id, executor_id in works if share_id in shares}

    def is_completed(self, run_id: str) -> bool:
        """Tell whether a run is."""
        project = project_id(self.database, "default")
        return runs.find(self.database, project, run_id).status == "completed"


@contextmanager
def cluster(folder: Path, host: Host) -> Generator[Cluster]:
    """Run a database on a host, for workers on any of them."""
    server = PostgresServer(folder, within=host.command, network=NETWORK)
    server.start()
    with ExitStack() as stack:
        stack.callback(server.stop)
        near = new_database(server.url)  # by the socket, for whoever looks at it from outside
        database = stack.enter_context(closing(prepare(near)))
        far = near.split("?", maxsplit=1)[0].replace("@", f"@{host.address}")
        made = Cluster(database, far)
        stack.callback(lambda: [_end(one) for one in made.workers])
        yield made


def _end(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    worker.communicate()


@pytest.mark.timeout(400)
def test_a_run_is_shared_by_three_hosts_and_survives_that_one_is_cut_off():
    require_postgres()
    require_namespaces()
    with (
        tempfile.TemporaryDirectory(prefix="scorewright-net-") as folder,
        hosts(3) as three,
        cluster(Path(folder), three[0]) as shared,
    ):
        database = shared.database
        expected = undisturbed(database, COUNT)
        for host in three:
            shared.add(host)
        lost = shared.executor_ids[2]
        run_id = begin(database, COUNT, "disturbed")
        until(
            lambda: shared.working(run_id, done=True) == set(shared.executor_ids),
            "all three have done something",
        )
        until(lambda: lost in shared.working(run_id, done=False), "it has something to do")
        three[2].cut_off()

        until(lambda: shared.is_completed(run_id), "the others completed the run")
        assert lost not in shared.living()
        assert shared.workers[2].poll() is None

        three[2].link_again()
        until(lambda: lost in shared.living(), "it is back")
        second = begin(database, COUNT, "after")
        until(lambda: lost in shared.working(second, done=True), "it takes part again")
        until(lambda: shared.is_completed(second), "the second run is completed")

        assert differences(outcome(database, run_id), expected) == []
        assert differences(outcome(database, second), expected) == []
