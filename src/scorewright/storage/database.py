"""The database behind the server: SQLite in one file, or PostgreSQL by URL; the same tables and statements on both."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, InterfaceError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import ConnectionPoolEntry

from scorewright.domain.errors import UsageError

#: What a database that is away, locked for long, full or read-only for now makes of a statement: it may work later.
UNAVAILABLE: Final = (OperationalError, InterfaceError, InternalError, PoolTimeoutError)
#: How long a statement waits for another one's lock on SQLite.
_BUSY_MS: Final = 10_000
_POOL_SIZE: Final = 10
#: PostgreSQL behind a network that is cut: after half a minute a connection counts as lost, on our side (libpq's names) …
_PATIENCE: Final = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
#: … and on the server's, which frees the locks of whoever does not answer, and of whoever stands still in a transaction.
_SERVER_PATIENCE: Final = {
    "tcp_keepalives_idle": "10",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "25000",
    "idle_in_transaction_session_timeout": "60000",
}


class Database:
    """One database; safe to share between threads.

    Args:
        url: `sqlite:///PATH` or `postgresql://…`.

    Raises:
        UsageError: The caller's: it is a URL of another kind, or none.
    """

    def __init__(self, url: str) -> None:
        self.engine = _make_engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"

    @contextmanager
    def read(self) -> Generator[sa.Connection]:
        """Open a connection that sees one state of the database and changes nothing."""
        with self.engine.connect() as connection:
            yield connection
            connection.rollback()

    @contextmanager
    def write(self) -> Generator[sa.Connection]:
        """Open a transaction: what it did is durable when the block ends, and undone when it raises.

        On SQLite it has the only right to write from its start, so that it never fails half-way for a lock.
        """
        with self.engine.connect() as opened:
            how = {"sqlite_begin": "IMMEDIATE"} if self.is_sqlite else {}
            connection = opened.execution_options(**how)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def sqlite_url(path: Path) -> str:
    """Return the URL of a SQLite file."""
    return f"sqlite:///{path}"


def postgres_engine(url: sa.URL, *, pool_size: int, max_overflow: int) -> sa.Engine:
    """Return what connects to a PostgreSQL server, and notices in bounded time that it cannot be reached any more.

    Args:
        url: The server's; what it says of patience comes before what we say.
        pool_size: Connections that are kept.
        max_overflow: Further ones at a time.
    """
    engine = sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={name: value for name, value in _PATIENCE.items() if name not in url.query},
        pool_size=pool_size,
        max_overflow=max_overflow,
        pool_pre_ping=True,
        hide_parameters=True,  # values of rows have no place in logs
        json_serializer=_to_json,
        json_deserializer=msgspec.json.decode,
    )
    event.listen(engine, "connect", _set_up_postgres)
    return engine


def _make_engine(url: str) -> sa.Engine:
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise UsageError(
            f"database {url!r:.80}: not a URL; use sqlite:///PATH or postgresql://USER@HOST/NAME"
        ) from None
    if parsed.get_backend_name() == "postgresql":
        return postgres_engine(parsed, pool_size=_POOL_SIZE, max_overflow=_POOL_SIZE)
    if parsed.get_backend_name() != "sqlite":
        raise UsageError(
            f"database: {parsed.get_backend_name()} is not supported; use sqlite or postgresql"
        )
    engine = sa.create_engine(
        parsed,
        connect_args={"timeout": _BUSY_MS / 1000},
        hide_parameters=True,
        json_serializer=_to_json,
        json_deserializer=msgspec.json.decode,
    )
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _to_json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _set_up_postgres(connection: Any, _entry: ConnectionPoolEntry) -> None:
    calls = ", ".join(
        f"set_config('{name}', '{value}', false)" for name, value in _SERVER_PATIENCE.items()
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {calls}")
    connection.commit()


def _set_up_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver's guess
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode = WAL")
    # In this mode a commit is on the disk when it returns, whatever happens to the machine.
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    cursor.close()


def _begin_sqlite(connection: sa.Connection) -> None:
    how = connection.get_execution_options().get("sqlite_begin", "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {how}")
