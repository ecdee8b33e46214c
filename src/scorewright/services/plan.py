"""From evaluators and what is set for them in one run to jobs of the engine."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from scorewright.domain.binding import Plan
from scorewright.domain.errors import MappingError, UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.item_shape import ItemShape
from scorewright.domain.json_value import JsonValue
from scorewright.domain.mapping import plan_arguments
from scorewright.engine.execute import Job
from scorewright.runners.base import Limits, Runner
from scorewright.runners.harness.protocol import Load
from scorewright.sources.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """An evaluator with what is set for it in one run."""

    evaluator: Evaluator
    #: Executes it. Closed by the caller.
    runner: Runner
    #: Variable to field, path or constant, beside the definition's own mapping.
    mapping: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    params: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a run is carried out; nothing here changes a result but `clock_s`."""

    limits: Limits = field(default_factory=Limits)
    #: Processes to use; None for one per core.
    workers: int | None = None
    #: Which items to evaluate, as a filter expression; None for all.
    filter: str | None = None
    #: The probability of each of them to be evaluated, 0 to 1.
    sample_rate: float = 1.0
    #: Items to evaluate of what is left, from the first; None for all.
    limit: int | None = None
    #: The frozen clock of the run, seconds since 1970 in UTC.
    clock_s: float = field(default_factory=time.time)
    #: Folder with results of earlier runs, to be used again and added to; None to compute everything.
    cache_folder: Path | None = None
    #: Whose these are: results of others are never used.
    cache_owner: str = ""
    #: Items of the whole run, where these are a part of it.
    run_size: int | None = None
    #: In runs over more items, results are kept and looked for only where computing one takes longer than that.
    always_kept_items: int = 2_000


def plan_jobs(tasks: Sequence[Task], source: Source, settings: Settings) -> list[Job]:
    """Plan every evaluator of a run over a source; nothing runs.

    Raises:
        MappingError, ParamError, UsageError: The caller's.
    """
    if not tasks:
        raise UsageError("there is no evaluator to run")
    jobs: list[Job] = []
    errors: list[str] = []
    for task in tasks:
        try:
            plan = plan_arguments(
                task.evaluator,
                shape=_shape(task.evaluator, source),
                mapping=task.mapping,
                params=task.params,
            )
        except MappingError as error:
            errors.append(f"{task.evaluator.name}: {error}" if len(tasks) > 1 else str(error))
        else:
            jobs.append(Job(_load(task, plan, settings), task.runner))
    if errors:
        raise MappingError("\n".join(errors))
    return jobs


def _load(task: Task, plan: Plan, settings: Settings) -> Load:
    evaluator, jailed, limits = task.evaluator, task.runner.jailed, settings.limits
    return Load(
        source=evaluator.source,
        language=evaluator.language,
        filename=evaluator.origin,
        convention=evaluator.convention,
        plan=plan,
        score_range=evaluator.score_range,
        threshold=evaluator.threshold,
        clock_s=settings.clock_s if jailed else None,
        seed=evaluator.digest,
        uses_entropy=evaluator.signature.names_entropy and jailed,
        fresh_namespace=evaluator.signature.may_keep_state,
        timeout_s=limits.timeout_s,
        max_output_bytes=limits.max_output_bytes,
    )


def _shape(evaluator: Evaluator, source: Source) -> ItemShape:
    try:
        return source.shape(source.item_level(evaluator.level))
    except UsageError as error:
        raise UsageError(f"{evaluator.name}: {error}") from None
