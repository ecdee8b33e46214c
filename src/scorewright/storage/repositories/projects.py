"""Projects."""

from __future__ import annotations

from typing import Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import NotFoundError
from scorewright.domain.suggestion import quote
from scorewright.storage.database import Database
from scorewright.storage.statements import upsert
from scorewright.storage.tables.metadata import new_id, now_us
from scorewright.storage.tables.projects import DEFAULT_PROJECT, projects


class Project(msgspec.Struct, frozen=True):
    """What everything else belongs to."""

    id: str
    name: str
    created_us: int


_COLUMNS: Final = [projects.c[name] for name in Project.__struct_fields__]


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


def default_project_id(database: Database) -> str:
    """Return the id of the project that there is from the start."""
    return project_id(database, DEFAULT_PROJECT)


def add(connection: sa.Connection, project: Project) -> bool:
    """Store a new project; False where there is one of that name."""
    statement = upsert(connection, projects).values(msgspec.structs.asdict(project))
    done = connection.execute(statement.on_conflict_do_nothing().returning(projects.c.id))
    return done.first() is not None


def page(
    connection: sa.Connection,
    *,
    only_id: str | None,
    before: tuple[int, str] | None,
    limit: int,
) -> list[Project]:
    """Return projects, newest first.

    Args:
        connection: To ask.
        only_id: Of the only project that may be seen; None for all.
        before: Moment and id of the last one seen.
        limit: At most so many.
    """
    statement = sa.select(*_COLUMNS)
    if only_id is not None:
        statement = statement.where(projects.c.id == only_id)
    if before is not None:
        statement = statement.where(
            sa.tuple_(projects.c.created_us, projects.c.id) < sa.tuple_(*before)
        )
    ordered = statement.order_by(projects.c.created_us.desc(), projects.c.id.desc())
    return [Project(*row) for row in connection.execute(ordered.limit(limit))]


def find(connection: sa.Connection, project_id: str) -> Project:
    """Return a project that there is."""
    row = connection.execute(sa.select(*_COLUMNS).where(projects.c.id == project_id)).one()
    return Project(*row)
