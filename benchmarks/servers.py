"""Servers to be measured: each in a process of its own on the loopback, on SQLite and on PostgreSQL."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from measure import cpu_s_of_tree, resident_bytes_of_tree

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from databases import HOW_TO_INSTALL, new_database, postgres_binaries, postgres_server
from served import server

PROJECT = "/api/v1/projects/default"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server that runs, and a client with every right there."""

    client: httpx.Client
    address: str
    #: What a caller sends to be somebody.
    headers: dict[str, str]
    pid: int

    def cpu_s(self) -> float:
        """CPU time that it has used so far, sandboxes included, those that have ended too."""
        return cpu_s_of_tree(self.pid)

    def resident_bytes(self) -> int:
        """What it and its sandboxes hold now."""
        return resident_bytes_of_tree(self.pid)


@contextmanager
def stores(folder: Path) -> Generator[dict[str, str]]:
    """Yield the URL of an empty database by what it is: a SQLite file, and a PostgreSQL server with its own settings.

    PostgreSQL is left out, with a word about it, where it is not installed.
    """
    sqlite = {"SQLite": f"sqlite:///{folder}/scorewright.db"}
    if postgres_binaries() is None:
        print(f"PostgreSQL is not measured: it is not here ({HOW_TO_INSTALL})", file=sys.stderr)
        yield sqlite
        return
    # a folder of its own: the server may run as a user who cannot enter ours
    with (
        tempfile.TemporaryDirectory(prefix="scorewright-bench-postgresql-") as own,
        postgres_server(Path(own), is_durable=True) as url,
    ):
        yield {**sqlite, "PostgreSQL": new_database(url)}


@contextmanager
def running_server(folder: Path, database_url: str) -> Generator[RunningServer]:
    """Run a server on a database until the block ends."""
    with server(
        folder / "home", "--migrate", "--login-link", "--database", database_url
    ) as running:
        headers = {"Authorization": f"Bearer {running.token}"}
        with httpx.Client(base_url=running.address, headers=headers, timeout=120) as client:
            yield RunningServer(client, running.address, headers, running.process.pid)
        running.stop()
