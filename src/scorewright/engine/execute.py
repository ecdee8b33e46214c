"""Run evaluators over items: batches out to workers, outcomes back in item order.

Items stay the JSON bytes they are stored in. Every evaluator walks over the same groups of items at its own
pace; a group is handed on when all evaluators have answered it, so that order and content never depend on how
many workers there were. What waits is bounded, whatever the number of items.
"""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from scorewright.domain.result import Failed, FailureCode, ItemOutcome
from scorewright.runners.base import Limits, Runner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.session import Session

#: A group is cut at the first of these. Larger ones fall out of the processor's cache.
_MAX_GROUP_ITEMS = 256
_MAX_GROUP_BYTES = 224 << 10
#: The same where a runner wants many items at a time, however large they are.
_MAX_LARGE_GROUP_BYTES = 4 << 20
#: The size of groups before anything is known about an evaluator's speed.
_FIRST_GROUP_ITEMS = 16
#: Groups are sized to take this long, so that slow evaluators are spread and a kill loses little.
_GROUP_US = 25_000
#: Groups read ahead of the slowest evaluator; their outcomes are what a run holds in memory.
_GROUPS_AHEAD = 8
_BATCHES_PER_WORKER = 2
#: How often the clock of each worker is looked at.
_TICK_MS = 50
#: An item above this fails by itself: it would not fit beside the interpreter in a worker's memory.
MAX_ITEM_BYTES = 32 << 20


class Item(msgspec.Struct, frozen=True):
    """The unit that one evaluator is applied to."""

    item_id: str
    #: A JSON object, UTF-8.
    data: bytes
    #: Outcomes that need not be computed, one per job (None: compute it); empty when there are none.
    known: tuple[ItemOutcome | None, ...] = ()


class Group(msgspec.Struct):
    """Consecutive items with the outcomes of every evaluator, in evaluator order."""

    #: Position of the first item, from 0.
    first: int
    item_ids: list[str]
    outcomes: list[list[ItemOutcome]]


class Job(msgspec.Struct, frozen=True):
    """One evaluator in one run."""

    load: Load
    runner: Runner


class _OpenGroup:
    __slots__ = ("first", "items", "known", "outcomes", "waiting")

    def __init__(self, first: int, items: list[Item], jobs: int) -> None:
        self.first = first
        self.items = items
        self.outcomes: list[list[ItemOutcome]] = [[] for _ in range(jobs)]
        #: Per job, position to outcome, of what needs no worker.
        self.known: list[dict[int, ItemOutcome]] = [{} for _ in range(jobs)]
        special = [
            at for at, item in enumerate(items) if item.known or len(item.data) > MAX_ITEM_BYTES
        ]
        for at in special:
            self._note_known(at, items[at])
        self.waiting = jobs

    def _note_known(self, at: int, item: Item) -> None:
        too_large = len(item.data) > MAX_ITEM_BYTES
        for job, known in enumerate(self.known):
            outcome = item.known[job] if item.known else None
            if outcome is not None:
                known[at] = outcome
            elif too_large:
                known[at] = _too_large(len(item.data))
        if too_large:
            self.items[at] = Item(item.item_id, b"")  # it goes nowhere: do not hold on to it

    def sendable(self, job: int) -> tuple[list[str], list[bytes]]:
        """The ids and bytes of the items that a worker must judge."""
        items = self.items
        if known := self.known[job]:
            items = [item for at, item in enumerate(items) if at not in known]
        return [item.item_id for item in items], [item.data for item in items]

    def answer(self, job: int, outcomes: list[ItemOutcome]) -> None:
        for at, outcome in sorted(self.known[job].items()):
            outcomes.insert(at, outcome)
        self.outcomes[job] = outcomes
        self.waiting -= 1


def _too_large(size: int) -> ItemOutcome:
    message = f"the item has {size:,} bytes; an evaluator can be given {MAX_ITEM_BYTES:,} at most"
    return ItemOutcome(Failed(FailureCode.MAPPING_ERROR, f"{message}: shorten its longest field"))


