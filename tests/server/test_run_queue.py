"""Whose turn it is among runs that wait."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scorewright.services.run_queue import in_turn, runs_ahead


def waiting(*runs: str) -> list[Any]:
    """Runs that wait, the oldest first; the first letter is the project's."""
    return [
        SimpleNamespace(id=run, project_id=run[0], status="queued", created_us=at)
        for at, run in enumerate(runs)
    ]


def test_projects_take_turns_and_the_oldest_comes_first():
    runs = waiting("a1", "a2", "a3", "b1", "c1", "b2")

    assert [run.id for run in in_turn(runs, set(), at_most=4)] == [
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "a3",
    ]


def test_a_project_with_runs_under_way_waits_for_the_others():
    runs = waiting("a1", "a2", "a3", "b1")

    assert [run.id for run in in_turn(runs, {"a1"}, at_most=4)][:2] == ["b1", "a1"]


def test_the_place_in_the_queue_is_the_turn_and_none_is_ahead_of_what_is_taken_up():
    runs = waiting("a1", "a2", "a3", "b1", "b2")

    ahead = {run.id: runs_ahead(runs, {"a1"}, run.id, at_most=4) for run in runs}

    assert ahead == {"a1": 0, "b1": 0, "a2": 1, "b2": 2, "a3": 3}


def test_of_one_project_only_so_many_runs_are_worked_on_and_the_others_are_told_so():
    runs = waiting("a1", "a2", "a3", "b1", "c1")

    turns = [run.id for run in in_turn(runs, {"a1"}, at_most=2)]
    ahead = {run.id: runs_ahead(runs, {"a1"}, run.id, at_most=2) for run in runs}

    assert turns == ["b1", "c1", "a1", "a2"]
    assert ahead == {"a1": 0, "b1": 0, "c1": 1, "a2": 2, "a3": 3}


def test_a_run_that_waits_for_its_own_project_is_behind_whatever_may_begin():
    runs = waiting("a1", "a2", "b1", "b2")

    ahead = {run.id: runs_ahead(runs, {"a1", "b1"}, run.id, at_most=1) for run in runs}
    free = runs_ahead(waiting("a1", "a2", "b1"), {"a1"}, "b1", at_most=1)

    assert ahead == {"a1": 0, "b1": 0, "a2": 0, "b2": 1}
    assert free == 0
