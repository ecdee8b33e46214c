"""What came out of a run, for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from scorewright.domain.aggregate import Summary
from scorewright.domain.convention import Level
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.judge_totals import JudgeTotals
from scorewright.runners.base import Limits, RunnerReport
from scorewright.services.plan import Task
from scorewright.services.second_look import SecondLook
from scorewright.services.selection import Selection
from scorewright.sources.source import Source


@dataclass(slots=True, kw_only=True)
class Report:
    """What came out of a run."""

    source: Source
    tasks: Sequence[Task]
    #: Of the items that each task judges.
    levels: Sequence[Level]
    #: Which of the items were to be evaluated.
    selection: Selection
    summaries: Sequence[Summary]
    runners: list[RunnerReport | None]
    #: Digests of what the machine decides, one per task; None while no worker was needed.
    environments: list[str | None]
    clock_s: float
    #: Bounds on what each evaluator might use.
    limits: Limits
    #: Items that every evaluator has answered.
    items: int = 0
    #: Results kept from an earlier run, and how many of them another version of the evaluator made.
    kept: int = 0
    kept_of_other_version: int = 0
    #: What stood between the code and the machine when the kept results were made.
    kept_runners: set[str] = field(default_factory=set[str])
    #: Per task: results that an earlier run computed; and what a second look at a sample of the others has shown.
    reused: list[int] = field(default_factory=list[int])
    second_looks: Sequence[SecondLook] = ()
    #: What judges have asked.
    judges: JudgeTotals = field(default_factory=JudgeTotals)
    #: Why results of earlier runs could not be used or kept.
    cache_trouble: str | None = None
    duration_s: float = 0.0

    @property
    def total(self) -> int:
        """Items there were to evaluate."""
        return self.selection.total

    @property
    def is_complete(self) -> bool:
        """Whether no item was left out by a stop."""
        return self.items == self.total

    def _judges_document(self) -> JsonValue:
        """Say what judges took; null where there is none."""
        if not any(task.evaluator.type == "llm_judge" for task in self.tasks):
            return None
        return msgspec.structs.asdict(self.judges)

    def summary(self) -> list[JsonObject]:
        """Return one summary per evaluator, items named as the source names them."""
        source = self.source
        if source.kind == "dataset":
            return [summary.document() for summary in self.summaries]
        return [summary.document(name_item=source.item_id) for summary in self.summaries]

    def document(self) -> JsonObject:
        """Return the report as `run --format json` prints it."""
        return {
            "source": self.source.kind,
            "items": self.items,
            "complete": self.is_complete,
            "rows": self.selection.rows,
            "filter": self.selection.filter,
            "matched": self.selection.matched,
            "sample_rate": self.selection.rate,
            "sampled": self.selection.sampled,
            "clock_s": self.clock_s,
            "limits": msgspec.structs.asdict(self.limits),
            "evaluators": [
                {
                    "name": task.evaluator.name,
                    "version": task.evaluator.version,
                    "digest": task.evaluator.digest,
                    "convention": task.evaluator.convention.value,
                    "language": task.evaluator.language,
                    "level": task.evaluator.level.value,
                    "item_level": level.value,
                    "score_range": _range_document(task.evaluator),
                    "threshold": task.evaluator.threshold,
                    "environment": environment,
                    "runner": _runner_document(runner),
                    "reused": reused,
                    "judged_twice": look.items,
                    "nondeterministic": look.differing,
                    "first_nondeterministic": look.first_item,
                }
                for task, level, environment, runner, reused, look in zip(
                    self.tasks,
                    self.levels,
                    self.environments,
                    self.runners,
                    self.reused,
                    self.second_looks,
                    strict=True,
                )
            ],
            "summary": list[JsonValue](self.summary()),
            "notices": [{"line": n.line, "message": n.message} for n in self.source.notices],
            "warnings": [
                {"evaluator": task.evaluator.name, "line": warning.line, "message": warning.message}
                for task in self.tasks
                for warning in task.evaluator.warnings
            ],
            "judges": self._judges_document(),
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
