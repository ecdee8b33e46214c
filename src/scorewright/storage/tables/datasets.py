"""Datasets, their immutable versions, and the rows of these."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text

datasets: Final = sa.Table(
    "datasets",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("name", Text, nullable=False),
    #: The name in lower case: two that differ in case alone are one. Deleted ones keep theirs.
    sa.Column("name_key", Text, nullable=False),
    sa.Column("display_name", Text),
    sa.Column("description", Text, nullable=False),
    sa.Column("tags", Json, nullable=False),
    sa.Column("latest_number", sa.Integer, nullable=False),
    #: Counts every change, new versions too.
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("changed_us", Moment, nullable=False),
    sa.Column("deleted_us", Moment),
    sa.UniqueConstraint("project_id", "name_key"),
    sa.Index(None, "project_id", "created_us", "id"),
)

dataset_versions: Final = sa.Table(
    "dataset_versions",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    #: Null, like the number, until every row is in: such a version is nobody's yet.
    sa.Column("dataset_id", Id, sa.ForeignKey("datasets.id")),
    sa.Column("number", sa.Integer),
    sa.Column("rows", sa.BigInteger, nullable=False),
    sa.Column("columns", Json, nullable=False),
    sa.Column("notices", Json, nullable=False),
    #: sha256, in hex, of the rows as JSON Lines.
    sa.Column("digest", sa.String(64), nullable=False),
    #: Of all rows as JSON Lines.
    sa.Column("bytes", sa.BigInteger, nullable=False),
    sa.Column("note", Text, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    #: When rows were last put in: what has stood still for long was left behind by a process that ended.
    sa.Column("touched_us", Moment, nullable=False),
    sa.UniqueConstraint("dataset_id", "number"),
    sa.Index(
        None,
        "touched_us",
        sqlite_where=sa.text("number IS NULL"),
        postgresql_where=sa.text("number IS NULL"),
    ),
)

dataset_rows: Final = sa.Table(
    "dataset_rows",
    METADATA,
    sa.Column("version_id", Id, sa.ForeignKey("dataset_versions.id"), primary_key=True),
    #: From 1, without gaps.
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    #: A JSON object, byte for byte as it was read.
    sa.Column("data", sa.LargeBinary, nullable=False),
)
