"""Purging: what was deleted is removed for good, unless something that is kept refers to it.

The name is free again then, which is sound since no result is left that goes by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import ConflictError, NotFoundError
from scorewright.domain.suggestion import quote
from scorewright.services import audit
from scorewright.services.dataset_loading import remove_abandoned
from scorewright.services.datasets import get_dataset
from scorewright.services.run_access import need_run, need_task
from scorewright.services.run_model import ENDED, EvaluatorUse
from scorewright.storage.database import Database
from scorewright.storage.repositories import purges
from scorewright.storage.repositories.evaluators import find_evaluator

#: Of what refers to something, how many a message names.
_NAMED: Final = 3


def purge_dataset(database: Database, project_id: str, ref: str) -> None:
    """Remove a deleted dataset with its versions and rows.

    Raises:
        NotFoundError: The caller's: there is none.
        ConflictError: The caller's: it is not deleted, or tasks or runs refer to it.
    """
    dataset = get_dataset(database, project_id, ref)
    _require_deleted("dataset", dataset.name, dataset.deleted_us)
    refs = {dataset.id, dataset.name.lower()}
    with database.write() as connection:
        using = [
            task.name
            for task in purges.all_tasks(connection, project_id)
            if task.source.get("kind") == "dataset"
            and str(task.source.get("dataset")).lower() in refs
        ]
        runs = purges.runs_over_dataset(connection, project_id, dataset.id)
        _refuse_used("dataset", dataset.name, using, runs)
        purges.delete_dataset(connection, dataset.id)
        _note(connection, project_id, "dataset", dataset.id, {"name": dataset.name})
    remove_abandoned(database)


def purge_evaluator(database: Database, project_id: str, ref: str) -> None:
    """Remove a deleted evaluator with its versions.

    Raises:
        NotFoundError: The caller's: there is none.
        ConflictError: The caller's: it is not deleted, or tasks or runs refer to it.
    """
    with database.write() as connection:
        saved = find_evaluator(connection, project_id, ref)
        if saved is None:
            raise NotFoundError(f"there is no evaluator {quote(ref)} in this project")
        _require_deleted("evaluator", saved.name, saved.deleted_us)
        refs = {saved.evaluator_id, saved.name.lower()}
        using = [
            task.name
            for task in purges.all_tasks(connection, project_id)
            if refs & {one.evaluator.lower() for one in _uses(task)}
        ]
        runs = purges.runs_with_evaluator(connection, project_id, saved.evaluator_id)
        _refuse_used("evaluator", saved.name, using, runs)
        purges.delete_evaluator(connection, saved.evaluator_id)
        _note(connection, project_id, "evaluator", saved.evaluator_id, {"name": saved.name})


def purge_task(database: Database, project_id: str, ref: str) -> None:
    """Remove a deleted task that has no runs any more.

    Raises:
        NotFoundError: The caller's: there is none.
        ConflictError: The caller's: it is not deleted, or has runs.
    """
    with database.write() as connection:
        task = need_task(connection, project_id, ref, deleted=True)
        _require_deleted("task", task.name, task.deleted_us)
        _refuse_used("task", task.name, [], purges.runs_of_task(connection, task.id))
        purges.delete_task(connection, task.id)
        _note(connection, project_id, "task", task.id, {"name": task.name})


def purge_run(database: Database, project_id: str, run_id: str) -> None:
    """Remove a run that is over, with its results. From the first moment on nobody sees it.

    Raises:
        NotFoundError: The caller's: there is none.
        ConflictError: The caller's: it is not over, or others repeat it.
    """
    with database.write() as connection:
        run = need_run(connection, project_id, run_id)
        repeating = purges.runs_repeated_from(connection, run_id)
        _refuse_used("run", run_id, [], repeating)
        if not purges.claim_run(connection, run_id, ENDED):
            raise ConflictError(f"the run is {run.status}; cancel it first, or wait for its end")
        detail = {"task": run.task_id, "number": run.number}
        _note(connection, project_id, "run", run_id, detail)
    _remove_run(database, run_id)


def finish_purges(database: Database) -> None:
    """Remove what is left of runs whose removal was cut off."""
    with database.read() as connection:
        claimed = purges.claimed_runs(connection)
    for run_id in claimed:
        _remove_run(database, run_id)


def _remove_run(database: Database, run_id: str) -> None:
    is_more = True
    while is_more:
        with database.write() as connection:
            is_more = purges.delete_some_results(connection, run_id)
    with database.write() as connection:
        purges.delete_run(connection, run_id)


def _uses(task: sa.Row[Any]) -> list[EvaluatorUse]:
    return msgspec.convert(task.evaluators, list[EvaluatorUse])


def _require_deleted(kind: str, name: str, deleted_us: int | None) -> None:
    if deleted_us is None:
        raise ConflictError(f"{kind} {quote(name)} is not deleted; delete it first")


def _refuse_used(kind: str, name: str, tasks: Sequence[str], run_ids: Sequence[str]) -> None:
    used = [f"task {quote(one)}" for one in tasks] + [f"run {one}" for one in run_ids]
    if used:
        told = ", ".join(used[:_NAMED]) + (" and others" if len(used) > _NAMED else "")
        raise ConflictError(f"{kind} {quote(name)} is referred to by {told}; purge these first")


def _note(
    connection: sa.Connection, project_id: str, kind: str, target_id: str, detail: dict[str, Any]
) -> None:
    audit.note(connection, project_id, "purge", kind=kind, target_id=target_id, detail=detail)
