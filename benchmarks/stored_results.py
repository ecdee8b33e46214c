"""A million stored results: how long each kind of question takes over the API, and what one result takes on the disk."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import sqlalchemy as sa

from measure import Figure
from scorewright.api.paging import read_cursor, write_cursor
from scorewright.domain.result import FailureCode
from scorewright.domain.result_record import FailureRecord, ResultRecord
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project
from scorewright.storage.schema import migrate
from scorewright.storage.tables.metadata import now_us
from servers import PROJECT, RunningServer, running_server, stores
from stored_runs import StoredPart, frozen_evaluator, new_run, new_task, store

BUDGET_MS: Final = 50
#: Items of the runs; each has three results.
_RUNS: Final = (300_000, 6_667, 6_667, 6_667, 6_667, 6_667)
_CHUNK: Final = 2_000
_WEEK_US: Final = 7 * 86_400 * 1_000_000
_WORDS: Final = (
    "answer names place date source wrong right misses cites invents repeats explains question "
    "customer order refund invoice late early polite rude short long unclear precise"
).split()
_NAMES: Final = ("similarity", "rating", "length")
_RANGES: Final = ((0.0, 1.0), (1.0, 5.0), None)
#: Asked of the largest run: of `results` in every order, the first page and deep ones.
_FILTERS: Final[dict[str, dict[str, Any]]] = {
    "everything": {},
    "failed": {"status": "failed"},
    "skipped or failed": {"status": ["skipped", "failed"]},
    "one evaluator": {"evaluator": "rating"},
    "raw score, a thousandth": {"evaluator": "similarity", "min_score": 0.5, "max_score": 0.501},
    "raw score, a half": {"min_score": 0.25, "max_score": 0.75},
    "normalised, a thousandth": {"min_score": 0.5, "max_score": 0.501, "normalised": True},
    "normalised, a half": {"min_score": 0.25, "max_score": 0.75, "normalised": True},
    "an hour": {"from": "HOUR", "to": "HOUR+1"},
    "word that is everywhere": {"search": "the"},
    "word that is nowhere": {"search": "xylophone"},
    "word that is there once": {"search": "n123457"},
    "begin of rare words": {"search": "n1234"},
    "three words": {"search": "refund wrong polite"},
    "word, score and status": {
        "search": "refund",
        "status": "scored",
        "evaluator": "similarity",
        "max_score": 0.05,
    },
    "what contradicts": {"status": "failed", "min_score": 0.1},
}
_ORDERS: Final = ("item", "newest", "lowest", "highest")


def measure_stored_results(folder: Path, rounds: int) -> list[Figure]:
    """Fill each database and ask it.

    Args:
        folder: For the databases.
        rounds: How often each question is asked.
    """
    figures: list[Figure] = []
    with stores(folder) as urls:
        for store, url in urls.items():
            before = _bytes_of(url)
            runs, wall_s = fill(url)
            results = 3 * sum(_RUNS)
            stored = _bytes_of(url) - before
            figures += [
                Figure(f"{store}: storing {results:,} results", "results/s", (results / wall_s,)),
                Figure(f"{store}: storage of a result", "bytes", (stored / results,)),
            ]
            with running_server(folder, url) as server:
                figures += _ask_all(server, store, runs[0], rounds)
    return figures


def _ask_all(server: RunningServer, store: str, run: str, rounds: int) -> list[Figure]:
    figures: list[Figure] = []
    path = f"{PROJECT}/runs/{run}"
    hour = _an_hour(server)
    for name, asked in _FILTERS.items():
        params = {key: hour.get(str(value), value) for key, value in asked.items()}
        for kind in ("results", "items"):
            walls: list[float] = []
            for order in _ORDERS:
                walls += _pages(server, f"{path}/{kind}", {**params, "order": order}, rounds)
            figures.append(_p95(f"{store}: {kind}, {name}, every order, first and deep", walls))
    for every in ("hour", "day"):
        walls = [
            _ask(server, f"{PROJECT}/results/over-time", {"every": every})[0]
            for _ in range(4 * rounds)
        ]
        figures.append(_p95(f"{store}: over time by {every}, a project", walls))
    walls = [_ask(server, f"{path}/summary", {})[0] for _ in range(rounds)]
    figures.append(_p95(f"{store}: summary of a run", walls))
    walls = [_ask(server, f"{path}/distributions", {"status": "scored"})[0] for _ in range(rounds)]
    figures.append(Figure(f"{store}: distributions with a filter", "ms", tuple(walls)))
    return figures


def _pages(server: RunningServer, path: str, params: dict[str, Any], rounds: int) -> list[float]:
    """Time the first page, the second, and one in the middle of the run."""
    walls: list[float] = []
    for _ in range(rounds):
        wall_ms, page = _ask(server, path, params)
        walls.append(wall_ms)
        if page["next_cursor"] is None:
            continue
        # Pages as large as can be lead to the depths.
        cursor = page["next_cursor"]
        for _ in range(2):
            _, page = _ask(server, path, {**params, "cursor": cursor, "limit": 500})
            cursor = page["next_cursor"] or cursor
        deep = _deep_cursor(cursor)
        walls += [_ask(server, path, {**params, "cursor": one})[0] for one in (cursor, deep)]
    return walls


def _deep_cursor(cursor: str) -> str:
    """Return the place in the midst of a run, of whatever order a cursor is of."""
    key = read_cursor(cursor, (float, int, int)) or (0.0,)
    place = float(key[0])
    if place > 1e12:
        return write_cursor(place - _WEEK_US / 2, 0, 0)
    return write_cursor(place and 0.5, 1, _RUNS[0] // 2)


def _ask(server: RunningServer, path: str, params: dict[str, Any]) -> tuple[float, Any]:
    started_s = time.perf_counter()
    answer = server.client.get(path, params=params).raise_for_status()
    wall_ms = (time.perf_counter() - started_s) * 1000
    return wall_ms, answer.json()


def _an_hour(server: RunningServer) -> dict[str, str]:
    series: Any = _ask(server, f"{PROJECT}/results/over-time", {})[1]
    starts = [point["start"] for point in series[0]["points"]]
    middle = len(starts) // 2
    return {"HOUR": starts[middle], "HOUR+1": starts[middle + 1]}


def _p95(name: str, walls: Sequence[float]) -> Figure:
    worst_ms = quantiles(walls, n=20)[-1] if len(walls) > 1 else walls[0]
    return Figure(f"{name}, p95", "ms", (worst_ms,), BUDGET_MS)


def fill(url: str) -> tuple[list[str], float]:
    """Store the runs as a worker does; returns their ids and how long it took."""
    database = Database(url)
    migrate(database)
    ensure_default_project(database)
    task_id, end_us = new_task(database, "task"), now_us()
    frozen = list(map(frozen_evaluator, _NAMES, _RANGES))
    chance, wall_s, ids = random.Random(7), 0.0, list[str]()
    for items in _RUNS:
        run_id = new_run(database, task_id, frozen, total=items)
        ids.append(run_id)
        for number, first in enumerate(range(1, items + 1, _CHUNK)):
            numbers = range(first, min(first + _CHUNK, items + 1))
            found = [[(n, _record(at, n, chance)) for n in numbers] for at in range(len(frozen))]
            created_us = end_us - _WEEK_US + _WEEK_US * first // items
            started_s = time.perf_counter()
            store(database, run_id, frozen, StoredPart(number, created_us, found))
            wall_s += time.perf_counter() - started_s
    if not database.is_sqlite:
        with database.engine.connect() as connection:  # what autovacuum does sooner or later
            own = connection.execution_options(isolation_level="AUTOCOMMIT")
            own.execute(sa.text("VACUUM ANALYZE"))
    database.close()
    return ids, wall_s


def _record(at: int, number: int, chance: random.Random) -> ResultRecord:
    score_range, draw = _RANGES[at], chance.random()
    status, score, normalised, passed, failure, reason = "scored", None, None, None, None, None
    if draw < 0.01:
        status = "failed"
        failure = FailureRecord(
            FailureCode.AUTHOR_ERROR, "ValueError", f"the field n{number} is empty", 3, None
        )
    elif draw < 0.03:
        status, reason = "skipped", "the answer has no reference"
    else:
        score = (chance.random(), float(chance.randint(1, 5)), chance.expovariate(0.01))[at]
        passed = draw < 0.8
        if score_range is not None:
            normalised = (score - score_range[0]) / (score_range[1] - score_range[0])
    explanation = None
    if status == "scored":
        explanation = f"the answer n{number} {' '.join(chance.choices(_WORDS, k=8))}"
    return ResultRecord(
        item_id=str(number),
        evaluator="",
        version=1,
        status=status,
        score=score,
        normalised_score=normalised,
        passed=passed,
        metrics={},
        explanation=explanation,
        reason=reason,
        failure=failure,
        output="",
        duration_ms=0.1,
        out_of_range=False,
        digest="",
        basis="0123456789abcdef",
        environment="0123456789abcdef",
        runner="jail: 8 layers",
    )


def _bytes_of(url: str) -> int:
    database = Database(url)
    if database.is_sqlite:
        path = Path(str(database.engine.url.database))
        database.close()
        return sum(one.stat().st_size for one in path.parent.glob(f"{path.name}*"))
    with database.read() as connection:
        size = connection.scalar(sa.text("SELECT pg_database_size(current_database())"))
    database.close()
    return int(size or 0)
