"""Evaluators, their versions, and their tags for filtering."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text

evaluators: Final = sa.Table(
    "evaluators",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("name", Text, nullable=False),
    #: The name in lower case: two that differ in letter case alone are one, also when one is deleted.
    sa.Column("name_key", Text, nullable=False),
    sa.Column("display_name", Text),
    sa.Column("description", Text, nullable=False),
    sa.Column("tags", Json, nullable=False),
    sa.Column("type", Text, nullable=False),
    sa.Column("level", Text, nullable=False),
    sa.Column("convention", Text, nullable=False),
    sa.Column("language", Text, nullable=False),
    #: Name, display name and description with letter case folded; what a search looks in.
    sa.Column("search_text", Text, nullable=False),
    sa.Column("latest_number", sa.Integer, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("updated_us", Moment, nullable=False),
    sa.Column("deleted_us", Moment),
    sa.UniqueConstraint("project_id", "name_key"),
    sa.Index(None, "project_id", "id"),
)

evaluator_versions: Final = sa.Table(
    "evaluator_versions",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("evaluator_id", Id, sa.ForeignKey("evaluators.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("digest", Text, nullable=False),
    sa.Column("source", Text, nullable=False),
    #: What was declared, as JSON: a `Definition`. Bytes, since no character of it may change: the digest rests on it.
    sa.Column("definition", sa.LargeBinary, nullable=False),
    #: What was read from it, likewise: an `Evaluator` without its source. Parsed once, when it was saved.
    sa.Column("evaluator", sa.LargeBinary, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.UniqueConstraint("evaluator_id", "number"),
)

evaluator_tags: Final = sa.Table(
    "evaluator_tags",
    METADATA,
    sa.Column("evaluator_id", Id, sa.ForeignKey("evaluators.id"), primary_key=True),
    sa.Column("tag", Text, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    sa.Index(None, "project_id", "tag", "evaluator_id"),
)
