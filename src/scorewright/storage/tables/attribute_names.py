"""Names of attributes that were met, so that people can be offered them, and filters know a name with dots in it."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Moment, Text
from scorewright.storage.tables.projects import projects

attribute_names: Final = sa.Table(
    "attribute_names",
    METADATA,
    sa.Column("project_id", Id, sa.ForeignKey(projects.c.id), primary_key=True),
    #: Whose attributes: a level's item, or `log`.
    sa.Column("subject", sa.String(5), primary_key=True),
    sa.Column("name", Text, primary_key=True),
    sa.Column("created_us", Moment, nullable=False),
)
