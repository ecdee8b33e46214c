"""Statements that SQLite and PostgreSQL both have, and SQLAlchemy writes apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite


def insert_new(
    connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Insert rows, but for those whose unique key is there already: these stay as they are."""
    if not rows:
        return
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    connection.execute(dialect.insert(table).on_conflict_do_nothing(), rows)
