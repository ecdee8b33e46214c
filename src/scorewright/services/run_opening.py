"""A run as a worker has it before itself: evaluators with a sandbox each, the data, and which of them to judge."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from scorewright.domain.result_record import ResultRecord
from scorewright.services.evaluation import Evaluation
from scorewright.services.plan import Settings
from scorewright.services.run_model import FrozenEvaluator, frozen_of, settings_of
from scorewright.services.run_part import ItemReader, Part
from scorewright.services.runner_choice import Runners
from scorewright.services.selection import Selection
from scorewright.sources.source import Source
from scorewright.storage.repositories.results import RecordReader
from scorewright.storage.repositories.shares import Chunk

#: Fewer than the command line has: here keeping the results of quick evaluators would show in a run's time.
_ALWAYS_KEPT_ITEMS: Final = 500


class OpenRun:
    """One run, opened.

    Args:
        row: The run's.
        source: What is judged.
        runners: Of this worker alone.
        workers: Processes to use; None for one per core.
        cache_folder: With results of earlier runs; None where there are none.

    Raises:
        CallerError: The caller's: the data are not what they were when the run was made.
    """

    def __init__(
        self,
        row: sa.engine.Row[tuple[object, ...]],
        source: Source,
        runners: Runners,
        *,
        workers: int | None,
        cache_folder: Path | None = None,
    ) -> None:
        self.frozen: list[FrozenEvaluator] = frozen_of(row)
        self.runners = runners
        self.source = source
        settings = settings_of(row)
        self._settings = settings.for_run(row.clock_s)
        self._workers = workers
        self._cache_folder = cache_folder if settings.reuse else None
        self._project_id: str = row.project_id
        self._tasks = [one.for_plan(runners.for_evaluator(one.evaluator)) for one in self.frozen]
        levels = [source.item_level(one.evaluator.level) for one in self.frozen]
        #: Of all items to judge, their numbers in the source.
        self.numbers: Sequence[int] = Selection(source, levels, self._settings).all_numbers()
        self._reader = ItemReader(source)

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
            limits=self._settings.limits,
            workers=self._workers,
            clock_s=self._settings.clock_s,
            cache_folder=self._cache_folder,
            cache_owner=f"{self._project_id}/",
            run_size=len(self.numbers),
            always_kept_items=_ALWAYS_KEPT_ITEMS,
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
