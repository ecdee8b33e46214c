"""Pauses, cancels, goes on with and repeats runs at random while their workers are killed, and checks that the books balance."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import sqlalchemy as sa

from faults.killing import begin, kill_one, workers
from run_parts import make_parts
from scorewright.domain.errors import CallerError
from scorewright.services import runs
from scorewright.services.run_model import ENDED
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id
from scorewright.storage.tables import results

_MOST_RUNS: Final = 5
#: What depends on the time, or on which run of several a result was made in.
_OF_THE_MOMENT: Final = ("run_id", "duration_us", "created_us", "reused")
Rows = dict[tuple[int, int], tuple[Any, ...]]


class Meddler:
    """Does to the runs of one task whatever a person may do, at random, and follows what they hold.

    Args:
        database: Where they are.
        first: The id of the first of them.
        chance: Decides.
    """

    def __init__(self, database: Database, first: str, chance: random.Random) -> None:
        self.run_ids = [first]
        self._database = database
        self._project = project_id(database, "default")
        self._chance = chance
        #: What runs held when they were seen to have ended.
        self._ended: dict[str, Rows] = {}

    def meddle(self) -> None:
        """Do one thing; that it may not be done now is an answer like any other."""
        run_id = self._chance.choice(self.run_ids)
        acts: Sequence[Callable[[str], object]] = (
            self._pause,
            self._resume,
            self._resume,
            self._cancel,
            self._repeat_failed,
            self._repeat_all,
        )
        with suppress(CallerError):
            self._chance.choice(acts)(run_id)
        self._look()

    def finish(self) -> bool:
        """Go on with whatever rests; tells whether all runs have ended."""
        self._look()
        left = [run_id for run_id in self.run_ids if self._find(run_id).status not in ENDED]
        for run_id in left:
            with suppress(CallerError):
                self._resume(run_id)
        return not left

    def unbalanced(self, expected: Mapping[tuple[int, int], tuple[Any, ...]]) -> list[str]:
        """Say what is wrong with the runs, all of which have ended; `expected` is what an undisturbed one holds."""
        wrong: list[str] = []
        for run_id in self.run_ids:
            wrong += [f"run {run_id}: {one}" for one in self._wrong_with(run_id, expected)]
        return wrong

    def _wrong_with(
        self, run_id: str, expected: Mapping[tuple[int, int], tuple[Any, ...]]
    ) -> list[str]:
        run = self._find(run_id)
        rows = rows_of(self._database, run_id)
        wrong: list[str] = []
        if run.status == "failed":
            wrong.append(f"failed: {run.error}")
        if any(expected.get(key) != row for key, row in rows.items()):
            wrong.append("has results that an undisturbed run has not")
        if run.status == "completed" and rows.keys() != expected.keys():
            wrong.append(f"lost: {len(expected.keys() - rows.keys())}")
        by_item = Counter(item for _, item in rows)
        if len(by_item) != run.done or set(by_item.values()) - {len(run.counts)}:
            wrong.append(f"says {run.done} items are done, and has results of {len(by_item)}")
        for at, counts in enumerate(run.counts):
            kept = Counter(row[0] for (evaluator, _), row in rows.items() if evaluator == at)
            told = {"scored": counts.scored, "skipped": counts.skipped, "failed": counts.failed}
            if dict(kept) != {status: count for status, count in told.items() if count}:
                wrong.append(f"counts {told}, and has {dict(kept)}")
        if run_id in self._ended and self._ended[run_id] != rows:
            wrong.append("was changed after its end")
        return wrong

    def _look(self) -> None:
        for run_id in self.run_ids:
            if run_id not in self._ended and self._find(run_id).status in (
                "completed",
                "cancelled",
            ):
                self._ended[run_id] = rows_of(self._database, run_id)

    def _find(self, run_id: str) -> Any:
        return runs.find(self._database, self._project, run_id)

    def _pause(self, run_id: str) -> None:
        runs.pause(self._database, self._project, run_id)

    def _resume(self, run_id: str) -> None:
        runs.resume(self._database, self._project, run_id)

    def _cancel(self, run_id: str) -> None:
        if self._chance.random() < 0.4:  # otherwise few runs would have anything to lose
            runs.cancel(self._database, self._project, run_id)

    def _repeat_failed(self, run_id: str) -> None:
        self._repeat(run_id, "failed")

    def _repeat_all(self, run_id: str) -> None:
        self._repeat(run_id, "all")

    def _repeat(self, run_id: str, mode: Any) -> None:
        if len(self.run_ids) < _MOST_RUNS:
            made = runs.repeat(self._database, make_parts(), self._project, run_id, mode)
            self.run_ids.append(made.run_id)


def rows_of(database: Database, run_id: str) -> Rows:
    """Return what a run holds, by evaluator and item; the status comes first."""
    columns = [one for one in results.c if one.name not in _OF_THE_MOMENT]
    with database.read() as connection:
        found = connection.execute(sa.select(*columns).where(results.c.run_id == run_id))
        return {(row.evaluator_no, row.item_no): (row.status, *tuple(row)) for row in found}


def meddle(
    database: Database,
    url: str,
    *,
    count: int,
    name: str,
    expected: Rows,
    chance: random.Random,
    kills: int,
    at_once: int,
) -> tuple[list[str], int]:
    """Meddle with the runs of a new task and kill their workers, until so many were killed; then let all runs end.

    Returns:
        What is wrong with them, and how many runs there were.
    """
    meddler = Meddler(database, begin(database, count, name), chance)
    with workers(url, at_once) as alive:
        killed = 0
        while killed < kills:
            for _ in range(chance.randrange(4)):
                meddler.meddle()
                time.sleep(chance.random() * 0.3)
            kill_one(alive, url, chance)
            killed += 1
        ends_at_s = time.monotonic() + 300
        while not meddler.finish():
            assert time.monotonic() < ends_at_s, "a run does not end"
            time.sleep(0.1)
    return meddler.unbalanced(expected), len(meddler.run_ids)
