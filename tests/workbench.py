"""What the contract tests share: evaluators run the way the product runs them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.result import Outcome, Scored
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Limits, Runner
from scorewright.runners.harness.protocol import Load

TIMEOUT_S = 0.3
CLOCK_S = 1_767_225_600.0


def load(source: str, *, timeout_s: float = TIMEOUT_S, seed: str = "seed") -> Load:
    """Describe an evaluator of one variable, `x`."""
    return Load(
        source=source,
        filename="evaluator.py",
        convention=Convention.VARIABLES,
        plan=(Argument(name="x", how="field", paths=(("x",),)),),
        score_range=None,
        threshold=None,
        clock_s=CLOCK_S,
        seed=seed,
        uses_entropy=True,
        timeout_s=timeout_s,
        max_output_bytes=8192,
    )


def limits(*, timeout_s: float = TIMEOUT_S, memory_mb: int = 128) -> Limits:
    return Limits(timeout_s=timeout_s, memory_mb=memory_mb)


def item(number: int) -> Item:
    return Item(str(number), b'{"x": %d}' % number)


def run(
    runner: Runner,
    source: str,
    numbers: Iterable[int] = (1,),
    *,
    timeout_s: float = TIMEOUT_S,
    memory_mb: int = 128,
    seed: str = "seed",
) -> list[Outcome]:
    """Judge the numbers by the engine's one path, with one worker, and return the outcomes in order."""
    job = Job(load(source, timeout_s=timeout_s, seed=seed), runner)
    groups = execute(
        map(item, numbers),
        [job],
        limits=limits(timeout_s=timeout_s, memory_mb=memory_mb),
        workers=1,
    )
    return [each.outcome for group in groups for each in group.outcomes[0]]


def scores(outcomes: Iterable[Outcome]) -> list[float | None]:
    return [each.score if isinstance(each, Scored) else None for each in outcomes]


def explanation(outcome: Outcome) -> str:
    """The explanation of an item that has to be scored."""
    assert isinstance(outcome, Scored), outcome
    assert outcome.explanation is not None
    return outcome.explanation


def open_descriptors() -> set[int]:
    return {int(path.name) for path in Path("/proc/self/fd").iterdir()}


def children() -> set[int]:
    """Processes of ours, those included that ended and were not waited for."""
    listing = Path(f"/proc/self/task/{os.getpid()}/children")
    return {int(pid) for pid in listing.read_text(encoding="ascii").split()}
