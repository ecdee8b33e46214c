"""Migrations lead to the tables that the code has, from nothing, on either database, whoever runs them at once."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.exc import IntegrityError

from scorewright.domain.errors import StorageError
from scorewright.storage.database import Database, sqlite_url
from scorewright.storage.migrations.__main__ import write_revision
from scorewright.storage.schema import is_current, migrate, require_current
from scorewright.storage.tables import METADATA


@pytest.fixture
def empty(database_url: str) -> Database:
    return Database(database_url)


def test_migrations_lead_to_the_tables_of_the_code(empty: Database):
    assert migrate(empty)

    with empty.read() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
        found = sa.inspect(connection)
        for table in METADATA.sorted_tables:
            keys = found.get_pk_constraint(table.name)["constrained_columns"]
            assert keys == [column.name for column in table.primary_key]
    empty.close()


def test_there_is_no_revision_to_be_written():
    assert write_revision("nothing") == []


def test_migrating_again_changes_nothing(empty: Database):
    assert not is_current(empty)
    assert migrate(empty)
    assert not migrate(empty)
    assert is_current(empty)
    require_current(empty)
    empty.close()


def test_several_that_migrate_at_once_do_it_once(database_url: str):
    databases = [Database(database_url) for _ in range(4)]

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(migrate, databases))

    assert sorted(done) == [False, False, False, True]
    for database in databases:
        database.close()


def test_tables_that_are_missing_or_newer_are_refused_by_name(empty: Database):
    with pytest.raises(StorageError, match="scorewright migrate"):
        require_current(empty)
    migrate(empty)
    with empty.write() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = 'future'"))

    with pytest.raises(StorageError, match="newer version"):
        require_current(empty)
    with pytest.raises(StorageError, match="newer version"):
        migrate(empty)
    empty.close()


def test_foreign_keys_hold_after_migrating(empty: Database):
    migrate(empty)

    with pytest.raises(IntegrityError), empty.write() as connection:
        connection.execute(
            sa.text("INSERT INTO audit VALUES ('1','no','a','a','a','a','a',NULL,NULL,1)")
        )
    empty.close()


def test_a_database_that_is_not_there_is_said_in_one_line(tmp_path: Path):
    with pytest.raises(StorageError, match="database"):
        migrate(Database(sqlite_url(tmp_path / "none" / "a.db")))


def test_the_command_migrates(tmp_path: Path):
    command = [sys.executable, "-m", "scorewright", "migrate", "--database"]
    url = sqlite_url(tmp_path / "a.db")

    said = [
        subprocess.run([*command, url], check=True, capture_output=True, text=True).stderr
        for _ in range(2)
    ]

    assert said == ["migrated\n", "nothing to migrate\n"]
