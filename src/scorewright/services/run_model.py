"""The values that tasks and runs are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import msgspec
import sqlalchemy as sa

from scorewright.domain.convention import Level
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.runners.base import Limits, Runner
from scorewright.services import plan

RunMode: TypeAlias = Literal["all", "failed"]
#: Statuses of a run that nothing will change any more by itself.
ENDED = ("completed", "cancelled", "failed")


class EvaluatorUse(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator in a task."""

    #: Its id or name.
    evaluator: str
    #: A number, or what is the latest when a run is made.
    version: int | Literal["latest"] = "latest"
    #: What results call it; its own name where it is None.
    name: str | None = None
    mapping: dict[str, JsonValue] = {}
    params: dict[str, JsonValue] = {}


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a task's runs are carried out."""

    timeout_s: float = 10.0
    memory_mb: int = 256
    filter: str | None = None
    sample_rate: float = 1.0
    limit: int | None = None
    #: Whether results of earlier runs are used again where they must come out the same.
    reuse: bool = True

    def limits(self) -> Limits:
        """Return the bounds of one evaluator."""
        return Limits(timeout_s=self.timeout_s, memory_mb=self.memory_mb)

    def for_run(self, clock_s: float) -> plan.Settings:
        """Return the settings of a run over all of a source."""
        return plan.Settings(
            limits=self.limits(),
            filter=self.filter,
            sample_rate=self.sample_rate,
            limit=self.limit,
            clock_s=clock_s,
        )


class TaskSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody says of a task."""

    name: str
    source: JsonObject
    evaluators: list[EvaluatorUse]
    description: str = ""
    settings: RunSettings = RunSettings()


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """A stored task."""

    task_id: str
    spec: TaskSpec
    revision: int
    latest_run: int
    created_us: int
    changed_us: int
    deleted_us: int | None


class FrozenEvaluator(msgspec.Struct, frozen=True, kw_only=True):
    """One version of an evaluator, in full, with what a task sets for it."""

    evaluator_id: str
    evaluator: Evaluator
    mapping: dict[str, JsonValue]
    params: dict[str, JsonValue]

    def for_plan(self, runner: Runner) -> plan.Task:
        """Return it as what is executed."""
        return plan.Task(
            evaluator=self.evaluator, runner=runner, mapping=self.mapping, params=self.params
        )


class EvaluatorCounts(msgspec.Struct, frozen=True):
    """How far one evaluator of a run is."""

    name: str
    scored: int
    skipped: int
    failed: int


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """A run, as far as it has come."""

    run_id: str
    task_id: str
    number: int
    status: str
    mode: str
    parent_run_id: str | None
    source: JsonObject
    settings: RunSettings
    clock_s: float
    #: Items to judge; None before anybody has looked.
    total: int | None
    done: int
    counts: list[EvaluatorCounts]
    change: int
    error: str | None
    created_us: int
    started_us: int | None
    ended_us: int | None
    #: How many runs come first; None of one that does not wait.
    queue_position: int | None = None
    #: Seconds until it should be complete; None where that cannot be told.
    eta_s: float | None = None


_decode_frozen = msgspec.json.Decoder(list[FrozenEvaluator]).decode
encode_frozen = msgspec.json.Encoder().encode


def frozen_of(row: sa.Row[Any]) -> list[FrozenEvaluator]:
    """Return a run's evaluators."""
    return _decode_frozen(row.resolved)


def levels_of(frozen: Iterable[FrozenEvaluator]) -> set[Level]:
    """Return what evaluators are written for."""
    return {one.evaluator.level for one in frozen}


def settings_of(row: sa.Row[Any]) -> RunSettings:
    """Return a run's settings."""
    return msgspec.convert(row.settings, RunSettings)


def task_of(row: sa.Row[Any]) -> Task:
    """Return a stored task."""
    return Task(
        task_id=row.id,
        spec=TaskSpec(
            name=row.name,
            description=row.description,
            source=row.source,
            evaluators=msgspec.convert(row.evaluators, list[EvaluatorUse]),
            settings=msgspec.convert(row.settings, RunSettings),
        ),
        revision=row.revision,
        latest_run=row.latest_run,
        created_us=row.created_us,
        changed_us=row.changed_us,
        deleted_us=row.deleted_us,
    )


def run_of(row: sa.Row[Any], counts: list[sa.Row[Any]]) -> Run:
    """Return a run with its counts."""
    return Run(
        run_id=row.id,
        task_id=row.task_id,
        number=row.number,
        status=row.status,
        mode=row.mode,
        parent_run_id=row.parent_run_id,
        source=row.source,
        settings=settings_of(row),
        clock_s=row.clock_s,
        total=row.total,
        done=row.done,
        counts=[EvaluatorCounts(one.name, one.scored, one.skipped, one.failed) for one in counts],
        change=row.change,
        error=row.error,
        created_us=row.created_us,
        started_us=row.started_us,
        ended_us=row.ended_us,
    )
