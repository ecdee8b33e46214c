"""What tests of the server share: each runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
import structlog
from starlette.testclient import TestClient

from callers import new_client
from databases import new_database, postgres_server, require_postgres
from run_parts import make_parts
from scorewright.api.context import Context
from scorewright.storage.database import Database, sqlite_url
from scorewright.storage.repositories.projects import ensure_default_project
from scorewright.storage.tables import METADATA


@pytest.fixture(scope="session", autouse=True)
def plain_log() -> None:
    """Log in plain lines: tracebacks in colours with all variables take seconds."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(),
        ]
    )


@pytest.fixture(scope="session")
def postgres() -> Generator[str]:
    """The URL of a PostgreSQL server."""
    require_postgres()
    # Not in a folder of pytest's: every session that starts makes these for their owner alone again.
    with (
        tempfile.TemporaryDirectory(prefix="scorewright-pg-") as folder,
        postgres_server(Path(folder)) as url,
    ):
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path / "scorewright.db")
    return new_database(request.getfixturevalue("postgres"))


@pytest.fixture
def database(database_url: str) -> Generator[Database]:
    """A database with all tables, empty."""
    found = Database(database_url)
    METADATA.create_all(found.engine)
    yield found
    found.close()


@pytest.fixture
def client(database: Database) -> Generator[TestClient]:
    """A caller of the API over that database, which has the first project; may do everything."""
    ensure_default_project(database)
    with new_client(Context(database, run_parts=make_parts())) as found:
        yield found
