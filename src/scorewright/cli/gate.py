"""`--fail-under`: a threshold over a run, for CI.

A gate is missed when the number is below it, when nothing was scored, and when more than a tolerated share of
the items failed: a mean over the rows that survived proves nothing about those that did not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from scorewright.domain.errors import UsageError
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.suggestion import did_you_mean
from scorewright.services.evaluation import Report

_PASS_RATE = "pass_rate"  # noqa: S105 - no secret


class Gate(msgspec.Struct, frozen=True):
    """One `--fail-under`."""

    evaluator: str
    #: A metric's name, `pass_rate`, or None for the mean raw score.
    metric: str | None
    least: float

    @property
    def title(self) -> str:
        """What is measured, for messages."""
        return f"{self.evaluator}.{self.metric}" if self.metric else f"{self.evaluator} mean score"

    def miss(self, report: Report, max_failed: float) -> str | None:
        """Return why this gate is missed; None when it is met."""
        position = [task.evaluator.name for task in report.tasks].index(self.evaluator)
        summary = report.summaries[position].document()
        value, count = self._value(summary)
        if value is None:
            return f"{self.title} ≥ {self.least:g}: nothing was measured ({_counts(summary)})"
        shown = f"{self.title} {value:.4g} (n = {count:,} of {report.items:,})"
        if value < self.least:
            return f"{shown}, needs ≥ {self.least:g}"
        failed = _integer(summary["failed"])
        judged = report.items - _integer(summary["skipped"])
        if judged and failed / judged > max_failed:
            return (
                f"{shown} is high enough, but {failed:,} of {judged:,} items failed, more than "
                f"{max_failed:.0%} (--max-failed)"
            )
        return None

    def _value(self, summary: JsonObject) -> tuple[float | None, int]:
        if self.metric is None:
            return _number(summary["mean_score"]), _integer(summary["mean_n"])
        if self.metric == _PASS_RATE:
            return _number(summary["pass_rate"]), _integer(summary["pass_rate_n"])
        metrics = summary["metrics"]
        entry = metrics.get(self.metric) if isinstance(metrics, dict) else None
        if not isinstance(entry, dict):
            return None, 0
        value = entry.get("mean", entry.get("share_true"))
        return _number(value), _integer(entry.get("count"))


def parse_gate(text: str, names: Sequence[str]) -> Gate:
    """Read one `EVALUATOR[.METRIC|.pass_rate]=NUMBER`.

    Raises:
        UsageError: It has another form, or names no evaluator of this run.
    """
    measured, equals, number = text.rpartition("=")
    name, _, metric = measured.partition(".")
    try:
        least = float(number)
    except ValueError:
        least = math.nan
    if not equals or not math.isfinite(least):
        raise UsageError(f"--fail-under {text}: write EVALUATOR=NUMBER, as in exact=0.8")
    if name not in names:
        near = did_you_mean(name, names)
        raise UsageError(
            f"--fail-under {text}: no evaluator {name!r} in this run{near}; there is {', '.join(names)}"
        )
    return Gate(name, metric or None, least)


def _counts(summary: JsonObject) -> str:
    return f"{summary['scored']} scored, {summary['skipped']} skipped, {summary['failed']} failed"


def _number(value: JsonValue) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _integer(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
