"""Log records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from scorewright.storage.statements import upsert
from scorewright.storage.tables.log_records import log_records


def add_records(connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Write records; one that is there already stays."""
    connection.execute(upsert(connection, log_records).on_conflict_do_nothing(), rows)


def page_of_records(
    connection: sa.Connection,
    condition: sa.ColumnElement[bool],
    *,
    after: tuple[int, str] | None,
    limit: int,
) -> Sequence[sa.Row[Any]]:
    """Read the latest records that are as a condition says.

    Args:
        connection: Where to read.
        condition: It says of which project.
        after: The time and the id of the record before the first.
        limit: How many at most.
    """
    query = sa.select(log_records).where(condition)
    if after is not None:
        order = sa.tuple_(log_records.c.time_us, log_records.c.id)
        query = query.where(order < sa.tuple_(*map(sa.literal, after)))
    query = query.order_by(log_records.c.time_us.desc(), log_records.c.id.desc()).limit(limit)
    return connection.execute(query).all()
