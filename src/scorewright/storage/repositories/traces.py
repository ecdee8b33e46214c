"""Traces: one row each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import sqlalchemy as sa

from scorewright.storage.statements import insert_document, upsert
from scorewright.storage.tables.traces import traces

_KEY: Final = ("project_id", "trace_id")
_KEPT: Final = (*_KEY, "created_us", "version")


class Claimed(NamedTuple):
    """A trace that was there."""

    #: Spans that its row tells of, and that it does not tell of yet.
    span_count: int
    pending_spans: int


def claim_traces(connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> dict[str, Claimed]:
    """Add the traces that are new, and take hold of the others until the transaction ends.

    Nobody else changes any of them meanwhile. The version of those that were there is one more then.

    Args:
        connection: In a transaction.
        rows: Sorted by the traces' ids, or two transactions may wait for each other.

    Returns:
        Those that were there, by id.
    """
    insert = upsert(connection, traces).on_conflict_do_update(
        index_elements=_KEY, set_={"version": traces.c.version + 1}
    )
    told = (traces.c.trace_id, traces.c.version, traces.c.span_count, traces.c.pending_spans)
    claimed = (
        connection.execute(insert.returning(*told), rows)
        if connection.dialect.name == "sqlite"
        else insert_document(connection, insert, rows, told)
    )
    return {
        trace_id: Claimed(span_count, pending_spans)
        for trace_id, version, span_count, pending_spans in claimed
        if version > 1
    }


def add_pending(
    connection: sa.Connection, project_id: str, trace_id: str, added: int, now: int
) -> None:
    """Say of a trace that was claimed that it has spans more than its row tells of."""
    connection.execute(
        traces.update()
        .where(traces.c.project_id == project_id, traces.c.trace_id == trace_id)
        .values(pending_spans=traces.c.pending_spans + added, changed_us=now)
    )


def pending_traces(connection: sa.Connection, before_us: int, limit: int) -> list[tuple[str, str]]:
    """Find projects and ids of traces whose rows do not tell of all their spans and that have not changed since then, the oldest first."""
    found = connection.execute(
        sa.select(traces.c.project_id, traces.c.trace_id)
        .where(sa.text("pending_spans > 0"), traces.c.changed_us < before_us)
        .order_by(traces.c.changed_us)
        .limit(limit)
    )
    return [(row.project_id, row.trace_id) for row in found]


def claim_pending(connection: sa.Connection, project_id: str, trace_id: str) -> bool:
    """Take hold of a trace, as `claim_traces`; tells whether its row still does not tell of all its spans.

    One that somebody else holds is left to them.
    """
    is_meant = sa.and_(
        traces.c.project_id == project_id,
        traces.c.trace_id == trace_id,
        traces.c.pending_spans > 0,
    )
    query = sa.select(traces.c.trace_id).where(is_meant).with_for_update(skip_locked=True)
    if connection.execute(query).first() is None:
        return False
    connection.execute(traces.update().where(is_meant).values(version=traces.c.version + 1))
    return True


def replace_traces(connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Write rows that were claimed anew; what they were first, and the version, stays."""
    if not rows:
        return
    insert = upsert(connection, traces)
    changed = {c.name: insert.excluded[c.name] for c in traces.c if c.name not in _KEPT}
    connection.execute(insert.on_conflict_do_update(index_elements=_KEY, set_=changed), rows)


def release_traces(connection: sa.Connection, project_id: str, trace_ids: Iterable[str]) -> None:
    """Say of traces that were claimed that nothing of them changed."""
    for trace_id in trace_ids:
        connection.execute(
            traces.update()
            .where(traces.c.project_id == project_id, traces.c.trace_id == trace_id)
            .values(version=traces.c.version - 1)
        )


def find_trace(connection: sa.Connection, project_id: str, trace_id: str) -> sa.Row[Any] | None:
    """Return one row; None where there is none."""
    return connection.execute(
        sa.select(traces).where(traces.c.project_id == project_id, traces.c.trace_id == trace_id)
    ).one_or_none()


def delete_trace(connection: sa.Connection, project_id: str, trace_id: str) -> bool:
    """Delete a row; tells whether it was there."""
    deleted = connection.execute(
        traces.delete().where(traces.c.project_id == project_id, traces.c.trace_id == trace_id)
    )
    return deleted.rowcount > 0


def page_of_traces(
    connection: sa.Connection,
    condition: sa.ColumnElement[bool],
    columns: Sequence[sa.ColumnElement[Any]],
    *,
    after: tuple[int, str] | None,
    limit: int,
) -> Sequence[sa.Row[Any]]:
    """Read some columns of the latest rows that are as a condition says.

    Args:
        connection: Where to read.
        condition: It says of which project.
        columns: What to read.
        after: The place and the id of the row before the first.
        limit: How many at most.
    """
    order = sa.tuple_(traces.c.order_us, traces.c.trace_id)
    query = sa.select(*columns).where(condition)
    if after is not None:
        query = query.where(order < sa.tuple_(*map(sa.literal, after)))
    query = query.order_by(traces.c.order_us.desc(), traces.c.trace_id.desc()).limit(limit)
    return connection.execute(query).all()


def all_traces(
    connection: sa.Connection,
    condition: sa.ColumnElement[bool],
    columns: Sequence[sa.ColumnElement[Any]],
) -> Iterator[sa.Row[Any]]:
    """Stream some columns of all rows that are as a condition says, the earliest first and those of unknown start last."""
    query = (
        sa.select(*columns)
        .where(condition)
        .order_by(traces.c.start_us.is_(None), traces.c.start_us, traces.c.trace_id)
    )
    with connection.execution_options(yield_per=1_000).execute(query) as rows:
        yield from rows
