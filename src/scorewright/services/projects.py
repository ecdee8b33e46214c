"""Projects: what keeps the work of one team from another's. Everything else belongs to one."""

from __future__ import annotations

import re
from typing import Final

from scorewright.domain.errors import ConflictError, UsageError
from scorewright.domain.suggestion import quote
from scorewright.services.access import Caller
from scorewright.services.audit import note
from scorewright.storage.database import Database
from scorewright.storage.repositories import projects as project_rows
from scorewright.storage.repositories.projects import Project
from scorewright.storage.tables.metadata import new_id, now_us

MAX_NAME_CHARS: Final = 64
_NAME: Final = re.compile(rf"[a-z][a-z0-9-]{{0,{MAX_NAME_CHARS - 1}}}")


def create(database: Database, name: str) -> Project:
    """Make a project.

    Args:
        database: Where to.
        name: How people and addresses will call it; it stays.

    Raises:
        UsageError: The caller's: it cannot be called so.
        ConflictError: The caller's: there is one of that name.
    """
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"name: {quote(name)} is no name of a project; start with a letter, use lower-case letters, digits and "
            f"hyphens, at most {MAX_NAME_CHARS} characters"
        ).at("/name")
    project = Project(new_id(), name, now_us())
    with database.write() as connection:
        if not project_rows.add(connection, project):
            raise ConflictError(f"name: there is a project {quote(name)} already").at("/name")
        note(connection, project.id, "create", kind="project", target_id=project.id)
    return project


def find(database: Database, project_id: str) -> Project:
    """Return a project that there is."""
    with database.read() as connection:
        return project_rows.find(connection, project_id)


def page(
    database: Database, caller: Caller, *, before: tuple[int, str] | None, limit: int
) -> list[Project]:
    """Return the projects that somebody may see, newest first: the one of their key, or all.

    Args:
        database: Where they are.
        caller: Who asks.
        before: Moment and id of the last one seen.
        limit: At most so many.
    """
    with database.read() as connection:
        return project_rows.page(connection, only_id=caller.project_id, before=before, limit=limit)
