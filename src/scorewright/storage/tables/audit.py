"""Who changed what, and when."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text

audit: Final = sa.Table(
    "audit",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    #: Null for what concerns the whole server.
    sa.Column("project_id", Id, sa.ForeignKey("projects.id")),
    #: The id of an API key, or `system` or `anyone`.
    sa.Column("actor_id", Text, nullable=False),
    #: What the actor was called then.
    sa.Column("actor_name", Text, nullable=False),
    #: A verb, such as `create`.
    sa.Column("action", Text, nullable=False),
    #: What kind of thing was changed, such as `evaluator`, and its id.
    sa.Column("kind", Text, nullable=False),
    sa.Column("target_id", Text, nullable=False),
    #: What else is worth knowing; never a secret.
    sa.Column("detail", Json),
    sa.Column("request_id", Text),
    sa.Column("created_us", Moment, nullable=False),
    sa.Index("ix_audit_project_id_id", "project_id", "id"),
)
