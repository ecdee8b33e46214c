"""Results by hour and day are what going through all results gives, whatever came in which order."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from run_parts import numbers_task, work_off
from scorewright.domain.aggregate import Summary
from scorewright.domain.result_record import to_item_outcome
from scorewright.domain.score_counts import rank_of
from scorewright.domain.time_rollup import TimeRollup
from scorewright.services.run_results import PERCENTS
from scorewright.storage.database import Database
from scorewright.storage.migrations.results_in_blocks import fill
from scorewright.storage.repositories.results import NumberedRecord
from scorewright.storage.tables import result_blocks, result_times, result_words
from stored_records import made_record
from stored_runs import StoredPart, frozen_evaluator, new_run, new_task, store

BASE = "/api/v1/projects/default"
START_US = 1_767_225_600_000_000
HOUR_US = 3_600_000_000
WINDOW = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-05T00:00:00Z"}
RANGES = {"similarity": (0.0, 1.0), "length": None}


def fill_tasks(database: Database, chance: random.Random) -> dict[str, list[list[NumberedRecord]]]:
    """Two tasks with two runs each, their parts at any time of three days; returns what is in them, by task."""
    frozen = [frozen_evaluator(name, score_range) for name, score_range in RANGES.items()]
    stored: dict[str, list[list[NumberedRecord]]] = {}
    for name in ("a", "b"):
        task_id = new_task(database, name)
        stored[name] = [[], []]
        for _ in range(2):
            run_id = new_run(database, task_id, frozen, total=40)
            for number in range(8):
                created_us = START_US + chance.randrange(72 * HOUR_US)
                items = range(number * 5 + 1, number * 5 + 6)
                found = [
                    [(n, made_record(at, n, score_range, chance)) for n in items]
                    for at, score_range in enumerate(RANGES.values())
                ]
                store(database, run_id, frozen, StoredPart(number, created_us, found))
                for at, own in enumerate(found):
                    stored[name][at] += [NumberedRecord(at, n, created_us, one) for n, one in own]
    return stored


def expected(found: list[NumberedRecord], name: str, length_us: int) -> list[dict[str, Any]]:
    """What a summary of each time's results says."""
    by_start: defaultdict[int, list[NumberedRecord]] = defaultdict(list)
    for one in found:
        by_start[one.created_us - one.created_us % length_us].append(one)
    points: list[dict[str, Any]] = []
    for start_us, own in sorted(by_start.items()):
        summary = Summary(name, score_range=RANGES[name])
        summary.add_batch([o.item_no for o in own], [to_item_outcome(o.record) for o in own])
        scores = sorted(
            one.record.score
            for one in own
            if one.record.score is not None and not one.record.out_of_range
        )
        start = datetime.fromtimestamp(start_us / 1e6, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
        whole = msgspec.to_builtins(summary.document())
        percentiles = {f"{p:g}": scores[rank_of(p, len(scores)) - 1] for p in PERCENTS if scores}
        own_values = {"start": start, "percentiles": percentiles, "bits": 53, "reused": 0}
        points.append({**whole, **own_values})
    return points


@pytest.mark.parametrize(("every", "hours"), [("hour", 1), ("day", 24)])
def test_times_are_what_their_results_amount_to(
    every: str, hours: int, client: TestClient, database: Database
):
    stored = fill_tasks(database, random.Random(hours))  # noqa: S311 - data

    for task in ("a", "b", None):
        params = {**WINDOW, "every": every, **({"task": task} if task else {})}
        found: Any = client.get(f"{BASE}/results/over-time", params=params).json()
        assert [one["evaluator"] for one in found] == sorted(RANGES)
        for one in found:
            at = list(RANGES).index(one["evaluator"])
            tasks = [task] if task else ["a", "b"]
            of_evaluator = [record for name in tasks for record in stored[name][at]]
            wanted = expected(of_evaluator, one["evaluator"], hours * HOUR_US)
            assert len(one["points"]) == len(wanted)
            for point, values in zip(one["points"], wanted, strict=True):
                assert point == {name: values[name] for name in point}


def test_a_window_holds_what_begins_in_it(client: TestClient, database: Database):
    fill_tasks(database, random.Random(3))  # noqa: S311 - data
    path = f"{BASE}/results/over-time"

    def starts(**params: Any) -> list[str]:
        found: Any = client.get(path, params={"evaluator": "length", **params}).json()
        return [point["start"] for one in found for point in one["points"]]

    every = starts(**WINDOW)
    inside = {"from": "2026-01-01T12:30:00Z", "to": "2026-01-02T12:00:00Z"}
    assert starts(**inside) == [
        one for one in every if "2026-01-01T12:00" <= one < "2026-01-02T12:00"
    ]
    assert starts() == []  # of the last week


def test_a_question_without_an_answer_is_refused_by_name(client: TestClient, database: Database):
    del database
    for params, pointer in (
        ({"from": WINDOW["to"], "to": WINDOW["from"]}, "from"),
        ({"from": "2020-01-01T00:00:00Z", "to": WINDOW["to"]}, "from"),
        ({"every": "minute"}, "every"),
    ):
        answer = client.get(f"{BASE}/results/over-time", params=params)
        assert answer.status_code == 422
        assert pointer in answer.text
    assert client.get(f"{BASE}/results/over-time", params={"task": "none"}).status_code == 404


def test_runs_add_up_over_a_task_with_what_they_took_over(client: TestClient, database: Database):
    client.post(f"{BASE}/tasks", json=numbers_task(60, "parity", "picky"))
    run: Any = client.post(f"{BASE}/tasks/numbers/runs").json()
    work_off(database)
    client.post(f"{BASE}/runs/{run['id']}/repeat", json={"mode": "failed"})
    work_off(database)

    found: Any = client.get(f"{BASE}/results/over-time", params={"every": "day"}).json()

    sums = [
        {
            name: sum(point[name] for point in one["points"])
            for name in ("scored", "skipped", "failed", "reused")
        }
        for one in found
    ]
    assert sums == [
        {"scored": 120, "skipped": 0, "failed": 0, "reused": 60},
        {"scored": 94, "skipped": 16, "failed": 10, "reused": 55},
    ]


def test_migrating_finds_the_blocks_and_times_that_storing_writes(
    client: TestClient, database: Database
):
    del client
    fill_tasks(database, random.Random(4))  # noqa: S311 - data
    tables = (result_blocks, result_words, result_times)
    before = _contents(database)
    with database.write() as connection:
        for table in tables:
            connection.execute(table.delete())

    with database.write() as connection:
        fill(connection)

    assert _contents(database) == before


def _contents(database: Database) -> list[list[Any]]:
    """What the tables hold, but for the numbers of blocks."""
    with database.read() as connection:
        blocks = connection.execute(
            sa.select(*[column for column in result_blocks.c if column.name != "block_no"])
        )
        words = connection.execute(sa.select(result_words.c.run_id, result_words.c.body))
        times = connection.execute(sa.select(result_times)).mappings().all()
        found = [sorted(map(repr, blocks)), sorted(map(repr, words))]
    # Sums are kept as they were added up: what they say is compared.
    said = [
        (
            row["scope_id"],
            row["start_us"],
            row["length_s"],
            row["evaluator"],
            repr(TimeRollup(RANGES[row["evaluator"]], [row["body"]]).document(PERCENTS)),
        )
        for row in times
    ]
    return [*found, sorted(said)]
