"""Runs: making, listing and changing them. What their workers do is in `chunks` and `shares`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import sqlalchemy as sa

from scorewright.storage.tables.runs import chunks, run_evaluators, runs

#: Statuses of runs that workers have to do something about.
ACTIVE: Final = ("queued", "running", "cancelling")
#: Of runs that are being removed: from its first moment on, nobody sees them.
PURGING: Final = "purging"
_SEEN: Final = runs.c.status != PURGING


def insert(
    connection: sa.Connection, values: dict[str, Any], evaluators: Sequence[dict[str, Any]]
) -> None:
    """Add a run with its evaluators."""
    connection.execute(runs.insert().values(values))
    connection.execute(run_evaluators.insert(), list(evaluators))


def newest_us(connection: sa.Connection, project_id: str) -> int:
    """Return when a project's newest run was made; 0 where it has none."""
    newest = sa.select(sa.func.max(runs.c.created_us)).where(runs.c.project_id == project_id)
    return int(connection.scalar(newest) or 0)


def find(connection: sa.Connection, project_id: str, run_id: str) -> sa.Row[Any] | None:
    """Return a run."""
    return connection.execute(
        sa.select(runs).where(runs.c.project_id == project_id, runs.c.id == run_id, _SEEN)
    ).first()


def find_any(connection: sa.Connection, run_id: str) -> sa.Row[Any] | None:
    """Return a run of whatever project: for workers."""
    return connection.execute(sa.select(runs).where(runs.c.id == run_id)).first()


def lock(connection: sa.Connection, run_id: str) -> sa.Row[Any] | None:
    """Return a run that nobody else can change until this transaction ends.

    Its key is not locked: each result that is written refers to it, and two who write would wait for each other.
    """
    statement = sa.select(runs).where(runs.c.id == run_id)
    return connection.execute(statement.with_for_update(key_share=True)).first()


def status_of(connection: sa.Connection, run_id: str) -> str | None:
    """Return what is to become of a run."""
    return connection.scalar(sa.select(runs.c.status).where(runs.c.id == run_id))


def change_of(connection: sa.Connection, run_id: str) -> int | None:
    """Return how often a run has changed."""
    return connection.scalar(sa.select(runs.c.change).where(runs.c.id == run_id))


def page(  # noqa: PLR0913 - each by name
    connection: sa.Connection,
    project_id: str,
    *,
    task_id: str | None,
    statuses: Collection[str],
    before: tuple[int, str] | None,
    limit: int,
) -> list[sa.Row[Any]]:
    """Return runs, the newest first."""
    statement = sa.select(runs).where(runs.c.project_id == project_id, _SEEN)
    if task_id is not None:
        statement = statement.where(runs.c.task_id == task_id)
    if statuses:
        statement = statement.where(runs.c.status.in_(statuses))
    if before is not None:
        statement = statement.where(sa.tuple_(runs.c.created_us, runs.c.id) < sa.tuple_(*before))
    newest = statement.order_by(runs.c.created_us.desc(), runs.c.id.desc())
    return list(connection.execute(newest.limit(limit)))


def update(
    connection: sa.Connection, run_id: str, statuses: Collection[str], **values: Any
) -> bool:
    """Change a run that has one of the statuses; tells whether it had."""
    changed = connection.execute(
        runs.update()
        .where(runs.c.id == run_id, runs.c.status.in_(statuses))
        .values(change=runs.c.change + 1, **values)
    )
    return changed.rowcount == 1


def evaluators(connection: sa.Connection, run_id: str) -> list[sa.Row[Any]]:
    """Return what is known of a run's evaluators, in their order."""
    return list(
        connection.execute(
            sa.select(run_evaluators)
            .where(run_evaluators.c.run_id == run_id)
            .order_by(run_evaluators.c.evaluator_no)
        )
    )


def evaluator_counts(
    connection: sa.Connection, run_ids: Collection[str]
) -> dict[str, list[sa.Row[Any]]]:
    """Return the names and counts of runs' evaluators, without the roll-ups."""
    columns = run_evaluators.c
    asked: list[sa.ColumnElement[Any]] = [columns.run_id, columns.name]
    found = connection.execute(
        sa.select(*asked, columns.scored, columns.skipped, columns.failed)
        .where(columns.run_id.in_(run_ids))
        .order_by(columns.run_id, columns.evaluator_no)
    )
    by_run: dict[str, list[sa.Row[Any]]] = {run_id: [] for run_id in run_ids}
    for row in found:
        by_run[row.run_id].append(row)
    return by_run


def items_done_since(connection: sa.Connection, run_id: str, since_us: int) -> int:
    """Count the items that were done after a moment."""
    statement = sa.select(sa.func.coalesce(sa.func.sum(chunks.c["count"]), 0)).where(
        chunks.c.run_id == run_id, chunks.c.done_us >= since_us
    )
    return int(connection.scalar(statement) or 0)


def active(connection: sa.Connection) -> list[sa.Row[Any]]:
    """Return what is needed to share out the runs of all projects that are to be worked on, the oldest first."""
    columns = runs.c
    asked: list[sa.ColumnElement[Any]] = [
        columns.id,
        columns.project_id,
        columns.status,
        columns.total,
        columns.next_place,
        columns.next_share,
        columns.created_us,
    ]
    statement: sa.Select[Any] = sa.select(*asked).where(columns.status.in_(ACTIVE))
    oldest = statement.order_by(columns.created_us, columns.id).limit(1_000)
    return list(connection.execute(oldest))


def figures(connection: sa.Connection) -> list[sa.Row[Any]]:
    """Count the runs of all projects, and the results that they have, by the runs' status."""
    columns = runs.c
    asked: list[sa.ColumnElement[Any]] = [columns.status, sa.func.count().label("runs")]
    asked += [sa.func.sum(columns[name]).label(name) for name in ("scored", "skipped", "failed")]
    statement: sa.Select[Any] = sa.select(*asked).where(_SEEN).group_by(columns.status)
    return list(connection.execute(statement))
