"""Finding tasks and runs for who asks."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from scorewright.domain.errors import NotFoundError
from scorewright.domain.suggestion import quote
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import tasks as task_rows


def need_task(
    connection: sa.Connection, project_id: str, ref: str, *, deleted: bool = False
) -> sa.Row[Any]:
    """Return a task by id or name.

    Raises:
        NotFoundError: The caller's: there is none; or it is deleted, and that is not `deleted`.
    """
    row = task_rows.find(connection, project_id, ref)
    if row is None or (row.deleted_us is not None and not deleted):
        raise NotFoundError(f"there is no task {quote(ref)}")
    return row


def need_run(connection: sa.Connection, project_id: str, run_id: str) -> sa.Row[Any]:
    """Return a run.

    Raises:
        NotFoundError: The caller's: there is none.
    """
    row = run_rows.find(connection, project_id, run_id)
    if row is None:
        raise NotFoundError(f"there is no run {quote(run_id)}")
    return row
