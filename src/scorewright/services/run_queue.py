"""Whose turn it is: what the worker goes by, and what those who wait are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

import sqlalchemy as sa

#: Runs of one project that are worked on at a time, where the operator says nothing else.
RUNS_PER_PROJECT: Final = 4


def in_turn(
    waiting: Iterable[sa.Row[Any]], begun: Collection[str], *, at_most: int
) -> Iterator[sa.Row[Any]]:
    """Put runs in the order in which they are worked on.

    Fair: who has the fewest of its runs under way comes first, then who has waited longest.

    Args:
        waiting: The runs to be worked on, the oldest first.
        begun: Ids of those that somebody works on.
        at_most: Runs of one project that may be under way at a time: without those that have to wait for others of it.
    """
    return (run for run, must_wait in _in_order(waiting, begun, at_most) if not must_wait)


def runs_ahead(
    waiting: Iterable[sa.Row[Any]], begun: Collection[str], run_id: str, *, at_most: int
) -> int:
    """Count the runs that will be begun before one that waits; none for one that somebody has taken up.

    One that waits for others of its project comes behind all that do not.
    """
    if run_id in begun:
        return 0
    free: list[str] = []
    held: list[str] = []
    for run, must_wait in _in_order(waiting, begun, at_most):
        if run.id == run_id or (run.status == "queued" and run.id not in begun):
            (held if must_wait else free).append(run.id)
    queue = free + held
    return queue.index(run_id) if run_id in queue else 0


def _in_order(
    waiting: Iterable[sa.Row[Any]], begun: Collection[str], at_most: int
) -> Iterator[tuple[sa.Row[Any], bool]]:
    """Give each run in fair order, and whether it has to wait for others of its project to end."""
    queues: dict[str, list[sa.Row[Any]]] = {}
    busy = Counter[str]()
    for run in waiting:
        queues.setdefault(run.project_id, []).append(run)
        busy[run.project_id] += run.id in begun
    for queue in queues.values():
        queue.reverse()
    while queues:
        project_id = min(queues, key=lambda one: (busy[one], queues[one][-1].created_us))
        run = queues[project_id].pop()
        is_new = run.id not in begun
        # What is to be cancelled makes way.
        yield run, is_new and busy[project_id] >= at_most and run.status != "cancelling"
        busy[project_id] += is_new
        if not queues[project_id]:
            del queues[project_id]
