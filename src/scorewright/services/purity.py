"""Whether an evaluator gives the same result for the same item, whatever else changes. Source: contracts §6.

It judges the same items again and again, in new workers, each time with one thing changed that no result may rest on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Final

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.domain.outcome_difference import difference
from scorewright.domain.result import Failed, FailureCode, Outcome
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Runner
from scorewright.services.plan import Settings, Task, plan_jobs
from scorewright.sources.source import Source

#: A third of a year, some hours, minutes and seconds: no part of a date or time stays what it was.
_LATER_S: Final = 10_513_987.0
_OTHER_HASH_SEED: Final = 1
_ORDER: Final = "item order"
#: Failures of the machine rather than the code.
_NOT_COMPARED: Final = frozenset(
    {FailureCode.TIMEOUT, FailureCode.OUT_OF_MEMORY, FailureCode.SANDBOX_UNAVAILABLE}
)


class Difference(msgspec.Struct, frozen=True):
    """What came out otherwise when one thing was changed."""

    #: What was changed.
    varied: str
    #: How many items came out otherwise.
    items: int
    first_item: str
    #: How that one differs.
    example: str


class Purity(msgspec.Struct, frozen=True):
    """What the check of one evaluator has shown."""

    #: Items that were judged, and how many of them hit no limit, so that they can be compared.
    items: int
    compared: int
    #: What was changed, each by itself.
    varied: tuple[str, ...]
    differences: tuple[Difference, ...]

    @property
    def is_pure(self) -> bool:
        """Whether there were results, and nothing that was changed changed one."""
        return bool(self.compared) and not self.differences


def _variations(job: Job, restarted: Runner, reseeded: Runner) -> dict[str, Job]:
    """Return the job with one thing changed that no result may rest on, by the name of that thing."""
    load = job.load
    later = msgspec.structs.replace(load, clock_s=(load.clock_s or 0.0) + _LATER_S)
    lucky = msgspec.structs.replace(load, seed=f"{load.seed}/other")
    is_python = load.language == "python"
    varied = {
        # Workers of Python are forked, and so share their addresses: another process is one of another runner.
        "process": msgspec.structs.replace(job, runner=restarted) if is_python else job,
        _ORDER: job,
        "clock": msgspec.structs.replace(job, load=later),
        "chance": msgspec.structs.replace(job, load=lucky),
    }
    if is_python:  # elsewhere, nothing that can be seen rests on hashes
        varied["hash seed"] = msgspec.structs.replace(job, runner=reseeded)
    return varied


def check_purity(
    tasks: Sequence[Task],
    source: Source,
    *,
    settings: Settings,
    make_runner: Callable[[int], Runner],
) -> list[Purity]:
    """Judge the items of a source several times over.

    Args:
        tasks: Whose runners have a sandbox.
        source: Its first `settings.limit` items are used; they are held in memory.
        settings: As of a run.
        make_runner: Returns a new runner of Python, by the seed of its hashes; closed here.

    Returns:
        One answer per task.

    Raises:
        MappingError, ParamError, UsageError: The caller's.
        SandboxUnavailableError: The machine's.
    """
    jobs = plan_jobs(tasks, source, settings)
    levels = [source.item_level(task.evaluator.level) for task in tasks]
    items_of = {level: _first_items(source, level, settings) for level in set(levels)}
    restarted, reseeded = make_runner(0), make_runner(_OTHER_HASH_SEED)
    try:
        return [
            _check(job, _variations(job, restarted, reseeded), items_of[level], settings)
            for job, level in zip(jobs, levels, strict=True)
        ]
    finally:
        restarted.close()
        reseeded.close()


def _first_items(source: Source, level: Level, settings: Settings) -> list[Item]:
    numbered = enumerate(source.items(), 1)
    judged = (one for one in numbered if source.has_level(one[0], level))
    items = [Item(source.item_id(number), data) for number, data in islice(judged, settings.limit)]
    if not items:
        raise UsageError(f"{source.path}: there is no {source.noun} to judge; give data with some")
    return items


def _check(
    job: Job, variations: dict[str, Job], items: Sequence[Item], settings: Settings
) -> Purity:
    first = _judge(job, items, settings)
    compared = sum(_is_of_the_code(outcome) for outcome in first.values())
    found: list[Difference] = []
    for name, varied in variations.items() if compared else ():
        again = _judge(varied, items[::-1] if name == _ORDER else items, settings)
        differing = [
            (item.item_id, said)
            for item in items
            if (said := _compare(first[item.item_id], again[item.item_id]))
        ]
        if differing:
            found.append(Difference(name, len(differing), *differing[0]))
    return Purity(len(items), compared, tuple(variations), tuple(found))


def _judge(job: Job, items: Sequence[Item], settings: Settings) -> dict[str, Outcome]:
    """Judge items one after the other, in a worker of their own."""
    outcomes: dict[str, Outcome] = {}
    for group in execute(items, [job], limits=settings.limits, workers=1):
        judged = [item.outcome for item in group.outcomes[0]]
        outcomes |= dict(zip(group.item_ids, judged, strict=True))
    return outcomes


def _compare(first: Outcome, second: Outcome) -> str:
    is_comparable = _is_of_the_code(first) and _is_of_the_code(second)
    return difference(first, second) if is_comparable else ""


def _is_of_the_code(outcome: Outcome) -> bool:
    return not isinstance(outcome, Failed) or outcome.code not in _NOT_COMPARED
