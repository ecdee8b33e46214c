"""A hundredth of every run is judged a second time, elsewhere and in another order. Source: contracts §6.

What comes out differently shows that results depend on more than the item: on what an earlier item left behind in the
standard library, on addresses, on the weather. Such an evaluator is reported as nondeterministic.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Outcome
from scorewright.engine.execute import Group, Item, Job, execute
from scorewright.runners.base import Limits

_EVERY = 100
#: A short run has a second look at this row.
_FIRST = 2
#: An item is judged again while that adds no more than this to the time that the evaluator has taken.
_MOST_SHARE = 0.02
_MOST_US = 200_000
#: What is held in memory until it is judged again.
_MAX_ITEMS = 1_000
_MAX_BYTES = 8 << 20
#: Failures that say something about the code and the item alone, as an author's exception does.
_OF_THE_CODE = frozenset({FailureCode.BAD_RETURN, FailureCode.MAPPING_ERROR})
_NOT_AGAIN = ItemOutcome(Failed(FailureCode.CANCELLED, "not judged again"))


class SecondLook(msgspec.Struct):
    """What a second look at one evaluator's results has shown."""

    #: Items judged twice.
    items: int = 0
    #: Those with another result the second time.
    differing: int = 0
    #: The first of them, by its id.
    first_item: str | None = None

    def compare(self, item_id: str, first: Outcome, second: Outcome) -> None:
        """Note whether both outcomes of an item are alike; called with the last items first."""
        if _of_the_code(second) is None:
            return
        self.items += 1
        if first != second:
            self.differing += 1
            self.first_item = item_id


class Sample:
    """Items of one run to look at again.

    Args:
        jobs: The run's.
        limits: The run's.
        workers: The run's.
    """

    def __init__(self, jobs: Sequence[Job], limits: Limits, workers: int) -> None:
        self._jobs = jobs
        self._limits = limits
        self._workers = workers
        #: Place and item of what was read, in order.
        self._read: deque[tuple[int, Item]] = deque()
        #: Items with what every job has computed of them; None where there is nothing to compare.
        self._judged: list[tuple[Item, list[Outcome | None]]] = []
        self._bytes = 0
        #: Per job: the time that all items took, and that of the items to be judged again.
        self._taken_us = [0] * len(jobs)
        self._spent_us = [0] * len(jobs)
        #: Per job: what was found out so far.
        self.looks = [SecondLook() for _ in jobs]

    def offer(self, place: int, item: Item) -> None:
        """Take every hundredth item; called with all of them, `place` in the run from 1."""
        if place % _EVERY == 0 or place == _FIRST:
            self._read.append((place, item))

    def judged(self, group: Group, is_known: Sequence[Sequence[bool]]) -> None:
        """Take what has come out of a group.

        Args:
            group: The next one.
            is_known: Per job and item, whether its outcome is from an earlier run.
        """
        for job, outcomes in enumerate(group.outcomes):
            self._taken_us[job] += sum([outcome.duration_us for outcome in outcomes])
        end = group.first + len(group.item_ids)
        while self._read and self._read[0][0] <= end:
            place, item = self._read.popleft()
            at = place - 1 - group.first
            first = [
                None if is_known[job][at] else self._worth_judging(job, outcomes[at])
                for job, outcomes in enumerate(group.outcomes)
            ]
            if any(first):
                self._judged.append((item, first))
                self._bytes += len(item.data)

    def _worth_judging(self, job: int, first: ItemOutcome) -> Outcome | None:
        """Return an outcome that can be compared, and does not take too long to be had again."""
        spent_us = self._spent_us[job] + first.duration_us
        if spent_us > _MOST_US + self._taken_us[job] * _MOST_SHARE:
            return None
        if not self._jobs[job].runner.pure or (outcome := _of_the_code(first.outcome)) is None:
            return None
        self._spent_us[job] = spent_us
        return outcome

    @property
    def is_full(self) -> bool:
        """Whether it holds as much as it should: time to look again."""
        return len(self._judged) >= _MAX_ITEMS or self._bytes >= _MAX_BYTES

    def look_again(self, should_stop: Callable[[], bool]) -> None:
        """Judge what was taken again, in new workers, the last item first.

        Where that cannot be had, or is to stop, fewer items are judged twice: the run's results are there already.
        """
        if not self._judged:
            return
        judged = [
            Item(
                item.item_id, item.data, tuple(_NOT_AGAIN if one is None else None for one in first)
            )
            for item, first in reversed(self._judged)
        ]
        expected = [first for _, first in reversed(self._judged)]
        self._judged, self._bytes = [], 0
        with suppress(SandboxUnavailableError):
            self._compare(judged, expected, should_stop)

    def _compare(
        self,
        items: Sequence[Item],
        expected: Sequence[Sequence[Outcome | None]],
        should_stop: Callable[[], bool],
    ) -> None:
        groups = execute(
            items,
            self._jobs,
            limits=self._limits,
            workers=self._workers,
            should_stop=should_stop,
        )
        for group in groups:
            for at, item_id in enumerate(group.item_ids):
                of_item = expected[group.first + at]
                for look, first, outcomes in zip(self.looks, of_item, group.outcomes, strict=True):
                    if first is not None:
                        look.compare(item_id, first, outcomes[at].outcome)


def _of_the_code(outcome: Outcome) -> Outcome | None:
    """Leave out what depends on the machine: limits that were hit, workers that were lost."""
    if not isinstance(outcome, Failed) or outcome.code in _OF_THE_CODE:
        return outcome
    return outcome if outcome.code is FailureCode.AUTHOR_ERROR and outcome.type else None
