"""Tasks."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from scorewright.domain.errors import ConflictError
from scorewright.domain.suggestion import quote
from scorewright.storage.tables.tasks import tasks


def insert(connection: sa.Connection, values: dict[str, Any]) -> None:
    """Add a task.

    Raises:
        ConflictError: The caller's: there is one of that name.
    """
    try:
        connection.execute(tasks.insert().values(values))
    except IntegrityError:
        raise ConflictError(
            f"there is a task {quote(values['name'])} already, or a deleted one: restore that, or take another name"
        ).at("/name") from None


def find(connection: sa.Connection, project_id: str, ref: str) -> sa.Row[Any] | None:
    """Return a task by its id or its name, a deleted one as well."""
    statement = sa.select(tasks).where(
        tasks.c.project_id == project_id,
        sa.or_(tasks.c.id == ref, tasks.c.name_key == ref.casefold()),
    )
    # An id goes before a name that looks like one.
    return connection.execute(statement.order_by((tasks.c.id == ref).desc())).first()


def page(  # noqa: PLR0913 - each by name
    connection: sa.Connection,
    project_id: str,
    *,
    search: str | None,
    is_deleted: bool,
    before: tuple[int, str] | None,
    limit: int,
) -> list[sa.Row[Any]]:
    """Return tasks, the newest first."""
    statement = sa.select(tasks).where(
        tasks.c.project_id == project_id,
        tasks.c.deleted_us.is_not(None) if is_deleted else tasks.c.deleted_us.is_(None),
    )
    if search:
        wanted = search.casefold()
        statement = statement.where(
            sa.or_(
                tasks.c.name_key.contains(wanted, autoescape=True),
                sa.func.lower(tasks.c.description).contains(wanted, autoescape=True),
            )
        )
    if before is not None:
        statement = statement.where(sa.tuple_(tasks.c.created_us, tasks.c.id) < sa.tuple_(*before))
    newest = statement.order_by(tasks.c.created_us.desc(), tasks.c.id.desc())
    return list(connection.execute(newest.limit(limit)))


def uses(connection: sa.Connection, project_id: str) -> list[sa.Row[Any]]:
    """Return the evaluators of all tasks that are not deleted, the tasks by name."""
    asked: list[sa.ColumnElement[Any]] = [tasks.c.id, tasks.c.name, tasks.c.evaluators]
    statement: sa.Select[Any] = sa.select(*asked).where(
        tasks.c.project_id == project_id, tasks.c.deleted_us.is_(None)
    )
    return list(connection.execute(statement.order_by(tasks.c.name_key)))


def update(connection: sa.Connection, task_id: str, revision: int, values: dict[str, Any]) -> bool:
    """Change a task; tells whether it still had that revision."""
    changed = connection.execute(
        tasks.update()
        .where(tasks.c.id == task_id, tasks.c.revision == revision)
        .values(revision=revision + 1, **values)
    )
    return changed.rowcount == 1


def take_run_number(connection: sa.Connection, task_id: str) -> int:
    """Return the number of a task's next run; no two transactions get the same."""
    return int(
        connection.execute(
            tasks.update()
            .where(tasks.c.id == task_id)
            .values(latest_run=tasks.c.latest_run + 1)
            .returning(tasks.c.latest_run)
        ).scalar_one()
    )
