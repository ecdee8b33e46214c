"""Who refers to an evaluator: tasks and monitors. Both are asked here, so that there is one answer."""

from __future__ import annotations

import msgspec
import sqlalchemy as sa


class Referrer(msgspec.Struct, frozen=True, kw_only=True):
    """A task or monitor that has an evaluator among its own."""

    referrer_id: str
    name: str
    #: The number of the version it is fixed to; None follows the newest.
    version: int | None


def tasks_of(connection: sa.Connection, project_id: str, evaluator_id: str) -> list[Referrer]:
    """Return the tasks that are not deleted and have the evaluator among theirs."""
    del connection, project_id, evaluator_id  # there are no tasks yet
    return []


def active_monitors_of(
    connection: sa.Connection, project_id: str, evaluator_id: str
) -> list[Referrer]:
    """Return the active monitors that have it; while there is one, the evaluator cannot be deleted."""
    del connection, project_id, evaluator_id  # there are no monitors yet
    return []
