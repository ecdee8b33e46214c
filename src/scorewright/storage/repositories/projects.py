"""Projects."""

from __future__ import annotations

import sqlalchemy as sa

from scorewright.domain.errors import NotFoundError
from scorewright.domain.suggestion import quote
from scorewright.storage.database import Database
from scorewright.storage.tables.metadata import new_id, now_us
from scorewright.storage.tables.projects import DEFAULT_PROJECT, projects


def ensure_default_project(database: Database) -> None:
    """Make the first project where there is none."""
    with database.write() as connection:
        if connection.scalar(sa.select(projects.c.id).limit(1)) is None:
            connection.execute(
                projects.insert().values(id=new_id(), name=DEFAULT_PROJECT, created_us=now_us())
            )


def project_id(database: Database, name: str) -> str:
    """Return a project's id by its name.

    Raises:
        NotFoundError: The caller's: there is none of that name.
    """
    with database.read() as connection:
        found = connection.scalar(sa.select(projects.c.id).where(projects.c.name == name))
    if found is None:
        raise NotFoundError(f"there is no project {quote(name)}")
    return str(found)


def first_project_id(database: Database) -> str:
    """Return the id of the project that was made first.

    Raises:
        NotFoundError: The caller's: there is none at all.
    """
    with database.read() as connection:
        found = connection.scalar(
            sa.select(projects.c.id).order_by(projects.c.created_us, projects.c.id).limit(1)
        )
    if found is None:
        raise NotFoundError("there is no project yet")
    return str(found)
