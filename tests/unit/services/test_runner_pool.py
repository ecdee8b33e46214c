"""Sandboxes of a server: lent to one at a time, kept warm, ended when nobody needs them, replaced when they break."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from scorewright.domain.errors import OurError, UsageError
from scorewright.domain.source_language import Language
from scorewright.runners.base import Runner
from scorewright.services.runner_choice import Runners
from scorewright.services.runner_pool import PoolClosedError, RunnerPool


class Noted(Runners):
    """A set that notes what is asked of it, and its end."""

    def __init__(self) -> None:
        super().__init__("auto")
        self.is_closed = threading.Event()
        self.asked_for: list[Language] = []

    def of(self, language: Language) -> Runner:
        self.asked_for.append(language)
        return super().of(language)

    def close(self) -> None:
        super().close()
        self.is_closed.set()


def noted(made: list[Noted]) -> Callable[[], Noted]:
    def make() -> Noted:
        made.append(Noted())
        return made[-1]

    return make


def test_a_set_is_used_by_one_at_a_time_and_kept():
    made: list[Noted] = []
    pool = RunnerPool(noted(made), size=1)
    with pool.lend() as first, pytest.raises(OurError, match="in use"), pool.lend(wait_s=0):
        raise AssertionError
    with pool.lend() as second:
        assert second is first
    pool.close()
    assert [one.is_closed.is_set() for one in made] == [True]
    with pytest.raises(PoolClosedError, match="about to end"), pool.lend():
        raise AssertionError


def test_no_more_sets_are_made_than_there_may_be():
    made: list[Noted] = []
    pool = RunnerPool(noted(made), size=2)
    taken = [pool.take(), pool.take()]
    with pytest.raises(OurError, match="in use"):
        pool.take(0)

    waiting = threading.Thread(target=lambda: taken.append(pool.take()))
    waiting.start()
    pool.give_back(taken[0])
    waiting.join(30)

    assert taken[2] is taken[0]
    assert len(made) == 2
    pool.close()


def test_one_who_waits_is_told_when_the_server_ends():
    pool = RunnerPool(noted([]), size=1)
    runners = pool.take()
    told: list[BaseException] = []

    def wait() -> None:
        try:
            pool.take()
        except PoolClosedError as error:
            told.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    pool.close()
    waiting.join(30)

    assert len(told) == 1
    pool.give_back(runners)
    assert isinstance(runners, Noted)
    assert runners.is_closed.is_set()


def test_what_broke_is_ended_and_another_one_takes_its_place():
    made: list[Noted] = []
    pool = RunnerPool(noted(made), size=1)
    with pytest.raises(RuntimeError), pool.lend():
        raise RuntimeError
    assert made[0].is_closed.is_set()

    with pool.lend() as second:
        assert second is made[1]
    pool.give_back(pool.take(), is_sound=False)
    assert made[1].is_closed.is_set()
    pool.close()


def test_what_a_caller_does_wrong_breaks_nothing():
    made: list[Noted] = []
    pool = RunnerPool(noted(made), size=1)
    with pytest.raises(UsageError), pool.lend():
        raise UsageError("no such thing")
    with pool.lend() as second:
        assert second is made[0]
    pool.close()


def test_what_nobody_uses_is_ended_after_a_while_but_for_the_warm_ones():
    made: list[Noted] = []
    pool = RunnerPool(noted(made), size=3, warm=1, idle_s=0.05)
    taken = [pool.take() for _ in range(3)]
    for runners in taken:
        pool.give_back(runners)

    assert made[0].is_closed.wait(30)
    assert made[1].is_closed.wait(30)
    with pool.lend() as last:
        assert last is made[2]
        assert not made[2].is_closed.is_set()
    pool.close()


def test_a_warm_set_is_booted_before_anybody_asks():
    made: list[Noted] = []
    pool = RunnerPool(noted(made), size=1, warm=1)
    pool.start()
    assert [one.asked_for for one in made] == [["python"]]
    with pool.lend() as runners:
        assert runners is made[0]
    pool.close()
