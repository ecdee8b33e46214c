"""Stored traces."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, cast

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from scorewright.api.context import InContext, ProjectId
from scorewright.api.document import problems
from scorewright.api.moments import moment_us_or_none
from scorewright.api.newest import read_newest
from scorewright.api.paging import Cursor, Limit, read_cursor, write_cursor
from scorewright.api.schemas.traces import TraceDetail, TracePage, span_of, summary_of
from scorewright.services.trace_search import (
    Wanted,
    find_traces,
    read_trace,
    remove_trace,
)
from scorewright.telemetry.items import compact_spans

From = Annotated[
    AwareDatetime | None, Query(alias="from", description="the first moment, ISO 8601")
]
To = Annotated[
    AwareDatetime | None, Query(alias="to", description="the first moment no more, ISO 8601")
]

router = APIRouter(tags=["traces"])


@router.get("/traces")
def list_traces(
    context: InContext,
    project: ProjectId,
    expression: Annotated[
        str | None,
        Query(
            alias="filter",
            max_length=10_000,
            description="which traces, by the fields of whole traces; see *Filters* above",
        ),
    ] = None,
    first: From = None,
    end: To = None,
    search: Annotated[
        str | None,
        Query(
            max_length=200,
            description="part of an id, a name, a session, or the beginning of a question or an answer",
        ),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TracePage:
    """List traces, the latest first; those of unknown start come last, and are in no window."""
    wanted = Wanted(
        from_us=moment_us_or_none(first),
        to_us=moment_us_or_none(end),
        filter=expression,
        search=search,
    )
    after = read_newest(cursor)
    found = find_traces(context.database, project, wanted, after=after, limit=limit)
    return TracePage(
        items=[summary_of(row) for row in found.rows],
        next_cursor=None if found.next_key is None else write_cursor(*found.next_key),
        ended_early=found.ended_early,
    )


@router.get("/traces/{trace_id}", responses=problems(412))
def get_trace(
    trace_id: str, context: InContext, project: ProjectId, limit: Limit = 200, cursor: Cursor = None
) -> TraceDetail:
    """Return a trace and a part of its spans, with what each means."""
    start = cast("tuple[int, int] | None", read_cursor(cursor, (int, int)))
    found = read_trace(context.database, project, trace_id, start)
    position = 0 if start is None else start[1]
    depths = found.trace.tree.depths
    end = position + limit
    spans = islice(compact_spans(found.trace), position, end)
    return TraceDetail(
        trace=summary_of(found.row),
        notices=found.notices,
        spans=[span_of(body, depths[at]) for at, body in enumerate(spans, position)],
        next_cursor=write_cursor(found.row.version, end) if end < len(depths) else None,
    )


@router.delete("/traces/{trace_id}", status_code=204)
def delete_trace(trace_id: str, context: InContext, project: ProjectId) -> None:
    """Delete a trace with its spans; spans of it that arrive later make it anew."""
    remove_trace(context.database, project, trace_id)
