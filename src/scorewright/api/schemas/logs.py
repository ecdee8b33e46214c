"""Log records as they travel."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from pydantic import BaseModel, Field

from scorewright.api.moments import Moment, moment
from scorewright.sources.stored_spans import record_of


class LogEntry(BaseModel):
    """A log record."""

    id: str
    time: Moment = Field(description="when it happened, or else was collected, or else arrived")
    severity: str | None = Field(description="as it was written")
    severity_number: int | None = Field(description="OpenTelemetry's, from 1 to 24")
    trace_id: str | None
    span_id: str | None
    body: Any
    attributes: dict[str, Any]
    resource: dict[str, Any]
    scope: str
    event_name: str | None


def entry_of(row: sa.Row[Any]) -> LogEntry:
    """Write a row of the table."""
    record = record_of(bytes(row.body))
    return LogEntry(
        id=row.id,
        time=moment(row.time_us),
        severity=row.severity,
        severity_number=row.severity_number,
        trace_id=row.trace_id,
        span_id=row.span_id,
        body=record.body,
        attributes=record.attributes,
        resource=record.resource,
        scope=record.scope,
        event_name=record.event_name,
    )
