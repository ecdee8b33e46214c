"""What results amount to by hour and day: kept up with every part of a run, read for charts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.rollup import Rollup
from scorewright.domain.time_rollup import TimeRollup
from scorewright.storage.statements import insert_new
from scorewright.storage.tables.results import result_times

#: How long a time is: an hour, a day. They begin with 1970, UTC.
LENGTHS_S: Final = (3_600, 86_400)


class Added(msgspec.Struct, frozen=True):
    """What some results of one evaluator amount to."""

    #: What results call it.
    evaluator: str
    evaluator_id: str
    version: int
    score_range: tuple[float, float] | None
    rollup: Rollup


def start_of(moment_us: int, length_s: int) -> int:
    """Return when the time began that a moment is in."""
    return moment_us - moment_us % (length_s * 1_000_000)


def add(
    connection: sa.Connection,
    scope_ids: Collection[str],
    created_us: int,
    found: Sequence[Added],
) -> None:
    """Add what results amount to that were stored at one moment.

    Keys are taken hold of in order, so that no two who write ever wait for each other; others wait for this transaction to
    end: call this last in it.

    Args:
        connection: A transaction.
        scope_ids: Ids of the task and the project.
        created_us: The moment.
        found: By evaluator.
    """
    keyed = [
        ((scope_id, length_s, start_of(created_us, length_s)), one)
        for scope_id in sorted(scope_ids)
        for length_s in LENGTHS_S
        for one in sorted(found, key=lambda one: (one.evaluator, one.evaluator_id, one.version))
        if one.rollup.summary.judged
    ]
    for (scope_id, length_s, start_us), one in keyed:
        low, high = one.score_range or (None, None)
        key = {
            "scope_id": scope_id,
            "length_s": length_s,
            "start_us": start_us,
            "evaluator": one.evaluator,
            "evaluator_id": one.evaluator_id,
            "version": one.version,
        }
        insert_new(connection, result_times, [{**key, "low": low, "high": high, "body": b""}])
        is_this = [result_times.c[name] == value for name, value in key.items()]
        stored = connection.scalar(sa.select(result_times.c.body).where(*is_this).with_for_update())
        whole = TimeRollup(one.score_range, [stored] if stored else [])
        whole.add(one.rollup)
        connection.execute(result_times.update().where(*is_this).values(body=whole.encoded()))


def between(  # noqa: PLR0913 - each by name
    connection: sa.Connection,
    scope_id: str,
    *,
    length_s: int,
    from_us: int,
    to_us: int,
    evaluators: Collection[str],
    at_most: int,
) -> list[sa.Row[Any]]:
    """Return the roll-ups that start in a window, by time.

    Args:
        connection: Where they are.
        scope_id: Id of a task or project.
        length_s: How long they are.
        from_us: Where the first may start.
        to_us: Before which the last starts.
        evaluators: What results call them; all without.
        at_most: So many.
    """
    columns = result_times.c
    statement = sa.select(result_times).where(
        columns.scope_id == scope_id,
        columns.length_s == length_s,
        columns.start_us >= from_us,
        columns.start_us < to_us,
    )
    if evaluators:
        statement = statement.where(columns.evaluator.in_(evaluators))
    ordered = statement.order_by(
        columns.start_us, columns.evaluator, columns.evaluator_id, columns.version
    )
    return list(connection.execute(ordered.limit(at_most)))
