"""A run as a worker has it before itself: evaluators with a sandbox each, the data, and which of them to judge."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import cached_property

import sqlalchemy as sa

from scorewright.domain.result_record import ResultRecord
from scorewright.services.evaluation import Evaluation
from scorewright.services.plan import Settings
from scorewright.services.run_model import FrozenEvaluator, frozen_of, levels_of, settings_of
from scorewright.services.run_part import ItemReader, Part
from scorewright.services.run_parts import RunParts
from scorewright.services.runner_choice import Runners
from scorewright.services.selection import Selection
from scorewright.sources.source import Source
from scorewright.storage.repositories.results import RecordReader
from scorewright.storage.repositories.shares import Chunk


class IdleRunners:
    """Sandboxes that wait for the next run: starting one takes longer than a small run."""

    def __init__(self, name: str = "auto") -> None:
        self._name = name
        self._idle: list[Runners] = []
        self._lock = threading.Lock()

    def take(self) -> Runners:
        """Return runners that nobody else uses."""
        with self._lock:
            return self._idle.pop() if self._idle else Runners(self._name, environ=os.environ)

    def give_back(self, runners: Runners) -> None:
        """Let others have them."""
        with self._lock:
            self._idle.append(runners)

    def close(self) -> None:
        """End those that nobody uses."""
        with self._lock:
            idle, self._idle = self._idle, []
        for runners in idle:
            runners.close()


class OpenRun:
    """One run, opened.

    Args:
        row: The run's.
        parts: Opens the source.
        runners: Of this worker alone.
        workers: Processes to use; None for one per core.
        listing: Which items it is about, where others may have arrived.

    Raises:
        CallerError: The caller's: the data are not what they were when the run was made.
    """

    def __init__(
        self,
        row: sa.engine.Row[tuple[object, ...]],
        parts: RunParts,
        runners: Runners,
        *,
        workers: int | None,
        listing: Sequence[bytes] | None = None,
    ) -> None:
        self.frozen: list[FrozenEvaluator] = frozen_of(row)
        self.runners = runners
        levels = levels_of(self.frozen)
        lister = None if listing is None else parts.lister_of(row.source)
        #: What is judged.
        self.source: Source = (
            parts.open_source(row.project_id, row.source, levels)
            if lister is None or listing is None
            else lister.open(row.project_id, row.source, levels, listing)
        )
        self._settings = settings_of(row).for_run(row.clock_s)
        self._workers = workers
        self._tasks = [one.for_plan(runners.for_evaluator(one.evaluator)) for one in self.frozen]
        item_levels = [self.source.item_level(one.evaluator.level) for one in self.frozen]
        #: Of all items to judge, their numbers in the source.
        self.numbers: Sequence[int] = Selection(
            self.source, item_levels, self._settings
        ).all_numbers()
        self._reader = ItemReader(self.source)

    @cached_property
    def places(self) -> dict[str, int]:
        """Evaluators' places in the run, by name."""
        return {one.evaluator.name: at for at, one in enumerate(self.frozen)}

    @cached_property
    def records(self) -> RecordReader:
        """What makes records of rows."""
        return record_reader(self.frozen, self.source.kind)

    def part(self, chunk: Chunk) -> Part:
        """Return the items of a chunk."""
        numbers = self.numbers[chunk.first : chunk.first + chunk.count]
        return Part(self.source, numbers, self._reader)

    def evaluation(self, part: Part, previous: Sequence[ResultRecord] | None) -> Evaluation:
        """Plan the evaluation of a part.

        Args:
            part: Some of the items.
            previous: Results of an earlier run of these items, to be taken over.
        """
        settings = Settings(
            limits=self._settings.limits, workers=self._workers, clock_s=self._settings.clock_s
        )
        return Evaluation(part, self._tasks, settings=settings, previous=previous)


def record_reader(frozen: Sequence[FrozenEvaluator], source: str = "dataset") -> RecordReader:
    """Return what makes records of a run's rows.

    Args:
        frozen: The run's evaluators.
        source: What kind of data it judged.
    """
    return RecordReader(
        [(one.evaluator.name, one.evaluator.version, one.evaluator.digest) for one in frozen],
        source,
    )
