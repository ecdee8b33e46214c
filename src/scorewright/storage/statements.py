"""Statements that SQLite and PostgreSQL write in the same words, and SQLAlchemy does not."""

from __future__ import annotations

from typing import TypeAlias

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

Upsert: TypeAlias = sqlite.Insert | postgresql.Insert


def upsert(connection: sa.Connection, table: sa.Table) -> Upsert:
    """Start an insert that can say what happens on a conflict."""
    return (
        sqlite.insert(table)
        if connection.dialect.name == "sqlite"
        else postgresql.insert(table)
    )
