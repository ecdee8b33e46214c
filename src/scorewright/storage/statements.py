"""Statements that SQLite and PostgreSQL both have, and SQLAlchemy writes apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
import sqlalchemy as sa
from psycopg import sql
from sqlalchemy.dialects import postgresql, sqlite

from scorewright.storage.tables.metadata import without_nul

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


def insert_document(
    connection: sa.Connection,
    statement: Upsert,
    rows: Sequence[Mapping[str, Any]],
    returning: Sequence[sa.Column[Any]],
) -> Iterable[Sequence[Any]]:
    """Execute an insert of many rows on PostgreSQL with all of them as one JSON document.

    One statement a row takes longer there than the row itself, and one that holds all values is long to parse.

    Args:
        connection: Where to write.
        statement: An insert, which says what happens to rows that are there.
        rows: At least one, of texts, numbers and JSON; all name the same columns, and no two of them the same key.
        returning: The columns that are asked for.

    Returns:
        Of each row these columns, as they are then.
    """
    document = msgspec.json.encode(rows)
    if b"\\u0000" in document:  # which PostgreSQL refuses
        document = msgspec.json.encode(without_nul(msgspec.json.decode(document)))
    names = [*rows[0]]
    found = sa.func.json_populate_recordset(
        sa.literal_column(f"NULL::{statement.table.name}"),
        sa.cast(sa.literal(document.decode(), sa.Text), postgresql.JSON),
    ).table_valued(*names)
    query = sa.select(*(found.c[name] for name in names))
    found: Any = connection.execute(statement.from_select(names, query).returning(*returning))
    return found


def append_plain(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Add rows whose keys are not there; otherwise as `execute_plain`."""
    if connection.dialect.name == "sqlite":
        execute_plain(connection, sqlite.insert(table), rows)
        return
    names = [*rows[0]]
    columns = sql.SQL(", ").join(map(sql.Identifier, names))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table.name), columns)
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row([row[name] for name in names])


def insert_new(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows, but for those whose unique key is there already: these stay as they are."""
    if rows:
        connection.execute(upsert(connection, table).on_conflict_do_nothing(), rows)
