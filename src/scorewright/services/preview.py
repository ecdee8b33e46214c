"""Try evaluators on a few items: what comes out is what a run would give, through the same sandbox and the same code.

The time of a preview is bounded, and shared out among its evaluators, so that one that hangs leaves time for the others.
The first item of each is judged to its end, whatever the time; then all the others at once, which ends when the time is
over or after a few seconds. What is left is judged a few items at a time: as many as would be done in the time that is
left if each took as long as it may.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.errors import CallerError, MappingError, ParamError
from scorewright.domain.evaluator import Evaluator, ReadSource, SourceError
from scorewright.domain.json_value import JsonValue
from scorewright.domain.result_record import ResultRecord
from scorewright.domain.signature import Diagnostic
from scorewright.runners.base import Limits, RunnerReport
from scorewright.services.evaluation import Evaluation
from scorewright.services.evaluators import name_apart
from scorewright.services.plan import Settings, Task, plan_jobs
from scorewright.services.preview_evaluators import Previewed, read_evaluator
from scorewright.services.purity import Purity, check_purity
from scorewright.services.runner_choice import Runners
from scorewright.services.runner_pool import RunnerPool
from scorewright.sources.picked import PickedItems
from scorewright.storage.database import Database

#: Items that the purity check judges, and how often it judges each.
_PURITY_ITEMS: Final = 5
_PURITY_PASSES: Final = 6
_LEAST_TIMEOUT_S: Final = 0.1
#: Judging all items at once is given up after this.
_AT_ONCE_S: Final = 3.0


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator with what is set for it."""

    evaluator: Previewed
    #: Variable to field, path or constant.
    mapping: Mapping[str, JsonValue] = {}
    params: Mapping[str, JsonValue] = {}


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why an evaluator could not be tried."""

    #: Into its entry of the request.
    pointer: str
    detail: str
    #: Of the source, with lines and columns, where that is what is wrong.
    diagnostics: tuple[Diagnostic, ...] = ()


class Trial(msgspec.Struct, kw_only=True):
    """What came of one evaluator."""

    #: None where it could not be tried, for `refusal`.
    evaluator: Evaluator | None = None
    refusal: Refusal | None = None
    #: One per item that was judged, in order.
    records: list[ResultRecord] = []
    #: What stood between the code and the machine; None where nothing ran.
    runner: RunnerReport | None = None
    #: Items that were judged a second time by themselves, and those that came out otherwise.
    judged_twice: int = 0
    differing: int = 0
    #: None where it was not asked for, or there was no time for it.
    purity: Purity | None = None


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What came of all of them."""

    items: PickedItems
    trials: list[Trial]
    #: The frozen clock that the code saw, seconds since 1970 in UTC.
    clock_s: float
    duration_s: float
    #: Whether the time was over before everything was judged.
    stopped_early: bool


class _TimeIsOverError(Exception):
    pass


class _Clock:
    """The time that a preview has."""

    def __init__(self, total_s: float) -> None:
        self._start_s = time.monotonic()
        self._total_s = total_s

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self._start_s

    @property
    def left_s(self) -> float:
        return self._total_s - self.spent_s

    def is_over(self) -> bool:
        return self.left_s <= 0

    def stop(self) -> bool:
        """Break off what asks: being told to stop, it would first wait for the items under way."""
        if self.is_over():
            raise _TimeIsOverError
        return False


class _Tried(msgspec.Struct, frozen=True):
    """An evaluator that can be tried, with the items of its level."""

    trial: Trial
    task: Task
    items: PickedItems

    @property
    def is_done(self) -> bool:
        return len(self.trial.records) >= self.items.size


