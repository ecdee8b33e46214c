"""What is removed for good: the rows of tasks, evaluators, datasets and runs, and what still refers to them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import sqlalchemy as sa

from scorewright.storage.repositories.runs import PURGING
from scorewright.storage.tables import METADATA
from scorewright.storage.tables.datasets import dataset_versions, datasets
from scorewright.storage.tables.evaluators import evaluators
from scorewright.storage.tables.results import result_times, results
from scorewright.storage.tables.runs import runs
from scorewright.storage.tables.tasks import tasks

#: Results of an evaluator that one transaction removes: others may write in between.
_BLOCK_RESULTS: Final = 10_000


def all_tasks(connection: sa.Connection, project_id: str) -> list[sa.Row[Any]]:
    """Return what the tasks of a project refer to, deleted ones too, by name."""
    asked: list[sa.ColumnElement[Any]] = [tasks.c.id, tasks.c.name]
    statement: sa.Select[Any] = sa.select(*asked, tasks.c.source, tasks.c.evaluators)
    return list(
        connection.execute(
            statement.where(tasks.c.project_id == project_id).order_by(tasks.c.name_key)
        )
    )


def runs_of_task(connection: sa.Connection, task_id: str) -> list[str]:
    """Return some of a task's runs, those that are being removed too, the newest first."""
    return _run_ids(connection, runs.c.task_id == task_id)


def runs_repeated_from(connection: sa.Connection, run_id: str) -> list[str]:
    """Return some of the runs that repeat one, the newest first."""
    return _run_ids(connection, runs.c.parent_run_id == run_id)


def runs_over_dataset(connection: sa.Connection, project_id: str, dataset_id: str) -> list[str]:
    """Return some of the runs over a dataset, the newest first."""
    named = runs.c.source["dataset"].as_string() == dataset_id
    return _run_ids(connection, sa.and_(runs.c.project_id == project_id, named))


def runs_with_evaluator(connection: sa.Connection, project_id: str, evaluator_id: str) -> list[str]:
    """Return some of the runs that have results of an evaluator, the newest first."""
    wanted = sa.literal(evaluator_id.encode(), sa.LargeBinary)
    place: sa.ColumnElement[int] = (
        sa.func.instr(runs.c.resolved, wanted)
        if connection.dialect.name == "sqlite"
        else sa.func.position(wanted.op("IN")(runs.c.resolved))
    )
    return _run_ids(connection, sa.and_(runs.c.project_id == project_id, place > 0))


def _run_ids(connection: sa.Connection, condition: sa.ColumnElement[bool]) -> list[str]:
    newest = sa.select(runs.c.id).where(condition).order_by(runs.c.created_us.desc()).limit(10)
    return list(connection.scalars(newest))


def delete_task(connection: sa.Connection, task_id: str) -> None:
    """Remove a task that has no runs, with what its results came to over time; the project's keeps counting them."""
    connection.execute(result_times.delete().where(result_times.c.scope_id == task_id))
    connection.execute(tasks.delete().where(tasks.c.id == task_id))


def delete_evaluator(connection: sa.Connection, evaluator_id: str) -> None:
    """Remove an evaluator with all that is only its own."""
    _delete_with_parts(connection, evaluators, evaluator_id)


def delete_dataset(connection: sa.Connection, dataset_id: str) -> None:
    """Remove a dataset; its versions become nobody's, and are removed with their rows as any that was left half-way."""
    of_it = dataset_versions.c.dataset_id == dataset_id
    connection.execute(
        dataset_versions.update().where(of_it).values(dataset_id=None, number=None, touched_us=0)
    )
    connection.execute(datasets.delete().where(datasets.c.id == dataset_id))


def claim_run(connection: sa.Connection, run_id: str, statuses: Collection[str]) -> bool:
    """Let nobody see a run any more that has one of some statuses; tells whether it had."""
    claimed = connection.execute(
        runs.update()
        .where(runs.c.id == run_id, runs.c.status.in_(statuses))
        .values(status=PURGING, change=runs.c.change + 1)
    )
    return claimed.rowcount == 1


def claimed_runs(connection: sa.Connection) -> list[str]:
    """Return the runs of all projects that are being removed."""
    return list(connection.scalars(sa.select(runs.c.id).where(runs.c.status == PURGING)))


def delete_some_results(connection: sa.Connection, run_id: str) -> bool:
    """Remove a block of a run's results; tells whether there were any."""
    first = connection.execute(
        sa.select(results.c.evaluator_no, results.c.item_no)
        .where(results.c.run_id == run_id)
        .order_by(results.c.evaluator_no, results.c.item_no)
        .limit(1)
    ).first()
    if first is None:
        return False
    connection.execute(
        results.delete().where(
            results.c.run_id == run_id,
            results.c.evaluator_no == first.evaluator_no,
            results.c.item_no < first.item_no + _BLOCK_RESULTS,
        )
    )
    return True


def delete_run(connection: sa.Connection, run_id: str) -> None:
    """Remove a run with all that is only its own."""
    _delete_with_parts(connection, runs, run_id)


def _delete_with_parts(connection: sa.Connection, whole: sa.Table, whole_id: str) -> None:
    """Remove a row, and those of other tables that are parts of it: no table of parts can be forgotten here."""
    for table in reversed(METADATA.sorted_tables):
        for key in table.foreign_keys:
            if key.column is whole.c.id and table is not whole:
                connection.execute(table.delete().where(key.parent == whole_id))
    connection.execute(whole.delete().where(whole.c.id == whole_id))
