"""The fault suite: kills workers and servers hundreds of times, on both databases, and counts what is lost or there twice.

`run.py [--kills 200] [--seed 1] [--database sqlite|postgresql]`
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from databases import HOW_TO_INSTALL, new_database, postgres_binaries, postgres_server
from faults.killing import (
    begin,
    differences,
    disturb,
    disturb_server,
    lost_and_twice,
    make_task,
    outcome,
    prepare,
)
from faults.meddling import meddle, rows_of
from run_parts import work_off
from scorewright.storage.database import Database, sqlite_url

_ITEMS = 1_200
#: Of one run; then another one is begun.
_KILLS = 25


def main() -> int:
    """Kill so many times on each database; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=("sqlite", "postgresql"))
    asked = parser.parse_args()
    names = [asked.database] if asked.database else ["sqlite", "postgresql"]
    wrong = 0
    for name in names:
        if name == "postgresql" and postgres_binaries() is None:
            print(f"postgresql: SKIPPED, it is not installed: {HOW_TO_INSTALL}")
            continue
        with _database(name) as url:
            wrong += _kill_on(name, url, asked.kills, random.Random(asked.seed))
    return 1 if wrong else 0


def _kill_on(name: str, url: str, kills: int, chance: random.Random) -> int:
    with closing(prepare(url)) as database:
        return _kill_with(database, name, url, kills, chance)


def _kill_with(database: Database, name: str, url: str, kills: int, chance: random.Random) -> int:
    """Kill so many times; returns how much was lost, there twice, or different."""
    suite = _Suite(database, url, chance)
    killed = number = 0
    while killed < kills:
        what, play = suite.rounds[number % len(suite.rounds)]
        number += 1
        more, wrong = play(f"disturbed-{number}", min(_KILLS, kills - killed))
        killed += more
        print(
            f"{name}: {killed} kills, round {number} ({what}): {', '.join(wrong) or 'all is there once'}"
        )
        sys.stdout.flush()
    totals = ", ".join(f"{count} {what}" for what, count in suite.totals.items())
    print(f"{name}: {killed} kills: {totals}")
    sys.stdout.flush()
    return sum(suite.totals.values())


class _Suite:
    """What is done on one database, round by round; each takes a name and how many to kill, and says what is wrong."""

    def __init__(self, database: Database, url: str, chance: random.Random) -> None:
        self._database = database
        self._url = url
        self._chance = chance
        self._at_once = 1 if database.is_sqlite else 2
        run_id = begin(database, _ITEMS, "undisturbed")
        work_off(database)
        self._expected = outcome(database, run_id)
        self._expected_rows = rows_of(database, run_id)
        self.totals = dict.fromkeys(("lost", "there twice", "different"), 0)
        self.rounds = (
            ("workers", self._workers),
            ("meddling", self._meddling),
            ("server", self._server),
        )

    def _workers(self, task: str, kills: int) -> tuple[int, list[str]]:
        run_id = begin(self._database, _ITEMS, task)
        killed = disturb(
            self._database,
            self._url,
            run_id,
            chance=self._chance,
            kills=kills,
            at_once=self._at_once,
        )
        return killed, self._count(run_id)

    def _server(self, task: str, kills: int) -> tuple[int, list[str]]:
        make_task(self._database, _ITEMS, task)
        run_id, killed = disturb_server(self._url, task, chance=self._chance, kills=kills)
        return killed, self._count(run_id)

    def _meddling(self, task: str, kills: int) -> tuple[int, list[str]]:
        wrong, _ = meddle(
            self._database,
            self._url,
            count=_ITEMS,
            name=task,
            expected=self._expected_rows,
            chance=self._chance,
            kills=kills,
            at_once=self._at_once,
        )
        self.totals["different"] += len(wrong)
        return kills, wrong

    def _count(self, run_id: str) -> list[str]:
        found = outcome(self._database, run_id)
        lost, twice = lost_and_twice(found, self._expected)
        wrong = differences(found, self._expected)
        self.totals["lost"] += lost
        self.totals["there twice"] += twice
        self.totals["different"] += bool(wrong) and not lost + twice
        return wrong


@contextmanager
def _database(name: str) -> Generator[str]:
    with tempfile.TemporaryDirectory() as folder:
        if name == "sqlite":
            yield sqlite_url(Path(folder) / "faults.db")
            return
        with postgres_server(Path(folder)) as url:
            yield new_database(url)


if __name__ == "__main__":
    sys.exit(main())
