"""The wall clock is set back in the midst of things: nothing is lost, nobody is locked out, and nothing lasts for ever."""

from __future__ import annotations

import time
from contextlib import closing

import pytest
import time_machine
from starlette.testclient import TestClient

from callers import new_client
from faults.killing import begin, differences, outcome, prepare, undisturbed
from run_parts import make_parts
from scorewright.api.context import Context
from scorewright.services import access, run_work
from scorewright.services.run_work import RunWork
from scorewright.storage.repositories import shares as share_rows

COUNT = 120
RUNS = "/api/v1/projects/default/runs"
_HOUR_S = 3600.0


def test_a_clock_that_goes_back_at_every_step_changes_no_result(
    database_url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(run_work, "_MAX_ITEMS", 20)
    with closing(prepare(database_url)) as database:
        expected = undisturbed(database, COUNT)
        run_id = begin(database, COUNT, "disturbed")
        with database.write() as connection:
            share_rows.add_share(connection, run_id, 0)
        with closing(RunWork(database, make_parts(), workers=1)) as work:
            steps = 0
            with time_machine.travel(time.time(), tick=True) as clock:
                while work.step(run_id, f"{run_id}.0"):
                    steps += 1
                    clock.shift(-_HOUR_S)
            assert steps > 2

        assert differences(outcome(database, run_id), expected) == []
        with new_client(Context(database, run_parts=make_parts())) as client:
            pages = [
                client.get(f"{RUNS}/{run_id}/results", params={"order": order, "limit": 500}).json()
                for order in ("item", "newest")
            ]
            told = client.get(f"{RUNS}/{run_id}").json()
        first, second = (
            sorted((one["item_id"], one["evaluator"]) for one in page["items"]) for page in pages
        )
        assert first == second
        assert told["status"] == "completed"


def test_a_session_holds_when_the_clock_goes_back_and_ends_when_it_is_over(client: TestClient):
    key = {"token": client.headers["authorization"].removeprefix("Bearer ")}
    with (
        TestClient(client.app, base_url=str(client.base_url)) as browser,
        time_machine.travel(time.time(), tick=True) as clock,
    ):
        assert browser.post("/api/v1/session", json=key).status_code == 204
        clock.shift(-24 * _HOUR_S)
        assert browser.get(RUNS).status_code == 200
        clock.shift(24 * _HOUR_S + access.SESSION_S + 60)
        assert browser.get(RUNS).status_code == 401
