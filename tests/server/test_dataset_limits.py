"""Too large, half-way, or left behind: an upload that does not end well leaves nothing that can be seen."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from typing import Any

import polars as pl
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from callers import new_client
from scorewright.api.context import Context
from scorewright.domain.errors import ConflictError
from scorewright.services import dataset_loading
from scorewright.services.dataset_loading import DatasetLimits, loading, remove_abandoned
from scorewright.services.datasets import DatasetFields, create_dataset
from scorewright.services.settings import Settings
from scorewright.sources.dataset import from_rows
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project, project_id
from scorewright.storage.tables import dataset_rows, dataset_versions

ROOT = "/api/v1/projects/default/datasets"
LIMITS = DatasetLimits(unpacked_bytes=200_000, rows=5_000)
SETTINGS = Settings(max_upload_bytes=100_000, max_body_bytes=20_000)


@pytest.fixture
def bounded(database: Database) -> Generator[TestClient]:
    """A caller of a server that takes little."""
    ensure_default_project(database)
    context = Context(database, dataset_limits=LIMITS, settings=SETTINGS)
    with new_client(context) as found:
        yield found


def counts(database: Database) -> tuple[int, int]:
    with database.read() as connection:
        return tuple(  # type: ignore[return-value]
            connection.scalar(sa.select(sa.func.count()).select_from(table))
            for table in (dataset_versions, dataset_rows)
        )


def parquet(rows: int) -> bytes:
    file = io.BytesIO()
    pl.DataFrame({"n": [0] * rows}).write_parquet(file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": "' + b"x" * 200_000 + b'"}', "the body is larger than"),
        (gzip.compress(b"{}\n" * 80_000), "when unpacked"),
        (b'{"a":1}\n' * 5_001, "more than 5,000 rows"),
        (parquet(5_001), "more than 5,000 rows"),
        # Small in CSV, as its long header is there once.
        (b"%s,b\n" % (b"a" * 1_000) + b"x,y\n" * 4_000, "MiB of rows"),
    ],
)
def test_what_is_too_large_is_refused_and_leaves_nothing(
    content: bytes, said: str, bounded: TestClient, database: Database
):
    answer = bounded.post(f"{ROOT}/upload", files={"file": ("rows", content)})

    assert answer.status_code == 413, answer.text
    assert said in answer.json()["detail"]
    assert counts(database) == (0, 0)


def test_a_body_without_a_length_is_bounded_as_well(bounded: TestClient):
    def pieces() -> Generator[bytes]:
        yield b'{"name": "a", "rows": ['
        for _ in range(10_000):
            yield b'{"a": 1}, '

    answer = bounded.post(ROOT, content=pieces(), headers={"Content-Type": "application/json"})

    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"


def test_an_edit_that_would_make_it_too_large_is_refused(bounded: TestClient, database: Database):
    content = b'{"a":1}\n' * 5_000
    assert (
        bounded.post(f"{ROOT}/upload", files={"file": ("rows.jsonl", content)}).status_code == 201
    )
    body: dict[str, Any] = {"changes": [{"op": "append", "data": {}}]}

    answer = bounded.patch(f"{ROOT}/rows/rows", json=body, headers={"If-Match": "*"})

    assert answer.status_code == 413
    assert counts(database) == (1, 5_000)


def test_what_a_killed_process_left_behind_is_nobodys_and_goes_away(
    database: Database, database_url: str, monkeypatch: pytest.MonkeyPatch
):
    ensure_default_project(database)
    program = f"""
import os, signal
from scorewright.services.dataset_loading import DatasetLimits, loading
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id

database = Database({database_url!r})
with loading(database, project_id(database, "default"), DatasetLimits()) as loader:
    loader.add(b"{{}}" for _ in range(12_000))
    os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program], env=os.environ, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert counts(database) == (1, 10_000)

    remove_abandoned(database)  # it could still be at work
    assert counts(database) == (1, 10_000)
    monkeypatch.setattr(dataset_loading, "_ABANDONED_US", 0)
    remove_abandoned(database)

    assert counts(database) == (0, 0)


def test_a_version_that_was_given_up_cannot_be_finished(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    ensure_default_project(database)
    project = project_id(database, "default")
    monkeypatch.setattr(dataset_loading, "_ABANDONED_US", 0)

    def load() -> None:
        with loading(database, project, DatasetLimits()) as loader:
            remove_abandoned(database)
            loader.add([b"{}"])
            loader.flush()

    with pytest.raises(ConflictError, match="took too long"):
        load()
    assert counts(database) == (0, 0)


def test_what_is_half_way_is_seen_by_nobody(client: TestClient, database: Database):
    project = project_id(database, "default")
    made = create_dataset(
        database,
        project,
        DatasetFields(name="whole"),
        from_rows([{"n": 1}]),
        note="",
        limits=DatasetLimits(),
    )
    with loading(database, project, DatasetLimits()) as loader:
        loader.add(b"{}" for _ in range(6_000))

        assert [one["name"] for one in client.get(ROOT).json()["items"]] == ["whole"]
        assert client.get(f"{ROOT}/whole/versions").json()["items"][0]["id"] == made.latest.id
        assert client.post(f"{ROOT}/whole/versions", json={"rows": []}).status_code == 201
        assert client.get(f"{ROOT}/{loader.version_id}").status_code == 404
