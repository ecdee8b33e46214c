"""Real databases for tests: a SQLite file, and a PostgreSQL server of the test run's own on the loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

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
    text = f"needs PostgreSQL: {HOW_TO_INSTALL}"
    if "postgresql" in os.environ.get(REQUIRED, "").split(","):
        pytest.fail(text)
    pytest.skip(text)


@contextmanager
def postgres_server(folder: Path, *, is_durable: bool = False) -> Generator[str]:
    """Run a server with its data in a folder, reachable by a socket in it alone; yields the URL of its first database.

    It refuses to run as root: then it is run as the user `nobody`, who is given the folder.

    Args:
        folder: For its data.
        is_durable: Whether what it has committed is on the disk, as it is anywhere but in tests.
    """
    binaries = postgres_binaries()
    assert binaries is not None, HOW_TO_INSTALL
    folder.mkdir(parents=True, exist_ok=True)
    as_user: list[str] = []
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        folder.chmod(0o755)
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        as_user = [
            "setpriv",
            f"--reuid={nobody.pw_uid}",
            f"--regid={nobody.pw_gid}",
            "--clear-groups",
        ]
    data = folder / "data"
    subprocess.run(
        [
            *as_user,
            binaries / "initdb",
            "-D",
            data,
            "-U",
            "tests",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        ],
        check=True,
        capture_output=True,
    )
    server = subprocess.Popen(
        [
            *as_user,
            binaries / "postgres",
            "-D",
            data,
            "-k",
            folder,
            "-c",
            "listen_addresses=",
            "-c",
            f"fsync={'on' if is_durable else 'off'}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(binaries, folder, server)
        yield f"postgresql://tests@/postgres?host={folder}"
    finally:
        server.terminate()
        server.wait()


def _wait_for(binaries: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    while server.poll() is None:
        ready = subprocess.run(
            [binaries / "pg_isready", "-h", folder, "-U", "tests", "-t", "1"],
            check=False,
            capture_output=True,
        )
        if ready.returncode == 0:
            return
    raise AssertionError("the server ended before it was ready")


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
