"""What requests with an Idempotency-Key were answered."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text

idempotency_keys: Final = sa.Table(
    "idempotency_keys",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("key", Text, nullable=False),
    #: Method, path with query, and who asked.
    sa.Column("operation", Text, nullable=False),
    #: SHA-256 of the body; null while the request is in progress, as it is read only then.
    sa.Column("body_sha256", sa.String(64)),
    #: Of the answer; null while the request is in progress.
    sa.Column("status", sa.Integer),
    sa.Column("headers", Json),
    #: Null as well where it was too large to keep.
    sa.Column("body", sa.LargeBinary),
    #: What the request changed, noted by the transaction that did; null until then.
    sa.Column("changed", Text),
    sa.Column("created_us", Moment, nullable=False, index=True),
    sa.UniqueConstraint("project_id", "key"),
)
