"""Projects: the unit of isolation. Every other row belongs to one."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Moment, Text

#: The project there is from the start.
DEFAULT_PROJECT: Final = "default"

projects: Final = sa.Table(
    "projects",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    #: How people and URLs call it; lower-case letters, digits and hyphens.
    sa.Column("name", Text, nullable=False, unique=True),
    sa.Column("created_us", Moment, nullable=False),
)