class _Execution:
    """The state of one call of `execute`."""

    def __init__(
        self, items: Iterator[Item], jobs: Sequence[Job], limits: Limits, workers: int
    ) -> None:
        self._jobs = jobs
        self._limits = limits
        self._max_sessions = max(workers, len(jobs))
        #: Per job; one to begin with, more where a job has work left over.
        self.sessions = [[Session(job.runner, job.load, limits)] for job in jobs]
        self._items = items
        self._groups: deque[_OpenGroup] = deque()
        #: Number of the oldest open group, and of the next one each evaluator takes.
        self._oldest = 0
        self._next = [0] * len(jobs)
        self._read = 0
        #: Every job walks over the same groups: the one with the costliest batches decides.
        self._least_items = max(job.runner.least_batch for job in jobs)
        self._max_bytes = _MAX_GROUP_BYTES if self._least_items == 1 else _MAX_LARGE_GROUP_BYTES
        self._group_items = max(_FIRST_GROUP_ITEMS, self._least_items)
        self._is_exhausted = False

    @property
    def is_done(self) -> bool:
        return self._is_exhausted and not self._groups

    def feed(self, *, may_read: bool) -> None:
        """Give work to every worker that has room for it."""
        for job, sessions in enumerate(self.sessions):
            for _ in range(_BATCHES_PER_WORKER):
                for session in sessions:
                    if session.batches_in_flight < _BATCHES_PER_WORKER:
                        self._submit(job, session, may_read=may_read)
        self._add_session(may_read=may_read)

    def _add_session(self, *, may_read: bool) -> None:
        """Give one more worker to the job that is furthest behind, while there may be more."""
        if sum(map(len, self.sessions)) >= self._max_sessions:
            return
        growing = [job for job in range(len(self._jobs)) if self._may_grow(job)]
        if not growing:
            return
        job = min(growing, key=self._next.__getitem__)
        sessions = self.sessions[job]
        if all(one.batches_in_flight >= _BATCHES_PER_WORKER for one in sessions) and (
            self._has_group(self._next[job]) or (may_read and self._read_group())
        ):
            session = Session(self._jobs[job].runner, self._jobs[job].load, self._limits)
            sessions.append(session)
            self._submit(job, session, may_read=may_read)

    def _may_grow(self, job: int) -> bool:
        most = self._jobs[job].runner.most_workers
        return most is None or len(self.sessions[job]) < most

    def _has_group(self, number: int) -> bool:
        return number < self._oldest + len(self._groups)

    def stop_reading(self) -> None:
        self._is_exhausted = True

    def take(self, job: int, finished: list[tuple[int, list[ItemOutcome]]]) -> None:
        for number, outcomes in finished:
            self._learn_speed(outcomes)
            self._groups[number - self._oldest].answer(job, outcomes)

    def answered_groups(self) -> Iterator[Group]:
        """Hand out the oldest groups as far as every evaluator has answered them."""
        while self._groups and not self._groups[0].waiting:
            group = self._groups.popleft()
            self._oldest += 1
            yield Group(group.first, [item.item_id for item in group.items], group.outcomes)

    def _submit(self, job: int, session: Session, *, may_read: bool) -> None:
        number = self._next[job]
        if not self._has_group(number) and not (may_read and self._read_group()):
            return
        self._next[job] += 1
        group = self._groups[number - self._oldest]
        item_ids, items = group.sendable(job)
        if items:
            self.take(job, session.submit(number, item_ids, items))
        else:
            group.answer(job, [])

    def _read_group(self) -> bool:
        most = _GROUPS_AHEAD + _BATCHES_PER_WORKER * self._max_sessions
        if self._is_exhausted or len(self._groups) >= most:
            return False
        items: list[Item] = []
        size = 0
        for item in self._items:
            items.append(item)
            size += len(item.data)
            if len(items) >= self._group_items or size >= self._max_bytes:
                break
        if not items:
            self._is_exhausted = True
            return False
        self._groups.append(_OpenGroup(self._read, items, len(self.sessions)))
        self._read += len(items)
        return True

    def _learn_speed(self, outcomes: list[ItemOutcome]) -> None:
        mean_us = sum([o.duration_us for o in outcomes]) / len(outcomes)
        wanted = int(_GROUP_US / (mean_us + 1.0))
        most = min(_MAX_GROUP_ITEMS, self._group_items * 4)
        self._group_items = max(min(wanted, most), self._least_items)


def execute(
    items: Iterable[Item],
    jobs: Sequence[Job],
    *,
    limits: Limits,
    workers: int,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[Group]:
    """Run every job on every item.

    Args:
        items: Read as far ahead as workers need.
        jobs: At least one.
        limits: Bounds of one evaluator.
        workers: Processes to use, shared evenly; each evaluator has at least one.
        should_stop: Asked between batches; once true, nothing more is read and what is under way is finished.

    Yields:
        Groups in item order, each with one list of outcomes per job.

    Raises:
        SandboxUnavailableError: Workers could not be had. Groups yielded before stay valid.
    """
    run = _Execution(iter(items), jobs, limits, workers)
    try:
        while True:
            stopping = should_stop()
            if stopping:
                run.stop_reading()
            run.feed(may_read=not stopping)
            if run.is_done:
                break
            yield from run.answered_groups()
            _exchange(run)
            yield from run.answered_groups()
    finally:
        for sessions in run.sessions:
            for session in sessions:
                session.close()


def _exchange(run: _Execution) -> None:
    """Wait for workers, and take what they sent."""
    poll = select.poll()
    by_descriptor: dict[int, tuple[int, Session]] = {}
    for job, sessions in enumerate(run.sessions):
        for session in sessions:
            worker = session.worker
            if worker is not None and session.batches_in_flight:
                descriptor = worker.fileno()
                write = select.POLLOUT if worker.wants_to_write else 0
                poll.register(descriptor, select.POLLIN | write)
                by_descriptor[descriptor] = (job, session)
    if not by_descriptor:
        return
    for descriptor, event in poll.poll(_TICK_MS):
        job, session = by_descriptor[descriptor]
        if event & select.POLLOUT and session.worker is not None:
            session.worker.flush()
        if event & ~select.POLLOUT:
            run.take(job, session.receive())
    now_s = time.monotonic()
    for job, session in by_descriptor.values():
        run.take(job, session.check_time(now_s))
