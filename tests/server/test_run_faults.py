"""Whatever is killed, whenever: a run completes, and every result is there once. `make test-faults` does it for long."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

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
from faults.meddling import meddle, rows_of
from run_parts import work_off

COUNT = 400


@pytest.mark.timeout(240)
def test_killed_workers_lose_nothing_and_repeat_nothing(database_url: str):
    database = prepare(database_url)
    expected = undisturbed(database, COUNT)
    run_id = begin(database, COUNT, "disturbed")
    at_once = 1 if database.is_sqlite else 2

    killed = disturb(
        database, database_url, run_id, chance=random.Random(5), kills=3, at_once=at_once
    )

    assert killed > 0
    assert differences(outcome(database, run_id), expected) == []
    assert expected["status"] == "completed"
    database.close()


@pytest.mark.timeout(240)
def test_a_killed_server_loses_nothing_and_repeats_nothing(database_url: str):
    with closing(prepare(database_url)) as database:
        expected = undisturbed(database, COUNT)
        make_task(database, COUNT, "disturbed")

        run_id, killed = disturb_server(database_url, "disturbed", chance=random.Random(5), kills=3)

        assert killed > 0
        assert differences(outcome(database, run_id), expected) == []


@pytest.mark.timeout(240)
def test_runs_that_are_meddled_with_while_workers_are_killed_balance(database_url: str):
    with closing(prepare(database_url)) as database:
        first = begin(database, COUNT, "undisturbed")
        work_off(database)
        expected = rows_of(database, first)

        wrong, _ = meddle(
            database,
            database_url,
            count=COUNT,
            name="disturbed",
            expected=expected,
            chance=random.Random(7),
            kills=5,
            at_once=1 if database.is_sqlite else 2,
        )

        assert wrong == []
