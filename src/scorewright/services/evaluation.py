"""Evaluate a dataset: from evaluators and rows to records and summaries."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from scorewright.domain.aggregate import Summary
from scorewright.domain.binding import Plan
from scorewright.domain.convention import Level
from scorewright.domain.errors import MappingError, UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.mapping import plan_arguments
from scorewright.domain.result_record import RecordMaker, ResultRecord
from scorewright.engine.execute import Group, Item, Job, execute
from scorewright.runners.base import Limits, Runner, RunnerReport
from scorewright.runners.harness.protocol import Load
from scorewright.services.earlier_results import EarlierResults
from scorewright.sources.dataset import Dataset


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
    #: Rows to evaluate; None for all.
    limit: int | None = None
    #: The frozen clock of the run, seconds since 1970 in UTC.
    clock_s: float = field(default_factory=time.time)


@dataclass(slots=True, kw_only=True)
class Report:
    """What came out of a run."""

    tasks: Sequence[Task]
    summaries: Sequence[Summary]
    runners: list[RunnerReport | None]
    clock_s: float
    #: Rows that every evaluator has answered.
    items: int = 0
    #: Rows there were to evaluate.
    total: int = 0
    #: Results kept from an earlier run, and how many of them another version of the evaluator made.
    kept: int = 0
    kept_of_other_version: int = 0
    duration_s: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Whether no row was left out by a stop."""
        return self.items == self.total

    def document(self) -> JsonObject:
        """Return the report as `run --format json` prints it."""
        return {
            "items": self.items,
            "complete": self.is_complete,
            "clock_s": self.clock_s,
            "evaluators": [
                {
                    "name": task.evaluator.name,
                    "version": task.evaluator.version,
                    "digest": task.evaluator.digest,
                    "convention": task.evaluator.convention.value,
                    "language": task.evaluator.language,
                    "level": task.evaluator.level.value,
                    "runner": _runner_document(runner),
                }
                for task, runner in zip(self.tasks, self.runners, strict=True)
            ],
            "summary": [summary.document() for summary in self.summaries],
            "kept": self.kept,
            "kept_of_other_version": self.kept_of_other_version,
            "duration_s": round(self.duration_s, 3),
        }


def _runner_document(report: RunnerReport | None) -> JsonValue:
    if report is None:
        return None
    return {
        "tier": report.tier,
        "engine": report.engine,
        "layers": list(report.layers),
        "missing": list(report.missing),
    }


