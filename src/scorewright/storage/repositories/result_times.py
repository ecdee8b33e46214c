"""What results amount to by hour and day: kept up with every part of a run, read for charts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec
import sqlalchemy as sa

from scorewright.domain.rollup import Rollup
from scorewright.domain.time_rollup import TimeRollup
from scorewright.storage.statements import insert_new
from scorewright.storage.tables.results import result_times


class TimeKey(msgspec.Struct, frozen=True, order=True):
    """What one roll-up is about."""

    scope_id: str
    length_s: int
    start_us: int
    evaluator: str
    evaluator_id: str
    version: int


def add(
    connection: sa.Connection,
    found: Mapping[TimeKey, Rollup],
    score_range: Mapping[TimeKey, tuple[float, float] | None],
) -> None:
    """Add what some results amount to.

    Keys are taken hold of in order, so that two who write never wait for each other; other runs wait until the transaction
    ends: call this last in it.
    """
    for key in sorted(found):
        low, high = score_range[key] or (None, None)
        new = {**msgspec.structs.asdict(key), "low": low, "high": high, "body": b""}
        insert_new(connection, result_times, [new])
        is_this = [
            result_times.c[name] == value for name, value in msgspec.structs.asdict(key).items()
        ]
        stored = connection.scalar(sa.select(result_times.c.body).where(*is_this).with_for_update())
        rollup = TimeRollup(score_range[key], [stored] if stored else [])
        rollup.add(found[key])
        connection.execute(result_times.update().where(*is_this).values(body=rollup.encoded()))


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
