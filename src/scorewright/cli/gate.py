"""`--fail-under`: a threshold over a run, for CI.

A gate is missed when the number is below it, when nothing was scored, and when more than a tolerated share of
the items failed or scored out of range: a mean over the rows that survived proves nothing about the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec

from scorewright.cli.figures import counted, figure, parts_of_mixed, percent
from scorewright.domain.errors import UsageError
from scorewright.domain.suggestion import did_you_mean, name_list, nearest_name, quote
from scorewright.services.report import Report

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
        judged = report.summaries[position].judged
        summary: dict[str, Any] = report.summaries[position].document()
        value, count = self._value(summary)
        if value is None:
            return f"{self.title} ≥ {self.least:g}: {self._why_unmeasured(summary)}"
        shown = f"{self.title} {figure(value, self.least, digits=4)} (n = {count:,} of {judged:,})"
        if value < self.least:
            return f"{shown}, needs ≥ {figure(self.least, value, digits=6)}"
        lost = _lost(summary, judged - summary["skipped"], max_failed)
        return lost and f"{shown} is high enough, but {lost}"

    def _value(self, summary: dict[str, Any]) -> tuple[float | None, int]:
        if self.metric is None:
            return summary["mean_score"], summary["mean_n"]
        if self.metric == _PASS_RATE:
            return summary["pass_rate"], summary["pass_rate_n"]
        metric = summary["metrics"].get(self.metric, {"count": 0})
        return metric.get("mean", metric.get("share_true")), metric["count"]

    def _why_unmeasured(self, summary: dict[str, Any]) -> str:
        counts = (
            f"{summary['scored']:,} scored, {summary['skipped']:,} skipped, "
            f"{summary['failed']:,} failed, {summary['out_of_range']:,} out of range"
        )
        nothing = f"nothing was measured ({counts})"
        if self.metric is None or self.metric == _PASS_RATE:
            return nothing
        metric = summary["metrics"].get(self.metric)
        if metric is None:
            known = [*summary["metrics"], *[_PASS_RATE] * bool(summary["pass_rate_n"])]
            return _unknown_metric(self.metric, known) if known else nothing
        if not metric["count"]:
            return f"it was null in all {metric['nulls']:,} items that have it"
        made_of = f" ({parts_of_mixed(metric)})" if metric["type"] == "mixed" else ""
        return f"its type is {metric['type']}{made_of}; a threshold needs numbers or booleans alone"


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


def _lost(summary: dict[str, Any], judged: int, tolerated: float) -> str | None:
    failed, out_of_range = summary["failed"], summary["out_of_range"]
    if not judged or (failed + out_of_range) / judged <= tolerated:
        return None
    return (
        f"{failed:,} of {counted(judged, 'item')} failed and {out_of_range:,} scored out of range, "
        f"more than {percent(tolerated)} (--max-failed)"
    )


def _unknown_metric(name: str, known: list[str]) -> str:
    near = nearest_name(name, known)
    known.sort(key=lambda one: one != near)
    return f"no metric {quote(name)}; there is {name_list(known)}"
