"""Statements that SQLite and PostgreSQL both have, and SQLAlchemy writes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

Upsert: TypeAlias = sqlite.Insert | postgresql.Insert


def upsert(connection: sa.Connection, table: sa.Table) -> Upsert:
    """Start an insert that can say what happens to rows whose key is there already."""
    return sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)


def execute_plain(
    connection: sa.Connection, statement: Upsert, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Execute an insert with rows that the driver takes as they are: texts without U+0000, numbers and bytes.

    SQLAlchemy looks at every value of every row, which takes as long as writing them.

    Args:
        connection: Where to write.
        statement: An insert of one row.
        rows: At least one; they name the same columns.
    """
    compiled = statement.compile(
        dialect=connection.dialect, column_keys=[*rows[0]], for_executemany=True
    )
    names: Sequence[str] | None = compiled.positiontup if compiled.positional else None
    taken = rows if names is None else [tuple(row[name] for name in names) for row in rows]
    connection.exec_driver_sql(compiled.string, taken)


def insert_new(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows, but for those whose unique key is there already: these stay as they are."""
    if rows:
        connection.execute(upsert(connection, table).on_conflict_do_nothing(), rows)
