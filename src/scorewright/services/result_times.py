"""How results change over time: by hour or day, over all runs of a task or a project, from roll-ups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import UsageError
from scorewright.domain.json_value import JsonObject
from scorewright.domain.rollup import Rollup
from scorewright.domain.time_rollup import TimeRollup
from scorewright.services.run_access import need_task
from scorewright.services.run_model import FrozenEvaluator
from scorewright.services.run_results import PERCENTS
from scorewright.storage.database import Database
from scorewright.storage.repositories import result_times as time_rows
from scorewright.storage.repositories.result_times import LENGTHS_S, Added, start_of
from scorewright.storage.tables.metadata import now_us

Every: TypeAlias = Literal["hour", "day"]
_LENGTH_S: Final = dict(zip(("hour", "day"), LENGTHS_S, strict=True))
#: Of a window, and of an answer.
MAX_TIMES: Final = 1_000
MAX_POINTS: Final = 10_000
_USUAL_TIMES: Final = {"hour": 7 * 24, "day": 90}


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """Which times of which evaluators are asked for."""

    every: Every = "hour"
    #: From, and until but without; None for now, and for a week of hours or 90 days before it.
    from_us: int | None = None
    to_us: int | None = None
    #: What results call the evaluators; none for all.
    evaluators: tuple[str, ...] = ()


class Point(msgspec.Struct, frozen=True):
    """One hour or day that has results."""

    start_us: int
    #: As in a summary, with percentiles.
    values: JsonObject


class TimeSeries(msgspec.Struct, frozen=True, kw_only=True):
    """One version of an evaluator over time."""

    evaluator: str
    evaluator_id: str
    version: int
    score_range: tuple[float, float] | None
    points: list[Point]


def add(
    connection: sa.Connection,
    run: sa.Row[Any],
    created_us: int,
    found: Sequence[tuple[FrozenEvaluator, Rollup]],
) -> None:
    """Add what some results of a run amount to, in the transaction that writes them, at its end."""
    added = [
        Added(
            one.evaluator.name,
            one.evaluator_id,
            one.evaluator.version,
            one.evaluator.score_range,
            rollup,
        )
        for one, rollup in found
    ]
    time_rows.add(connection, (run.task_id, run.project_id), created_us, added)


def series(
    database: Database, project_id: str, task_ref: str | None, window: Window
) -> list[TimeSeries]:
    """Return what results came to over time.

    Args:
        database: Where they are.
        project_id: Whose they are.
        task_ref: Id or name of the one task that they are of; None for all of the project.
        window: Which times.

    Raises:
        NotFoundError: The caller's: there is no such task.
        UsageError: The caller's: the window is empty, or there is too much in it.
    """
    length_s = _LENGTH_S[window.every]
    from_us, to_us = _bounds(window, length_s)
    with database.read() as connection:
        scope_id = project_id
        if task_ref is not None:
            scope_id = need_task(connection, project_id, task_ref, deleted=True).id
        rows = time_rows.between(
            connection,
            scope_id,
            length_s=length_s,
            from_us=from_us,
            to_us=to_us,
            evaluators=window.evaluators,
            at_most=MAX_POINTS + 1,
        )
    if len(rows) > MAX_POINTS:
        raise UsageError(
            f"evaluator: there are more than {MAX_POINTS:,} points in this window; ask for some evaluators, a "
            "shorter time, or every day"
        ).at("evaluator")
    return _by_evaluator(rows)


def _bounds(window: Window, length_s: int) -> tuple[int, int]:
    to_us = now_us() if window.to_us is None else window.to_us
    from_us = window.from_us
    if from_us is None:
        from_us = to_us - _USUAL_TIMES[window.every] * length_s * 1_000_000
    if from_us >= to_us:
        raise UsageError("from: it is not before the end of the window; give an earlier one").at(
            "from"
        )
    # A time counts when any of it lies in the window.
    from_us = start_of(from_us, length_s)
    if to_us - from_us > (MAX_TIMES + 1) * length_s * 1_000_000:
        raise UsageError(
            f"from: the window has more than {MAX_TIMES:,} times ({window.every}s); give a later one, or another `every`"
        ).at("from")
    return from_us, to_us


def _by_evaluator(rows: Sequence[sa.Row[Any]]) -> list[TimeSeries]:
    found: dict[tuple[str, str, int], TimeSeries] = {}
    for row in rows:
        score_range = None if row.low is None else (row.low, row.high)
        key = (row.evaluator, row.evaluator_id, row.version)
        if key not in found:
            found[key] = TimeSeries(
                evaluator=row.evaluator,
                evaluator_id=row.evaluator_id,
                version=row.version,
                score_range=score_range,
                points=[],
            )
        values = TimeRollup(score_range, [row.body]).document(PERCENTS)
        found[key].points.append(Point(row.start_us, values))
    return [found[key] for key in sorted(found)]
