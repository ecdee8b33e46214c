"""The tables of a database brought to where this version of the package has them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy.exc import OperationalError

from scorewright.domain.errors import StorageError
from scorewright.storage.database import Database

MIGRATIONS: Final = Path(__file__).with_name("migrations")
#: Any number, the same for all our servers: one of them migrates at a time.
_LOCK: Final = 0x5C04E


def migrate(database: Database) -> bool:
    """Bring the tables to where this version has them; all of it or nothing.

    Returns:
        Whether anything was changed.

    Raises:
        StorageError: Ours: the tables are of a newer version, or the database cannot be reached.
    """
    with _only_one(database) as connection:
        if schema_state(connection) == "current":
            return False
        config = alembic_config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return True


def is_current(database: Database) -> bool:
    """Tell whether the tables are where this version has them."""
    with database.read() as connection:
        return _revision(connection) == _head()


def require_current(database: Database) -> None:
    """Make sure that the tables are where this version has them.

    Raises:
        StorageError: Ours: they are not, or the database cannot be reached.
    """
    with _reachable(database) as connection:
        if schema_state(connection) == "older":
            raise StorageError(
                "database: its tables are of an older version; run scorewright migrate, or serve --migrate"
            )


def schema_state(connection: sa.Connection) -> Literal["current", "older"]:
    """Tell whether the tables have to be migrated.

    Raises:
        StorageError: Ours: a newer version has migrated them already.
    """
    revision = _revision(connection)
    if revision == _head():
        return "current"
    known = {one.revision for one in _scripts().walk_revisions()}
    if revision is not None and revision not in known:
        raise StorageError(
            f"database: its tables are of a newer version ({revision}); use that version of scorewright"
        )
    return "older"


def alembic_config() -> Config:
    """Return what Alembic has to know; there is no alembic.ini."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    return config


@contextmanager
def _only_one(database: Database) -> Generator[sa.Connection]:
    """Open a transaction that no other process migrates beside."""
    with _reachable(database) as opened:
        if not database.is_sqlite:
            with opened.begin():
                # A step may be busy with its data for longer than a request ever is.
                opened.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
                opened.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
                yield opened
            return
        driver: Any = opened.connection.driver_connection
        # A table that is changed is copied and the old one dropped, which must not take what refers to it along. Can
        # be set outside of transactions only.
        driver.execute("PRAGMA foreign_keys = OFF")
        try:
            connection = opened.execution_options(sqlite_begin="IMMEDIATE")
            with connection.begin():
                yield connection
                broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
                if broken is not None:
                    raise StorageError(f"database: a row of {broken[0]} refers to one that is gone")
        finally:
            driver.execute("PRAGMA foreign_keys = ON")


@contextmanager
def _reachable(database: Database) -> Generator[sa.Connection]:
    try:
        with database.engine.connect() as connection:
            yield connection
    except OperationalError as error:
        raise StorageError(f"database: it cannot be used: {error.orig}") from error


def _revision(connection: sa.Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _scripts() -> ScriptDirectory:
    return ScriptDirectory(str(MIGRATIONS))


def _head() -> str | None:
    return _scripts().get_current_head()
