"""Evaluate a dataset: from evaluators and rows to records and summaries."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

import msgspec

from scorewright.domain.aggregate import Summary
from scorewright.domain.binding import Plan
from scorewright.domain.convention import Level
from scorewright.domain.errors import MappingError, UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.mapping import plan_arguments
from scorewright.domain.result import ItemOutcome
from scorewright.domain.result_record import RecordMaker, ResultRecord
from scorewright.engine.execute import Group, Item, Job, execute
from scorewright.runners.base import Limits, Runner, RunnerReport
from scorewright.runners.harness.protocol import VERSION, Load
from scorewright.services.earlier_results import (
    EarlierResults,
    item_basis,
    reading_basis,
    short_hash,
)
from scorewright.sources.dataset import Dataset, Notice


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
    #: Digests of what the machine decides, one per task; None while no worker was needed.
    environments: list[str | None]
    clock_s: float
    #: What is to be known about how the dataset was read.
    notices: Sequence[Notice] = ()
    #: Rows that every evaluator has answered.
    items: int = 0
    #: Rows there were to evaluate.
    total: int = 0
    #: Results kept from an earlier run, and how many of them another version of the evaluator made.
    kept: int = 0
    kept_of_other_version: int = 0
    #: What stood between the code and the machine when the kept results were made.
    kept_runners: set[str] = field(default_factory=set[str])
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
                    "score_range": _range_document(task.evaluator),
                    "threshold": task.evaluator.threshold,
                    "environment": environment,
                    "runner": _runner_document(runner),
                }
                for task, environment, runner in zip(
                    self.tasks, self.environments, self.runners, strict=True
                )
            ],
            "summary": [summary.document() for summary in self.summaries],
            "notices": [{"line": n.line, "message": n.message} for n in self.notices],
            "warnings": [
                {"evaluator": task.evaluator.name, "line": warning.line, "message": warning.message}
                for task in self.tasks
                for warning in task.evaluator.warnings
            ],
            "kept": self.kept,
            "kept_of_other_version": self.kept_of_other_version,
            "kept_runners": list[JsonValue](sorted(self.kept_runners)),
            "duration_s": round(self.duration_s, 3),
        }


def _range_document(evaluator: Evaluator) -> JsonValue:
    return None if evaluator.score_range is None else list(evaluator.score_range)


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
        previous: Records of an earlier run over the same rows, in its order; iterated over twice. Scored and
            skipped ones are kept where they rest on the same item, mapping, params and reading of the score as
            they would now; all others are computed.

    Raises:
        MappingError, ParamError, UsageError: The caller's, such as records that do not fit; nothing has run.
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
        #: Per job, and per item that is under way: joined, they say what a result rests on.
        self._readings = [
            reading_basis(task.evaluator, job.load.plan)
            for task, job in zip(tasks, self._jobs, strict=True)
        ]
        self._item_bases: deque[str] = deque()
        self._makers = list(map(_record_maker, tasks))
        names = [task.evaluator.name for task in tasks]
        self._previous = (
            None if previous is None else EarlierResults(previous, names, rows=dataset.rows)
        )
        total = dataset.rows if settings.limit is None else min(settings.limit, dataset.rows)
        self.report = Report(
            tasks=tasks,
            summaries=[
                Summary(task.evaluator.name, score_range=task.evaluator.score_range)
                for task in tasks
            ],
            runners=[None] * len(tasks),
            environments=[None] * len(tasks),
            clock_s=settings.clock_s,
            notices=dataset.notices,
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
        for group in groups:
            self._note_runners()
            yield self._take(group)
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
            basis = item_basis(data)
            self._item_bases.append(basis)
            known: tuple[ItemOutcome | None, ...] = ()
            if self._previous:
                bases = [basis + reading for reading in self._readings]
                known = self._previous.known(item_id, bases)
            yield Item(item_id, data, known)

    def _note_runners(self) -> None:
        """Note what the workers run in, as soon as there are any: with kept results that may be late."""
        for job, task in enumerate(self._tasks):
            if self.report.runners[job] is None and (report := task.runner.report()) is not None:
                environment = _environment(report, self._settings.limits)
                self.report.runners[job] = report
                self.report.environments[job] = environment
                self._makers[job].environment = environment

    def _take(self, group: Group) -> list[ResultRecord]:
        report = self.report
        for summary, outcomes in zip(report.summaries, group.outcomes, strict=True):
            summary.add_batch(group.first + 1, outcomes)
        report.items += len(group.item_ids)
        of_items = [self._item_bases.popleft() for _ in group.item_ids]
        made: list[list[ResultRecord]] = []
        for maker, outcomes, reading in zip(
            self._makers, group.outcomes, self._readings, strict=True
        ):
            bases = [basis + reading for basis in of_items]
            made.append(list(map(maker.make, group.item_ids, outcomes, bases)))
        if self._previous:
            for at, item_id in enumerate(group.item_ids):
                self._put_back(at, self._previous.take_kept(item_id), made)
        return [record for of_item in zip(*made, strict=True) for record in of_item]

    def _put_back(
        self, at: int, kept: Sequence[ResultRecord | None], made: list[list[ResultRecord]]
    ) -> None:
        """Keep the earlier run's own records: they may be of another version of the evaluator."""
        for job, record in enumerate(kept):
            if record is not None:
                made[job][at] = record
                digest = self._tasks[job].evaluator.digest
                self.report.kept += 1
                self.report.kept_of_other_version += record.digest != digest
                self.report.kept_runners.add(record.runner)


def _record_maker(task: Task) -> RecordMaker:
    evaluator, runner = task.evaluator, task.runner
    return RecordMaker(
        evaluator=evaluator.name,
        version=evaluator.version,
        digest=evaluator.digest,
        score_range=evaluator.score_range,
        runner=runner.tier if runner.jailed else f"{runner.tier}: no sandbox",
    )


def _environment(report: RunnerReport, limits: Limits) -> str:
    """Return a digest of what the machine decides about results. Source: contracts §1."""
    decided = msgspec.json.encode((report.tier, report.engine, VERSION, limits))
    return short_hash(decided, 16)


def _require_record_level(tasks: Sequence[Task]) -> None:
    for task in tasks:
        evaluator = task.evaluator
        if evaluator.level in (Level.AGENT, Level.LLM):
            raise UsageError(
                f"{evaluator.name}: its level is {evaluator.level.value}, but dataset rows have no "
                f"{evaluator.level.value} spans; use a Trace as first parameter, or wait for trace sources"
            )
