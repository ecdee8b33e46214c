"""Stored log records."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from scorewright.api.context import InContext, ProjectId
from scorewright.api.moments import moment_us_or_none
from scorewright.api.newest import read_newest
from scorewright.api.paging import Cursor, Limit, Page, write_cursor
from scorewright.api.routes.traces import From, To
from scorewright.api.schemas.logs import LogEntry, entry_of
from scorewright.services.log_search import SEVERITIES, WantedRecords, find_records

router = APIRouter(tags=["logs"])

Severity = Literal["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"]


@router.get("/logs")
def list_logs(
    context: InContext,
    project: ProjectId,
    first: From = None,
    end: To = None,
    severity: Annotated[Severity | None, Query(description="the least severity")] = None,
    trace_id: Annotated[str | None, Query(max_length=64)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[LogEntry]:
    """List log records, the latest first."""
    wanted = WantedRecords(
        from_us=moment_us_or_none(first),
        to_us=moment_us_or_none(end),
        severity_number=None if severity is None else SEVERITIES[severity],
        trace_id=trace_id,
    )
    after = read_newest(cursor)
    rows, next_key = find_records(context.database, project, wanted, after=after, limit=limit)
    return Page(
        items=[entry_of(row) for row in rows],
        next_cursor=None if next_key is None else write_cursor(*next_key),
    )
