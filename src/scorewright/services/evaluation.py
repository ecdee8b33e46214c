"""Evaluate what a source holds: from evaluators and items to records and summaries."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress

import msgspec

from scorewright._version import __version__
from scorewright.domain.aggregate import Summary
from scorewright.domain.result import Failed, FailureCode, ItemOutcome
from scorewright.domain.result_record import RecordMaker, ResultRecord
from scorewright.engine.execute import Group, Item, execute
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.harness.protocol import VERSION
from scorewright.services.earlier_results import (
    EarlierResults,
    item_basis,
    reading_basis,
    short_hash,
)
from scorewright.services.plan import Settings, Task, plan_jobs
from scorewright.services.report import Report
from scorewright.services.reuse import Reuse, decoder_of, may_be_kept
from scorewright.services.second_look import Sample
from scorewright.services.selection import Selection
from scorewright.sources.source import Source

#: Stands where an evaluator has nothing to say, since the item is of a level that it does not judge.
_OTHER_LEVEL = ItemOutcome(Failed(FailureCode.CANCELLED, "of another level"))


class Evaluation:
    """One run over one source, planned when it is made.

    Args:
        source: The items.
        tasks: At least one; names are unique.
        settings: Limits and the like.
        previous: Records of an earlier run over the same items, in its order; iterated over twice. Scored and
            skipped ones are kept where they rest on the same item, mapping, params and reading of the score as
            they would now; all others are computed.

    Raises:
        MappingError, ParamError, UsageError: The caller's, such as records that do not fit; nothing has run.
        DatasetError: The data changed since they were opened.
    """

    def __init__(
        self,
        source: Source,
        tasks: Sequence[Task],
        *,
        settings: Settings,
        previous: Iterable[ResultRecord] | None = None,
    ) -> None:
        self._tasks = tasks
        self._settings = settings
        self._source = source
        self._jobs = plan_jobs(tasks, source, settings)
        #: Of the items that each job judges.
        self._levels = [source.item_level(task.evaluator.level) for task in tasks]
        self._is_mixed = len(set(self._levels)) > 1
        self._selection = Selection(source, self._levels, settings)
        #: Per job, and per item that is under way: joined, they say what a result rests on.
        self._readings = [
            reading_basis(task.evaluator, job.load.plan)
            for task, job in zip(tasks, self._jobs, strict=True)
        ]
        self._item_bases: deque[str] = deque()
        self._makers = [_record_maker(task, source) for task in tasks]
        #: Per job, while the run is under way; None for one whose results hold for this run alone.
        self._reuses: list[Reuse | None] = [None] * len(tasks)
        #: Whether any of them may yet find or keep something.
        self._may_reuse = False
        self._workers = settings.workers or os.cpu_count() or 1
        self._sample = Sample(self._jobs, settings.limits, self._workers)
        names = [task.evaluator.name for task in tasks]
        self._previous = (
            None if previous is None else EarlierResults(previous, names, source=source)
        )
        self.report = Report(
            source=source,
            tasks=tasks,
            levels=self._levels,
            selection=self._selection,
            summaries=[
                Summary(task.evaluator.name, score_range=task.evaluator.score_range)
                for task in tasks
            ],
            runners=[None] * len(tasks),
            environments=[None] * len(tasks),
            clock_s=settings.clock_s,
            limits=settings.limits,
            reused=[0] * len(tasks),
            second_looks=self._sample.looks,
        )

    def run(
        self, *, should_stop: Callable[[], bool] = lambda: False
    ) -> Iterator[list[ResultRecord]]:
        """Evaluate, and yield records in item order, evaluator by evaluator within an item.

        `report` grows with each list taken and is whole when the iterator ends. The records that an earlier run
        has of items that are not judged, be it for the filter, the limit or a stop, stand unchanged in their place.

        Raises:
            SandboxUnavailableError: Ours or the machine's; records yielded before stay valid.
        """
        began_s = time.monotonic()
        try:
            with self._earlier_results():
                yield from self._groups(should_stop, began_s)
        finally:
            self.report.duration_s = time.monotonic() - began_s

    def _groups(
        self, should_stop: Callable[[], bool], began_s: float
    ) -> Iterator[list[ResultRecord]]:
        groups = execute(
            self._items(),
            self._jobs,
            limits=self._settings.limits,
            workers=self._workers,
            should_stop=should_stop,
        )
        for group in groups:
            self._note_runners()
            made = self._take(group)
            yield from self._previous.around(made) if self._previous else [made]
            if self._sample.is_full:
                self._sample.look_again(should_stop)
            self.report.duration_s = time.monotonic() - began_s
        if self._previous:
            yield from self._previous.rest()
        self._sample.look_again(should_stop)

    @contextmanager
    def _earlier_results(self) -> Generator[None]:
        """Have earlier results at hand, if that is wanted."""
        if self._settings.cache_folder is None:
            yield
            return
        from scorewright.storage.result_cache import ResultCache

        cache = ResultCache(self._settings.cache_folder)
        owner, size = self._settings.cache_owner, self._settings.run_size or self.report.total
        is_short = size <= self._settings.always_kept_items
        self._reuses = [
            Reuse(
                cache,
                digest=owner + task.evaluator.digest,
                load=job.load,
                is_short=is_short,
                decode=decoder_of(task.evaluator),
            )
            if may_be_kept(task) and not task.evaluator.signature.reads_clock
            else None
            for task, job in zip(self._tasks, self._jobs, strict=True)
        ]
        self._may_reuse = any(self._reuses)
        try:
            for job, reuse in enumerate(self._reuses):
                if reuse is not None and reuse.may_find:
                    self._learn_environment(job)
            yield
        finally:
            lanes = [reuse.lane if reuse else None for reuse in self._reuses]
            for lane, look in zip(lanes, self._sample.looks, strict=True):
                if lane is not None and look.differing:
                    cache.drop(lane)
            cache.close(list(filter(None, lanes)))
            self.report.cache_trouble = cache.trouble

    def _learn_environment(self, job: int) -> None:
        """Find out what the machine decides before the first result is asked for: a worker says it."""
        runner = self._tasks[job].runner
        if runner.report() is None:
            runner.spawn(self._settings.limits).end()
        self._note_runners()

    def _items(self) -> Iterator[Item]:
        for place, (number, data) in enumerate(self._selection.items(), 1):
            item_id = self._source.item_id(number)
            basis = item_basis(data)
            self._item_bases.append(basis)
            known: tuple[ItemOutcome | None, ...] = ()
            if self._previous:
                bases = [basis + reading for reading in self._readings]
                known = self._previous.known(item_id, bases)
            if self._is_mixed:
                known = self._with_other_levels(number, known)
            if self._may_reuse:
                known = self._with_earlier(item_id, data, known)
            item = Item(item_id, data, known)
            self._sample.offer(place, item)
            yield item

    def _with_earlier(
        self, item_id: str, data: bytes, known: tuple[ItemOutcome | None, ...]
    ) -> tuple[ItemOutcome | None, ...]:
        """Add the results of earlier runs to what is known of an item."""
        found = [
            reuse.find(item_id, data) if reuse and not (known and known[job]) else None
            for job, reuse in enumerate(self._reuses)
        ]
        if not any(found):
            return known
        return tuple(one or (known[job] if known else None) for job, one in enumerate(found))

    def _with_other_levels(
        self, number: int, known: tuple[ItemOutcome | None, ...]
    ) -> tuple[ItemOutcome | None, ...]:
        """Let only those evaluators judge an item that are written for its level."""
        return tuple(
            (known[job] if known else None)
            if self._source.has_level(number, level)
            else _OTHER_LEVEL
            for job, level in enumerate(self._levels)
        )

    def _note_runners(self) -> None:
        """Note what the workers run in, as soon as there are any: with kept results that may be late."""
        for job, task in enumerate(self._tasks):
            if self.report.runners[job] is None and (report := task.runner.report()) is not None:
                environment = _environment(report, self._settings.limits)
                self.report.runners[job] = report
                self.report.environments[job] = environment
                self._makers[job].environment = environment
                if (reuse := self._reuses[job]) is not None:
                    reuse.set_environment(environment)

    def _take(self, group: Group) -> list[ResultRecord]:
        report = self.report
        numbers = self._selection.numbers(group.first, group.item_ids)
        for summary, outcomes in zip(report.summaries, group.outcomes, strict=True):
            if self._is_mixed:
                summary.add_batch(*_of_level(numbers, outcomes))
            else:
                summary.add_batch(numbers, outcomes)
        report.items += len(group.item_ids)
        of_items = [self._item_bases.popleft() for _ in group.item_ids]
        reused = [
            reuse.keep(group.item_ids, outcomes)
            if reuse and self._may_reuse
            else [False] * len(outcomes)
            for reuse, outcomes in zip(self._reuses, group.outcomes, strict=True)
        ]
        for task, outcomes, known in zip(self._tasks, group.outcomes, reused, strict=True):
            if task.evaluator.type == "llm_judge":
                report.judges.add(
                    one for one, is_old in zip(outcomes, known, strict=True) if not is_old
                )
        if self._may_reuse:
            report.reused = [reuse.count if reuse else 0 for reuse in self._reuses]
            self._may_reuse = not all(reuse is None or reuse.is_over for reuse in self._reuses)
        made: list[list[ResultRecord | None]] = []
        for maker, outcomes, reading, again in zip(
            self._makers, group.outcomes, self._readings, reused, strict=True
        ):
            bases = [basis + reading for basis in of_items]
            made.append(list(map(maker.make, group.item_ids, outcomes, bases, again)))
        is_known = reused
        if self._is_mixed:
            self._leave_out_other_levels(group, made, is_known)
        if self._previous:
            for at, item_id in enumerate(group.item_ids):
                self._put_back(at, self._previous.take_kept(item_id), made, is_known)
        self._sample.judged(group, is_known)
        return [record for of_item in zip(*made, strict=True) for record in of_item if record]

    def _leave_out_other_levels(
        self, group: Group, made: list[list[ResultRecord | None]], is_known: list[list[bool]]
    ) -> None:
        for job, outcomes in enumerate(group.outcomes):
            for at, outcome in enumerate(outcomes):
                if outcome is _OTHER_LEVEL:
                    made[job][at] = None
                    is_known[job][at] = True

    def _put_back(
        self,
        at: int,
        kept: Sequence[ResultRecord | None],
        made: list[list[ResultRecord | None]],
        is_known: list[list[bool]],
    ) -> None:
        """Keep the earlier run's own records: they may be of another version of the evaluator.

        One of an item that the evaluator was given when it saw another level has no place any more.
        """
        for job, record in enumerate(kept):
            if record is not None and made[job][at] is not None:
                made[job][at] = record
                is_known[job][at] = True
                digest = self._tasks[job].evaluator.digest
                self.report.kept += 1
                self.report.kept_of_other_version += record.digest != digest
                self.report.kept_runners.add(record.runner)


def _of_level(
    numbers: Sequence[int], outcomes: Sequence[ItemOutcome]
) -> tuple[list[int], list[ItemOutcome]]:
    """Leave out the items of levels that the evaluator does not judge."""
    judged = [one is not _OTHER_LEVEL for one in outcomes]
    return list(compress(numbers, judged)), list(compress(outcomes, judged))


def _record_maker(task: Task, source: Source) -> RecordMaker:
    evaluator, runner = task.evaluator, task.runner
    return RecordMaker(
        evaluator=evaluator.name,
        version=evaluator.version,
        digest=evaluator.digest,
        score_range=evaluator.score_range,
        runner=runner.tier if runner.jailed else f"{runner.tier}: no sandbox",
        source=source.kind,
    )


def _environment(report: RunnerReport, limits: Limits) -> str:
    """Return a digest of what the machine decides about results. Source: contracts §1."""
    decided = msgspec.json.encode((report.tier, report.engine, __version__, VERSION, limits))
    return short_hash(decided, 16)
