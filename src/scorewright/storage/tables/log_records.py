"""Log records as they were sent, one row each."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Moment, Text
from scorewright.storage.tables.projects import projects

log_records: Final = sa.Table(
    "log_records",
    METADATA,
    sa.Column("project_id", Id, sa.ForeignKey(projects.c.id), primary_key=True),
    #: Made of the record where it has a time, so that the same record sent again is the same row.
    sa.Column("id", Id, primary_key=True),
    sa.Column("created_us", Moment, nullable=False),
    #: When it happened, or else was collected, or else arrived.
    sa.Column("time_us", Moment, nullable=False),
    sa.Column("trace_id", sa.String(32)),
    sa.Column("span_id", sa.String(16)),
    sa.Column("severity", Text),
    #: OpenTelemetry's number, from 1 to 24.
    sa.Column("severity_number", sa.Integer),
    #: The first characters of the body.
    sa.Column("excerpt", Text),
    #: `telemetry.logs.LogRecord` as JSON.
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Index(None, "project_id", "time_us", "id"),
    sa.Index(None, "project_id", "trace_id"),
)
