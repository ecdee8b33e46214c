"""Before a worker is killed for its time another one stands ready: its neighbours do not wait for a start."""

from __future__ import annotations

import pytest

from scorewright.runners.base import Limits
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.process import WorkerProcess
from workbench import children, open_descriptors, run, scores

PYTHON = """\
def evaluate(x):
    while x == 2: pass
    return {"score": x, "explanation": ""}
"""
SCRIPT = 'function evaluate(x) { while (x === 2); return {score: x, explanation: ""}; }'


@pytest.mark.parametrize(("kind", "source"), [(JailRunner, PYTHON), (DenoRunner, SCRIPT)])
def test_a_worker_stands_ready_before_one_is_killed(
    kind: type[JailRunner | DenoRunner], source: str, monkeypatch: pytest.MonkeyPatch
):
    runner = kind()
    spawn = runner.spawn
    ready: list[int] = []

    def noting(limits: Limits) -> WorkerProcess:
        ready.append(len(runner.spares))
        return spawn(limits)

    monkeypatch.setattr(runner, "spawn", noting)
    try:
        outcomes = run(runner, source, [1, 2, 3], timeout_s=0.5)
    finally:
        runner.close()

    assert scores(outcomes) == [1, None, 3]
    assert ready == [0, 1]


def test_one_that_has_died_while_it_waited_is_replaced():
    runner = JailRunner()
    limits = Limits(timeout_s=1)
    runner.spawn(limits).end()
    runner.prepare(limits)
    runner.spares[limits.memory_mb].kill()

    worker = runner.spawn(limits)

    assert worker.end() is not None
    runner.close()


@pytest.mark.parametrize("kind", [JailRunner, DenoRunner])
def test_one_that_nobody_needed_is_not_left_behind(kind: type[JailRunner | DenoRunner]):
    before, descriptors = children(), open_descriptors()
    runner = kind()
    runner.spawn(Limits()).end()
    runner.prepare(Limits())
    runner.prepare(Limits())
    assert len(runner.spares) == 1

    runner.close()

    assert children() == before
    assert open_descriptors() == descriptors


def test_other_limits_get_a_worker_of_their_own():
    runner = JailRunner()
    runner.spawn(Limits(memory_mb=64)).end()
    runner.prepare(Limits(memory_mb=64))

    runner.spawn(Limits(memory_mb=128)).end()

    assert list(runner.spares) == [64]
    runner.close()