class Evaluation:
    """One run over one dataset, planned when it is made.

    Args:
        dataset: The rows.
        tasks: At least one; names are unique.
        settings: Limits and the like.
        previous: Records of an earlier run over the same rows, in its order: scored and skipped ones are
            kept, failed and missing ones are computed.

    Raises:
        MappingError, ParamError, UsageError: The caller's; nothing has run.
    """

    def __init__(
        self,
        dataset: Dataset,
        tasks: Sequence[Task],
        *,
        settings: Settings,
        previous: Iterable[ResultRecord] | None = None,
    ) -> None:
        if not tasks:
            raise UsageError("there is no evaluator to run")
        _require_record_level(tasks)
        self._dataset = dataset
        self._tasks = tasks
        self._settings = settings
        self._jobs = self._plan()
        names = [task.evaluator.name for task in tasks]
        self._previous = None if previous is None else EarlierResults(previous, names)
        total = dataset.rows if settings.limit is None else min(settings.limit, dataset.rows)
        self.report = Report(
            tasks=tasks,
            summaries=[
                Summary(task.evaluator.name, score_range=task.evaluator.score_range)
                for task in tasks
            ],
            runners=[None] * len(tasks),
            clock_s=settings.clock_s,
            total=total,
        )

    def run(
        self, *, should_stop: Callable[[], bool] = lambda: False
    ) -> Iterator[list[ResultRecord]]:
        """Evaluate, and yield records in item order, evaluator by evaluator within an item.

        `report` grows with each list taken and is whole when the iterator ends. The records that an earlier run
        has of rows beyond a stop or the limit follow unchanged.

        Raises:
            SandboxUnavailableError: Ours or the machine's; records yielded before stay valid.
            UsageError: The caller's: the records of the earlier run do not fit this one.
        """
        began_s = time.monotonic()
        workers = self._settings.workers or os.cpu_count() or 1
        groups = execute(
            self._items(),
            self._jobs,
            limits=self._settings.limits,
            workers=workers,
            should_stop=should_stop,
        )
        makers: list[RecordMaker] | None = None
        for group in groups:
            if makers is None:
                makers = self._makers()
            yield self._take(group, makers)
            self.report.duration_s = time.monotonic() - began_s
        if self._previous and self.report.items < self._dataset.rows:
            yield from self._previous.rest()
        self.report.duration_s = time.monotonic() - began_s

    def _plan(self) -> list[Job]:
        columns = [column.name for column in self._dataset.columns]
        jobs: list[Job] = []
        errors: list[str] = []
        for task in self._tasks:
            try:
                plan = plan_arguments(
                    task.evaluator, columns=columns, mapping=task.mapping, params=task.params
                )
            except MappingError as error:
                errors.append(
                    f"{task.evaluator.name}: {error}" if len(self._tasks) > 1 else str(error)
                )
            else:
                jobs.append(Job(self._load(task.evaluator, plan, task.runner), task.runner))
        if errors:
            raise MappingError("\n".join(errors))
        return jobs

    def _load(self, evaluator: Evaluator, plan: Plan, runner: Runner) -> Load:
        limits = self._settings.limits
        return Load(
            source=evaluator.source,
            language=evaluator.language,
            filename=evaluator.origin,
            convention=evaluator.convention,
            plan=plan,
            score_range=evaluator.score_range,
            threshold=evaluator.threshold,
            clock_s=self._settings.clock_s if runner.jailed else None,
            seed=evaluator.digest,
            uses_entropy=evaluator.signature.names_entropy and runner.jailed,
            fresh_namespace=evaluator.signature.may_keep_state,
            timeout_s=limits.timeout_s,
            max_output_bytes=limits.max_output_bytes,
        )

    def _items(self) -> Iterator[Item]:
        rows = islice(self._dataset.items(), self._settings.limit)
        for number, data in enumerate(rows, 1):
            item_id = str(number)
            known = self._previous.known(item_id) if self._previous else ()
            yield Item(item_id, data, known)

    def _makers(self) -> list[RecordMaker]:
        makers: list[RecordMaker] = []
        for position, task in enumerate(self._tasks):
            evaluator, runner = task.evaluator, task.runner
            stamp = runner.tier if runner.jailed else f"{runner.tier}: no sandbox"
            makers.append(
                RecordMaker(
                    evaluator=evaluator.name,
                    version=evaluator.version,
                    digest=evaluator.digest,
                    score_range=evaluator.score_range,
                    runner=stamp,
                )
            )
            self.report.runners[position] = runner.report()
        return makers

    def _take(self, group: Group, makers: list[RecordMaker]) -> list[ResultRecord]:
        report = self.report
        for summary, outcomes in zip(report.summaries, group.outcomes, strict=True):
            summary.add_batch(group.first + 1, outcomes)
        report.items += len(group.item_ids)
        made = [
            list(map(maker.make, group.item_ids, outcomes))
            for maker, outcomes in zip(makers, group.outcomes, strict=True)
        ]
        if self._previous:
            for at, item_id in enumerate(group.item_ids):
                self._put_back(at, self._previous.records(item_id), made)
        return [record for of_item in zip(*made, strict=True) for record in of_item]

    def _put_back(
        self, at: int, kept: list[ResultRecord | None], made: list[list[ResultRecord]]
    ) -> None:
        """Keep the earlier run's own records: they may be of another version of the evaluator."""
        for job, record in enumerate(kept):
            if record is not None:
                made[job][at] = record
                digest = self._tasks[job].evaluator.digest
                self.report.kept += 1
                self.report.kept_of_other_version += record.digest != digest


def _require_record_level(tasks: Sequence[Task]) -> None:
    for task in tasks:
        evaluator = task.evaluator
        if evaluator.level in (Level.AGENT, Level.LLM):
            raise UsageError(
                f"{evaluator.name}: its level is {evaluator.level.value}, but dataset rows have no "
                f"{evaluator.level.value} spans; use a Trace as first parameter, or wait for trace sources"
            )
