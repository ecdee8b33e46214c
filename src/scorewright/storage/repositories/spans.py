"""Spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import sqlalchemy as sa

from scorewright.storage.statements import append_plain, execute_plain, upsert
from scorewright.storage.tables.spans import spans

#: Ids that one statement asks for.
_ASKED: Final = 500


def put_spans(connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Write spans, each in place of the version that is there."""
    if not rows:
        return
    insert = upsert(connection, spans)
    replaced = {name: insert.excluded[name] for name in ("created_us", "body")}
    statement = insert.on_conflict_do_update(
        index_elements=spans.primary_key.columns, set_=replaced
    )
    execute_plain(connection, statement, rows)


def add_spans(connection: sa.Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Write spans of traces that have none yet, which is quicker."""
    if rows:
        append_plain(connection, spans, rows)


def bodies_of(
    connection: sa.Connection, project_id: str, trace_ids: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Read the spans of some traces, each with its trace's id."""
    for first in range(0, len(trace_ids), _ASKED):
        some = trace_ids[first : first + _ASKED]
        rows = connection.execute(
            sa.select(spans.c.trace_id, spans.c.body).where(
                spans.c.project_id == project_id, spans.c.trace_id.in_(some)
            )
        )
        for trace_id, body in rows:
            yield trace_id, bytes(body)


def bodies_of_some(
    connection: sa.Connection, project_id: str, trace_id: str, span_ids: Sequence[str]
) -> Iterator[bytes]:
    """Read some spans of a trace, as far as they are there."""
    for first in range(0, len(span_ids), _ASKED):
        some = span_ids[first : first + _ASKED]
        for (body,) in connection.execute(
            sa.select(spans.c.body).where(
                spans.c.project_id == project_id,
                spans.c.trace_id == trace_id,
                spans.c.span_id.in_(some),
            )
        ):
            yield bytes(body)


def delete_spans(connection: sa.Connection, project_id: str, trace_id: str) -> None:
    """Delete all spans of a trace."""
    connection.execute(
        spans.delete().where(spans.c.project_id == project_id, spans.c.trace_id == trace_id)
    )
