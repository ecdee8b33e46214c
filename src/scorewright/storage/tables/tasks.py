"""Tasks: which evaluators judge which data, and how; what runs are started from."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text

tasks: Final = sa.Table(
    "tasks",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("name", Text, nullable=False),
    #: The name as two of them are compared; deleted tasks keep theirs, so that they can be restored.
    sa.Column("name_key", Text, nullable=False),
    sa.Column("description", Text, nullable=False),
    #: Which data: what a kind of source asks for.
    sa.Column("source", Json, nullable=False),
    sa.Column("evaluators", Json, nullable=False),
    sa.Column("settings", Json, nullable=False),
    #: Counts changes.
    sa.Column("revision", sa.Integer, nullable=False),
    #: The number of the newest run.
    sa.Column("latest_run", sa.Integer, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("changed_us", Moment, nullable=False),
    sa.Column("deleted_us", Moment),
    sa.UniqueConstraint("project_id", "name_key"),
    sa.Index("ix_tasks_newest", "project_id", "created_us", "id"),
)
