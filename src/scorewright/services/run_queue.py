"""Whose turn it is: what the worker goes by, and what those who wait are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import sqlalchemy as sa


def in_turn(waiting: Iterable[sa.Row[Any]], begun: Collection[str]) -> Iterator[sa.Row[Any]]:
    """Put runs in the order in which they are worked on.

    Fair: who has the fewest of its runs under way comes first, then who has waited longest.

    Args:
        waiting: The runs to be worked on, the oldest first.
        begun: Ids of those that somebody works on.
    """
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
        busy[project_id] += run.id not in begun
        if not queues[project_id]:
            del queues[project_id]
        yield run


def runs_ahead(waiting: Iterable[sa.Row[Any]], begun: Collection[str], run_id: str) -> int:
    """Count the runs that will be begun before one that waits; none for one that somebody has taken up."""
    if run_id in begun:
        return 0
    ahead = 0
    for run in in_turn(waiting, begun):
        if run.id == run_id:
            break
        ahead += run.status == "queued" and run.id not in begun
    return ahead
