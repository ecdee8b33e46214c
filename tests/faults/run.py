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
    make_task,
    outcome,
    prepare,
    undisturbed,
)
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
    expected = undisturbed(database, _ITEMS)
    killed = number = wrong = 0
    while killed < kills:
        number += 1
        at_most = min(_KILLS, kills - killed)
        if number % 3 == 0:
            what = "server"
            make_task(database, _ITEMS, f"disturbed-{number}")
            run_id, more = disturb_server(url, f"disturbed-{number}", chance=chance, kills=at_most)
        else:
            what = "workers"
            run_id = begin(database, _ITEMS, f"disturbed-{number}")
            at_once = 1 if database.is_sqlite else 2
            more = disturb(database, url, run_id, chance=chance, kills=at_most, at_once=at_once)
        killed += more
        found = differences(outcome(database, run_id), expected)
        wrong += bool(found)
        print(
            f"{name}: {killed} kills, {number} runs ({what}): {', '.join(found) or 'all is there once'}"
        )
        sys.stdout.flush()
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
