"""Who refers to an evaluator: tasks and monitors. Both are asked here, so that there is one answer."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa

from scorewright.services.run_model import EvaluatorUse
from scorewright.storage.repositories import tasks as task_rows
from scorewright.storage.repositories.evaluators import find_evaluator


class Referrer(msgspec.Struct, frozen=True, kw_only=True):
    """A task or monitor that has an evaluator among its own."""

    referrer_id: str
    name: str
    #: The number of the version it is fixed to; None follows the newest.
    version: int | None


def tasks_of(connection: sa.Connection, project_id: str, evaluator_id: str) -> list[Referrer]:
    """Return the tasks that are not deleted and have the evaluator among theirs."""
    evaluator = find_evaluator(connection, project_id, evaluator_id)
    if evaluator is None:
        return []
    refs = (evaluator.evaluator_id, evaluator.name.lower())  # neither ever changes
    found: list[Referrer] = []
    for task in task_rows.uses(connection, project_id):
        for use in msgspec.convert(task.evaluators, list[EvaluatorUse]):
            if use.evaluator.lower() in refs:
                version = None if use.version == "latest" else use.version
                found.append(Referrer(referrer_id=task.id, name=task.name, version=version))
    return found


def active_monitors_of(
    connection: sa.Connection, project_id: str, evaluator_id: str
) -> list[Referrer]:
    """Return the active monitors that have it; while there is one, the evaluator cannot be deleted."""
    del connection, project_id, evaluator_id  # there are no monitors yet
    return []
