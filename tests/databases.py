"""Real databases for tests: a SQLite file, and a PostgreSQL server of the test run's own on the loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

import pytest

HOW_TO_INSTALL: Final = "apt-get install postgresql"
#: In the environment: what tests fail without, where they otherwise skip; `.ci/run` sets it.
REQUIRED: Final = "SCOREWRIGHT_TESTS_REQUIRE"
_PLACES: Final = Path("/usr/lib/postgresql")


def postgres_binaries() -> Path | None:
    """Return the folder of the newest installed server; None when there is none."""
    versions = sorted(_PLACES.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if versions:
        return versions[-1].parent
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def require_postgres() -> None:
    """Skip the test that asks where there is no PostgreSQL; fail it where the environment requires one."""
    if postgres_binaries() is not None:
        return
    skip_or_fail("postgresql", f"needs PostgreSQL: {HOW_TO_INSTALL}")


def skip_or_fail(name: str, text: str) -> NoReturn:
    """Skip the test that asks and lacks something; fail it where the environment requires that by its name."""
    if name in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(text)
    pytest.skip(text)


class PostgresServer:
    """A server with its data in a folder, reachable by a socket in it; it can be stopped and started again.

    It refuses to run as root: then it is run as the user `nobody`, who is given the folder.

    Args:
        folder: Its own.
        is_durable: Whether what it has committed is on the disk, as it is anywhere but in tests.
        within: A command that runs the one behind it somewhere else, such as in a network namespace.
        network: Addresses (as in 10.0.0.0/24) from which it is reachable too, at each address that it has; none without.
    """

    def __init__(
        self,
        folder: Path,
        *,
        is_durable: bool = False,
        within: Sequence[str] = (),
        network: str | None = None,
    ) -> None:
        binaries = postgres_binaries()
        assert binaries is not None, HOW_TO_INSTALL
        self._binaries = binaries
        self._folder = folder
        self._data = folder / "data"
        self._prefix: list[str] = [*within]
        self._network = network
        self._fsync = "on" if is_durable else "off"
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"postgresql://tests@/postgres?host={folder}"
        folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            folder.chmod(0o755)
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            ids = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}"]
            self._prefix += ["setpriv", *ids, "--clear-groups"]
        how = ["-U", "tests", "-A", "trust", "-E", "UTF8", "--no-sync"]
        subprocess.run(
            [*self._prefix, binaries / "initdb", "-D", self._data, *how],
            check=True,
            capture_output=True,
        )
        if network is not None:
            with (self._data / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {network} trust\n")

    def start(self) -> None:
        """Start it; returns when it answers."""
        addresses = "" if self._network is None else "*"
        settings = ["-c", f"listen_addresses={addresses}", "-c", f"fsync={self._fsync}"]
        self._process = subprocess.Popen(
            [
                *self._prefix,
                self._binaries / "postgres",
                "-D",
                self._data,
                "-k",
                self._folder,
                *settings,
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while self._process.poll() is None:
            ready = subprocess.run(
                [self._binaries / "pg_isready", "-h", self._folder, "-U", "tests", "-t", "1"],
                check=False,
                capture_output=True,
            )
            if ready.returncode == 0:
                return
        raise AssertionError("the server ended before it was ready")

    def stop(self) -> None:
        """Stop it at once: whoever is connected is not any more."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)  # fast: ends its sessions
            self._process.wait()
            self._process = None


@contextmanager
def postgres_server(folder: Path, *, is_durable: bool = False) -> Generator[str]:
    """Run a server with its data in a folder, reachable by a socket in it alone; yields the URL of its first database."""
    server = PostgresServer(folder, is_durable=is_durable)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def new_database(url: str) -> str:
    """Make an empty database in a server; returns its URL."""
    import sqlalchemy as sa

    name = f"t{uuid.uuid4().hex}"
    engine = sa.create_engine(
        url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT"
    )
    with engine.connect() as connection:
        connection.execute(sa.text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return url.replace("/postgres?", f"/{name}?")
