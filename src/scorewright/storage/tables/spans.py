"""Spans as they were sent, one row each."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Moment

#: Whoever writes or deletes spans holds the row of their trace in `traces`: without one, there are none. A foreign key
#: would say so once more, at a look-up for each span.
spans: Final = sa.Table(
    "spans",
    METADATA,
    sa.Column("project_id", Id, primary_key=True),
    sa.Column("trace_id", sa.String(32), primary_key=True),
    sa.Column("span_id", sa.String(16), primary_key=True),
    #: When this version of it arrived.
    sa.Column("created_us", Moment, nullable=False),
    #: `telemetry.raw_span.RawSpan` as JSON.
    sa.Column("body", sa.LargeBinary, nullable=False),
)