class _Trying:
    """The evaluators of one preview that can be tried."""

    def __init__(self, items: PickedItems, limits: Limits, clock: _Clock) -> None:
        self.settings = Settings(limits=limits)
        self._items = items
        self._clock = clock
        self._tried: list[_Tried] = []

    @property
    def is_unfinished(self) -> bool:
        """Whether something was not judged."""
        return not all(one.is_done for one in self._tried)

    def prepare(
        self, trials: Sequence[Trial], subjects: Sequence[Subject], runners: Runners
    ) -> None:
        """Plan each evaluator by itself, so that one that does not fit keeps no other from being tried."""
        plain = [trial.evaluator for trial in trials if trial.evaluator is not None]
        names = iter(name_apart(plain))
        for trial, subject in zip(trials, subjects, strict=True):
            if trial.evaluator is None:
                continue
            trial.evaluator = next(names)
            try:
                task = Task(
                    evaluator=trial.evaluator,
                    runner=runners.for_evaluator(trial.evaluator),
                    mapping=subject.mapping,
                    params=subject.params,
                )
                (job,) = plan_jobs([task], self._items, self.settings)
                level = self._items.item_level(trial.evaluator.level)
                task.runner.dialect(job.load)  # TypeScript is translated, or refused
            except CallerError as error:
                trial.refusal = _refusal(error)
            else:
                self._tried.append(_Tried(trial, task, self._items.of_level(level)))

    def judge(self) -> None:
        """Judge all items by each evaluator in turn, or as many as there is time for."""
        for at, tried in enumerate(self._tried):
            if self._clock.is_over():
                return
            self._judge_all(tried, _Clock(self._clock.left_s / (len(self._tried) - at)))

    def _judge_all(self, tried: _Tried, share: _Clock) -> None:
        self._judge_some(tried, 1)
        if not tried.is_done and not share.is_over():
            at_once = _Clock(min(share.left_s, _AT_ONCE_S))
            with suppress(_TimeIsOverError):
                self._judge_some(tried, tried.items.size, should_stop=at_once.stop)
        while not tried.is_done and not share.is_over():
            self._judge_some(tried, max(1, int(share.left_s / self.settings.limits.timeout_s)))

    def _judge_some(
        self, tried: _Tried, most: int, *, should_stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Judge the items behind those that are judged already."""
        trial, start = tried.trial, len(tried.trial.records)
        items = tried.items.part(start, start + most)
        evaluation = Evaluation(items, [tried.task], settings=self.settings)
        for records in evaluation.run(should_stop=should_stop):
            trial.records += records
        (runner,), (look,) = evaluation.report.runners, evaluation.report.second_looks
        trial.runner = runner or trial.runner
        trial.judged_twice += look.items
        trial.differing += look.differing

    def check_purity(self, runners: Runners) -> None:
        """Judge the first items again and again, with one thing changed each time."""
        checked = [one for one in self._tried if one.items.size]
        if not checked or self._clock.is_over():
            return
        judgements = _PURITY_ITEMS * _PURITY_PASSES * len(checked)
        limits = self.settings.limits
        timeout_s = max(_LEAST_TIMEOUT_S, min(limits.timeout_s, self._clock.left_s / judgements))
        found = check_purity(
            [one.task for one in checked],
            self._items,
            settings=Settings(
                limits=msgspec.structs.replace(limits, timeout_s=timeout_s),
                limit=_PURITY_ITEMS,
                clock_s=self.settings.clock_s,
            ),
            make_runner=runners.python_with_hash_seed,
        )
        for one, purity in zip(checked, found, strict=True):
            one.trial.purity = purity


def preview(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    subjects: Sequence[Subject],
    choose_items: Callable[[frozenset[Level]], PickedItems],
    *,
    limits: Limits,
    total_s: float,
    purity: bool,
    pool: RunnerPool,
    read: ReadSource,
) -> Preview:
    """Try evaluators on items.

    Args:
        database: Where saved evaluators are.
        project_id: Whose.
        subjects: The evaluators; names that are alike get a number.
        choose_items: Returns what they judge, by the levels that they see.
        limits: Of one evaluator.
        total_s: Of the preview; what is under way then is finished.
        purity: Whether to find out if results depend on more than the item.
        pool: Where the sandboxes are.
        read: Reads the sources of drafts.

    Raises:
        SandboxUnavailableError: The machine's.
        OurError: All sandboxes are in use.
    """
    clock = _Clock(total_s)
    trials = [_read(database, project_id, subject, read) for subject in subjects]
    levels = frozenset(one.evaluator.level for one in trials if one.evaluator is not None)
    items = choose_items(levels or frozenset({Level.RECORD}))
    trying = _Trying(items, limits, clock)
    with pool.lend() as runners:
        trying.prepare(trials, subjects, runners)
        trying.judge()
        if purity:
            trying.check_purity(runners)
    return Preview(
        items=items,
        trials=trials,
        clock_s=trying.settings.clock_s,
        duration_s=clock.spent_s,
        stopped_early=trying.is_unfinished,
    )


def _read(database: Database, project_id: str, subject: Subject, read: ReadSource) -> Trial:
    try:
        return Trial(evaluator=read_evaluator(database, project_id, subject.evaluator, read))
    except CallerError as error:
        return Trial(refusal=_refusal(error))


def _refusal(error: CallerError) -> Refusal:
    diagnostics = error.diagnostics if isinstance(error, SourceError) else ()
    pointer = error.pointer
    if pointer is None:
        pointer = "/mapping" if isinstance(error, MappingError) else ""
        pointer = "/params" if isinstance(error, ParamError) else pointer
    return Refusal(pointer=pointer, detail=str(error), diagnostics=diagnostics)
