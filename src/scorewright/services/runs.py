"""Runs: begun, watched, paused, gone on with, cancelled, and repeated."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import CallerError, ConflictError
from scorewright.services import audit, tasks
from scorewright.services.run_access import need_run, need_task
from scorewright.services.run_model import (
    ENDED,
    FrozenEvaluator,
    Run,
    RunMode,
    encode_frozen,
    levels_of,
    run_of,
    task_of,
)
from scorewright.services.run_parts import RunParts
from scorewright.services.run_queue import RUNS_PER_PROJECT, runs_ahead
from scorewright.storage.database import Database
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import shares as share_rows
from scorewright.storage.repositories import tasks as task_rows
from scorewright.storage.tables.metadata import new_id, now_us

#: How long a run lasts still is told from what was done in this time.
_ETA_WINDOW_US: Final = 30_000_000


def start(  # noqa: PLR0913 - each by name
    database: Database,
    parts: RunParts,
    project_id: str,
    task_ref: str,
    *,
    clock_s: float | None = None,
    parent_run_id: str | None = None,
) -> Run:
    """Make a run of a task as it is now; a worker takes it up by itself.

    Args:
        database: Where it is.
        parts: What it refers to.
        project_id: Whose it is.
        task_ref: The task's id or name.
        clock_s: The time that evaluators see; now where it is None.
        parent_run_id: The run that this one repeats.

    Raises:
        CallerError: The caller's: what the task refers to is not there any more, or does not fit.
    """
    with database.read() as connection:
        task = task_of(need_task(connection, project_id, task_ref))
    frozen = tasks.check(parts, project_id, task.spec)
    values = {
        "source": parts.freeze_source(project_id, task.spec.source),
        "settings": msgspec.to_builtins(tasks.run_settings(parts, task.spec)),
        "resolved": encode_frozen(frozen),
        "clock_s": time.time() if clock_s is None else clock_s,
        "mode": "all",
        "parent_run_id": parent_run_id,
    }
    return _insert(database, parts, project_id, task.task_id, values, frozen)


def repeat(database: Database, parts: RunParts, project_id: str, run_id: str, mode: RunMode) -> Run:
    """Make a run of what an earlier one was about; that one stays as it is.

    `all` judges everything again, by the task as it is now. `failed` judges what has no result, by the very versions
    and at the very time of the earlier run, and takes over the other results.

    Raises:
        ConflictError: The caller's: the earlier run is not over, or has nothing that failed or is missing.
    """
    with database.read() as connection:
        parent = need_run(connection, project_id, run_id)
    if parent.status not in ENDED:
        raise ConflictError(f"the run is {parent.status}; wait for its end, or cancel it")
    if mode == "all":
        return start(database, parts, project_id, parent.task_id, parent_run_id=parent.id)
    if parent.status == "completed" and not parent.failed:
        raise ConflictError("every item of the run has a result: there is nothing to judge again")
    frozen = msgspec.json.decode(parent.resolved, type=list[FrozenEvaluator])
    try:
        parts.open_source(project_id, parent.source, levels_of(frozen))
    except CallerError as error:
        raise ConflictError(f"the data of the run cannot be read any more: {error}") from None
    values = {
        "source": parent.source,
        "settings": parent.settings,
        "resolved": parent.resolved,
        "clock_s": parent.clock_s,
        "mode": "failed",
        "parent_run_id": parent.id,
    }
    return _insert(database, parts, project_id, parent.task_id, values, frozen)


def find(
    database: Database,
    project_id: str,
    run_id: str,
    *,
    runs_per_project: int = RUNS_PER_PROJECT,
) -> Run:
    """Return a run with its progress.

    Args:
        database: Where it is.
        project_id: Whose it is.
        run_id: Its id.
        runs_per_project: Runs of one project that are worked on at a time: what its place in the queue depends on.
    """
    with database.read() as connection:
        row = need_run(connection, project_id, run_id)
        return described(connection, row, runs_per_project=runs_per_project)


def change_of(database: Database, run_id: str) -> int | None:
    """Return which change of a run was the last: as cheap as asking can be."""
    with database.read() as connection:
        return run_rows.change_of(connection, run_id)


def page(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    *,
    task_ref: str | None,
    statuses: Collection[str],
    before: tuple[int, str] | None,
    limit: int,
) -> list[Run]:
    """Return runs, the newest first."""
    with database.read() as connection:
        task_id = None
        if task_ref is not None:
            task_id = need_task(connection, project_id, task_ref, deleted=True).id
        rows = run_rows.page(
            connection, project_id, task_id=task_id, statuses=statuses, before=before, limit=limit
        )
        counts = run_rows.evaluator_counts(connection, [row.id for row in rows])
        return [run_of(row, counts[row.id]) for row in rows]


def cancel(database: Database, project_id: str, run_id: str) -> Run:
    """End a run; what it has results of is kept. One that is over stays as it is."""
    with database.write() as connection:
        need_run(connection, project_id, run_id)
        row = run_rows.lock(connection, run_id)
        assert row is not None  # noqa: S101 - found above
        if row.status not in ENDED:
            _, held = share_rows.open_chunks(connection, run_id)
            if held:
                values: dict[str, Any] = {"status": "cancelling"}
            else:
                values = {"status": "cancelled", "ended_us": now_us()}
            run_rows.update(connection, run_id, [row.status], **values)
            _note(connection, project_id, "cancel", run_id)
    return find(database, project_id, run_id)


def pause(database: Database, project_id: str, run_id: str) -> Run:
    """Let a run rest.

    Raises:
        ConflictError: The caller's: it is over, or being cancelled.
    """
    return _change(database, project_id, run_id, ("queued", "running"), "paused", "pause")


def resume(database: Database, project_id: str, run_id: str) -> Run:
    """Go on with a run that rests, or that failed for something of the machine's.

    Raises:
        ConflictError: The caller's: it does not rest.
    """
    return _change(database, project_id, run_id, ("paused", "failed"), "queued", "resume")


def described(
    connection: sa.Connection, row: sa.Row[Any], *, runs_per_project: int = RUNS_PER_PROJECT
) -> Run:
    """Return a run with its progress, its place in the queue, and when it may be complete."""
    run = run_of(row, run_rows.evaluator_counts(connection, [row.id])[row.id])
    if run.status == "queued":
        begun = {share.run_id for share in share_rows.open_shares(connection)}
        waiting = run_rows.active(connection)
        ahead = runs_ahead(waiting, begun, row.id, at_most=runs_per_project)
        return msgspec.structs.replace(run, queue_position=ahead)
    if run.status != "running" or run.total is None or not run.done:
        return run
    since_us = max(now_us() - _ETA_WINDOW_US, run.started_us or 0)
    recent = run_rows.items_done_since(connection, row.id, since_us)
    took_s = (now_us() - since_us) / 1e6
    if not recent or took_s <= 0:  # the clock was set back
        return run
    return msgspec.structs.replace(run, eta_s=round((run.total - run.done) * took_s / recent, 1))


def _change(  # noqa: PLR0913, PLR0917 - each is what it is
    database: Database,
    project_id: str,
    run_id: str,
    before: tuple[str, ...],
    after: str,
    action: str,
) -> Run:
    with database.write() as connection:
        row = need_run(connection, project_id, run_id)
        if row.status != after:
            if not run_rows.update(
                connection, run_id, before, status=after, error=None, ended_us=None
            ):
                raise ConflictError(f"the run is {row.status}: it cannot become {after}")
            _note(connection, project_id, action, run_id)
    return find(database, project_id, run_id)


def _note(
    connection: sa.Connection, project_id: str, action: str, run_id: str, **detail: Any
) -> None:
    audit.note(connection, project_id, action, kind="run", target_id=run_id, detail=detail or None)


def _insert(  # noqa: PLR0913, PLR0917 - each is what it is
    database: Database,
    parts: RunParts,
    project_id: str,
    task_id: str,
    values: dict[str, Any],
    frozen: list[FrozenEvaluator],
) -> Run:
    run_id = new_id()
    none_yet = dict.fromkeys(
        ("next_place", "next_chunk", "next_share", "done", "scored", "skipped", "failed"), 0
    )
    with database.write() as connection:
        number = task_rows.take_run_number(connection, task_id)
        # Behind the project's others, though the clock be set back: they wait in this order.
        created_us = max(now_us(), run_rows.newest_us(connection, project_id) + 1)
        row = {"id": run_id, "project_id": project_id, "task_id": task_id, "number": number}
        run_rows.insert(
            connection,
            {
                **row,
                **values,
                **none_yet,
                "status": "queued",
                "change": 1,
                "created_us": created_us,
            },
            [
                {
                    "run_id": run_id,
                    "evaluator_no": at,
                    "name": one.evaluator.name,
                    "scored": 0,
                    "skipped": 0,
                    "failed": 0,
                }
                for at, one in enumerate(frozen)
            ],
        )
        _note(connection, project_id, "create", run_id, task=task_id, mode=values["mode"])
    return find(database, project_id, run_id, runs_per_project=parts.runs_per_project)
