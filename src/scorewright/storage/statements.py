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


def insert_new(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows, but for those whose unique key is there already: these stay as they are."""
    if rows:
        connection.execute(upsert(connection, table).on_conflict_do_nothing(), rows)
