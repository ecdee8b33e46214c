"""Log records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from scorewright.storage.statements import insert_new
from scorewright.storage.tables.log_records import log_records


def add_records(connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Write records; one that is there already stays."""
    insert_new(connection, log_records, rows)


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


def all_records(
    connection: sa.Connection, condition: sa.ColumnElement[bool]
) -> Iterator[sa.Row[Any]]:
    """Stream the ids of all records that are as a condition says, and those of their traces, by time."""
    columns: list[sa.ColumnElement[Any]] = [log_records.c.id, log_records.c.trace_id]
    query = sa.select(*columns).where(condition).order_by(log_records.c.time_us, log_records.c.id)
    with connection.execution_options(yield_per=1_000).execute(query) as rows:
        yield from rows


def bodies_of_records(
    connection: sa.Connection, project_id: str, ids: Sequence[str]
) -> dict[str, bytes]:
    """Read some records by their ids."""
    rows = connection.execute(
        sa.select(log_records.c.id, log_records.c.body).where(
            log_records.c.project_id == project_id, log_records.c.id.in_(ids)
        )
    )
    return {record_id: bytes(body) for record_id, body in rows}
