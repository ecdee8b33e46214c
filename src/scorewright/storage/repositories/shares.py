"""Who works on which part of a run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
import sqlalchemy as sa

from scorewright.storage.statements import insert_new
from scorewright.storage.tables.metadata import now_us
from scorewright.storage.tables.runs import chunks, executors, run_shares, runs


class Chunk(msgspec.Struct, frozen=True):
    """Consecutive items of a run that one share was given."""

    number: int
    #: Place of the first item among those to judge, from 0.
    first: int
    count: int


def next_chunk(
    connection: sa.Connection, run: sa.Row[Any], share_id: str, *, total: int, at_most: int
) -> Chunk | None:
    """Give a share a chunk of a locked run: the one it has, one that was handed back, or the next items."""
    columns = chunks.c
    found = connection.execute(
        sa.select(columns.chunk_no, columns.first, columns["count"].label("items"))
        .where(
            columns.run_id == run.id,
            columns.done_us.is_(None),
            sa.or_(columns.share_id == share_id, columns.share_id.is_(None)),
        )
        .order_by(columns.share_id.is_(None), columns.first)
        .limit(1)
    ).first()
    if found is not None:
        connection.execute(
            chunks.update()
            .where(columns.run_id == run.id, columns.chunk_no == found.chunk_no)
            .values(share_id=share_id)
        )
        return Chunk(found.chunk_no, found.first, found.items)
    count = min(at_most, total - run.next_place)
    if count <= 0:
        return None
    connection.execute(
        runs.update()
        .where(runs.c.id == run.id)
        .values(next_place=run.next_place + count, next_chunk=run.next_chunk + 1)
    )
    chunk = Chunk(run.next_chunk, run.next_place, count)
    _insert_chunk(connection, run.id, chunk, share_id)
    return chunk


def finish_chunk(
    connection: sa.Connection, run_id: str, share_id: str, chunk: Chunk, answered: int
) -> bool:
    """Mark the first items of a chunk as done; False when somebody else was first, or the chunk is not this share's."""
    columns = chunks.c
    changed = connection.execute(
        chunks.update()
        .where(
            columns.run_id == run_id,
            columns.chunk_no == chunk.number,
            columns.done_us.is_(None),
            columns.share_id == share_id,
        )
        .values({"done_us": now_us(), "count": answered})
    )
    return changed.rowcount == 1


def split_off(
    connection: sa.Connection, run: sa.Row[Any], share_id: str | None, first: int, count: int
) -> Chunk:
    """Make a chunk of items of a locked run that were in one which is done without them."""
    chunk = Chunk(run.next_chunk, first, count)
    connection.execute(
        runs.update().where(runs.c.id == run.id).values(next_chunk=run.next_chunk + 1)
    )
    _insert_chunk(connection, run.id, chunk, share_id)
    return chunk


def hand_back(connection: sa.Connection, share_id: str, run_id: str) -> None:
    """Let others have what a share has not done, and end it."""
    connection.execute(
        chunks.update()
        .where(chunks.c.run_id == run_id, chunks.c.share_id == share_id, chunks.c.done_us.is_(None))
        .values(share_id=None)
    )
    connection.execute(
        run_shares.update()
        .where(run_shares.c.id == share_id, run_shares.c.ended_us.is_(None))
        .values(ended_us=now_us())
    )


def is_open(connection: sa.Connection, share_id: str) -> bool:
    """Tell whether a share is still to be worked on."""
    return (
        connection.scalar(
            sa.select(run_shares.c.id).where(
                run_shares.c.id == share_id, run_shares.c.ended_us.is_(None)
            )
        )
        is not None
    )


def open_chunks(connection: sa.Connection, run_id: str) -> tuple[int, int]:
    """Count a run's chunks that are not done: all, and those that somebody has."""
    columns = chunks.c
    row = connection.execute(
        sa.select(sa.func.count(), sa.func.count(columns.share_id)).where(
            columns.run_id == run_id, columns.done_us.is_(None)
        )
    ).one()
    return int(row[0]), int(row[1])


def open_shares(connection: sa.Connection) -> list[sa.Row[Any]]:
    """Return the shares that have not ended, the oldest first."""
    return list(
        connection.execute(
            sa.select(run_shares)
            .where(run_shares.c.ended_us.is_(None))
            .order_by(run_shares.c.created_us, run_shares.c.id)
        )
    )


def add_share(connection: sa.Connection, run_id: str, number: int) -> str | None:
    """Make a run's next share; None where somebody else has made the one of this number.

    Returns:
        Its id.
    """
    taken = connection.execute(
        runs.update()
        .where(runs.c.id == run_id, runs.c.next_share == number)
        .values(next_share=number + 1)
    )
    if taken.rowcount != 1:
        return None
    share_id = f"{run_id}.{number}"
    share = {"id": share_id, "run_id": run_id, "is_enqueued": False}
    connection.execute(
        run_shares.insert().values({**share, "created_us": now_us(), "ended_us": None})
    )
    return share_id


def mark_enqueued(connection: sa.Connection, share_ids: Collection[str]) -> None:
    """Note that these shares were put into the queue for whoever is free."""
    connection.execute(
        run_shares.update().where(run_shares.c.id.in_(share_ids)).values(is_enqueued=True)
    )


def beat(connection: sa.Connection, executor_id: str) -> dict[str, int]:
    """Say that an executor lives; returns all executors with how often they have said so."""
    now = now_us()
    new = {"id": executor_id, "started_us": now, "heartbeat_us": now, "beats": 0}
    insert_new(connection, executors, [new])
    connection.execute(
        executors.update()
        .where(executors.c.id == executor_id)
        .values(beats=executors.c.beats + 1, heartbeat_us=now)
    )
    found = connection.execute(sa.select(executors.c.id, executors.c.beats))
    return {row.id: row.beats for row in found}


def forget_executor(connection: sa.Connection, executor_id: str) -> None:
    """Remove an executor that is gone."""
    connection.execute(executors.delete().where(executors.c.id == executor_id))


def _insert_chunk(
    connection: sa.Connection, run_id: str, chunk: Chunk, share_id: str | None
) -> None:
    values = {"run_id": run_id, "chunk_no": chunk.number, "first": chunk.first}
    connection.execute(
        chunks.insert().values({**values, "count": chunk.count, "share_id": share_id})
    )
