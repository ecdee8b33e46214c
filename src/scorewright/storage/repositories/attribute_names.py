"""Names of attributes that were met."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

import sqlalchemy as sa

from scorewright.storage.statements import insert_new
from scorewright.storage.tables.attribute_names import attribute_names
from scorewright.storage.tables.metadata import now_us


def names_of(connection: sa.Connection, project_id: str) -> set[tuple[str, str]]:
    """Return the names that a project knows, each with its subject."""
    table = attribute_names
    rows = connection.execute(
        sa.select(table.c.subject, table.c.name).where(table.c.project_id == project_id)
    )
    return {(subject, name) for subject, name in rows}


def add_names(connection: sa.Connection, project_id: str, names: Iterable[tuple[str, str]]) -> None:
    """Remember names; those that are known stay."""
    now = now_us()
    rows = [
        {"project_id": project_id, "subject": subject, "name": name, "created_us": now}
        for subject, name in sorted(names)
    ]
    insert_new(connection, attribute_names, rows)


def names_of_subject(connection: sa.Connection, project_id: str, subject: str) -> AbstractSet[str]:
    """Return the names that a project knows of one subject."""
    table = attribute_names
    return set(
        connection.scalars(
            sa.select(table.c.name).where(
                table.c.project_id == project_id, table.c.subject == subject
            )
        )
    )
