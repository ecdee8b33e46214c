"""The rows of dataset versions."""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa

from scorewright.storage.tables.datasets import dataset_rows


def insert_rows(
    connection: sa.Connection, version_id: str, first: int, items: Sequence[bytes]
) -> None:
    """Add rows under consecutive numbers."""
    connection.execute(
        dataset_rows.insert(),
        [
            {"version_id": version_id, "number": number, "data": data}
            for number, data in enumerate(items, first)
        ],
    )


def copy_rows(  # noqa: PLR0913 - each by name
    connection: sa.Connection,
    *,
    source_id: str,
    target_id: str,
    first: int,
    last: int,
    shift: int,
) -> None:
    """Add the rows of another version, `first` to `last`, under numbers that are higher by `shift`."""
    wanted = sa.select(
        sa.literal(target_id), dataset_rows.c.number + shift, dataset_rows.c.data
    ).where(dataset_rows.c.version_id == source_id, dataset_rows.c.number.between(first, last))
    connection.execute(
        dataset_rows.insert().from_select(
            ["version_id", "number", "data"], wanted, include_defaults=False
        )
    )


def rows_after(
    connection: sa.Connection, version_id: str, number: int, limit: int
) -> list[tuple[int, bytes]]:
    """Return the rows behind a number, in order, at most `limit`."""
    query = (
        sa.select(dataset_rows.c.number, dataset_rows.c.data)
        .where(dataset_rows.c.version_id == version_id, dataset_rows.c.number > number)
        .order_by(dataset_rows.c.number)
        .limit(limit)
    )
    return [(found, bytes(data)) for found, data in connection.execute(query)]


def delete_rows_before(connection: sa.Connection, version_id: str, number: int) -> None:
    """Remove the rows of a version up to a number."""
    connection.execute(
        dataset_rows.delete().where(
            dataset_rows.c.version_id == version_id, dataset_rows.c.number <= number
        )
    )


def last_number(connection: sa.Connection, version_id: str) -> int:
    """Return the highest number of a version's rows; 0 when there are none."""
    query = sa.select(sa.func.max(dataset_rows.c.number)).where(
        dataset_rows.c.version_id == version_id
    )
    return connection.scalar(query) or 0
