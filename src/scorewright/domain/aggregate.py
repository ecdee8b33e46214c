"""What one evaluator's results amount to over a run.

Scored, skipped and failed items stay apart, and every mean or share comes with the number of items it
is taken over: only items that have the value count, and never as 0 where they have none.

Source: contracts §3 and §7; amp seed, "Step 3" (skipped items do not move a mean).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import msgspec

from scorewright.domain.exact_sum import ExactSum, SumState
from scorewright.domain.histogram import HistogramState, ObservedHistogram, RangeHistogram
from scorewright.domain.interval import mean_interval, wilson_interval
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.domain.metric_summary import MetricState, MetricSummary
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Scored, Skipped

MAX_METRICS: Final = 1_000
MAX_FAILURE_GROUPS: Final = 50
SLOWEST: Final = 5

#: Failure code, message, exception type, and line in the author's file.
_Cause: TypeAlias = tuple[str, str, str | None, int | None]
#: Takes the failures beyond `MAX_FAILURE_GROUPS` causes.
_OTHER: Final[_Cause] = ("other", "other failures", None, None)


class SummaryState(msgspec.Struct, frozen=True, array_like=True):
    """A summary as it is stored, such that others can be added to it."""

    scored: int
    skipped: int
    failed: int
    unavailable: int
    out_of_range: int
    passes: int
    verdicts: int
    scores: SumState
    histogram: HistogramState
    metrics: dict[str, MetricState]
    other_metric_values: int
    #: Cause, count, and the first item's number.
    failures: list[tuple[_Cause, int, int]]
    slowest: list[tuple[int, int]]


class Summary:
    """Accumulates the results of one evaluator; memory does not grow with the number of items.

    Neither the order of the items nor how they are cut into batches changes a number in it.
    """

    def __init__(self, evaluator: str, *, score_range: tuple[float, float] | None = None) -> None:
        """Start with no items.

        Args:
            evaluator: Its name.
            score_range: Smallest and largest score it declares; None where it declares none.
        """
        self._evaluator = evaluator
        self._range = score_range
        self._scored = 0
        self._skipped = 0
        self._failed = 0
        self._unavailable = 0
        self._out_of_range = 0
        self._passes = 0
        self._verdicts = 0
        self._scores = ExactSum()
        self._histogram = RangeHistogram(*score_range) if score_range else ObservedHistogram()
        self._metrics: dict[str, MetricSummary] = {}
        #: Values of metrics beyond `MAX_METRICS` names.
        self._other_metric_values = 0
        self._failures: dict[_Cause, _FailureGroup] = {}
        #: Duration and negated item number, the longest and earliest first.
        self._slowest: list[tuple[int, int]] = []
        #: Anything shorter is not among them; 0 is unknown.
        self._slow_from_us = 1

    @property
    def failed(self) -> int:
        """Items without a result so far."""
        return self._failed

    @property
    def judged(self) -> int:
        """Items with an outcome of any kind so far."""
        return self._scored + self._skipped + self._failed

    @property
    def unavailable(self) -> int:
        """Those among them that had no sandbox: not the author's fault."""
        return self._unavailable

    def add_batch(self, numbers: Sequence[int], items: Sequence[ItemOutcome]) -> None:
        """Add the outcomes of some items.

        Args:
            numbers: The items', for naming them in the document.
            items: Their outcomes, in the same order.
        """
        # One comprehension a question: a good deal quicker than one loop that asks them all.
        scored = [item.outcome for item in items if isinstance(item.outcome, Scored)]
        self._add_scored(scored)
        if len(scored) < len(items):
            for number, item in zip(numbers, items, strict=True):
                if isinstance(item.outcome, Failed):
                    self._add_failed(item.outcome, number)
                elif isinstance(item.outcome, Skipped):
                    self._skipped += 1
        durations_us = [item.duration_us for item in items]
        if durations_us and max(durations_us) >= self._slow_from_us:
            self._note_slow(numbers, durations_us)

    def state(self) -> SummaryState:
        """Return all that was added, to be stored."""
        return SummaryState(
            self._scored,
            self._skipped,
            self._failed,
            self._unavailable,
            self._out_of_range,
            self._passes,
            self._verdicts,
            self._scores.state(),
            self._histogram.state(),
            {name: metric.state() for name, metric in self._metrics.items()},
            self._other_metric_values,
            [(cause, group.count, group.first_item) for cause, group in self._failures.items()],
            self._slowest,
        )

    def merge(self, state: SummaryState) -> None:
        """Add all that another summary of the same evaluator was given.

        Which metrics, texts and failures stand by name, where there are more than can, depends on what came first.
        """
        self._scored += state.scored
        self._skipped += state.skipped
        self._failed += state.failed
        self._unavailable += state.unavailable
        self._out_of_range += state.out_of_range
        self._passes += state.passes
        self._verdicts += state.verdicts
        self._scores.merge(state.scores)
        self._histogram.merge(state.histogram)
        self._other_metric_values += state.other_metric_values
        for name, metric in state.metrics.items():
            self._merge_metric(name, metric)
        for cause, count, first_item in state.failures:
            self._count_failure(cause, count, first_item)
        self._slowest = heapq.nlargest(SLOWEST, self._slowest + state.slowest)
        if len(self._slowest) == SLOWEST:
            self._slow_from_us = self._slowest[-1][0]

    def document(self, *, name_item: Callable[[int], JsonValue] = int) -> JsonObject:
        """Give the summary as `run --format json` prints it (docs/reference/results.md).

        Args:
            name_item: What an item is called, by its number.
        """
        scores, mean = self._scores, self._scores.mean()
        return {
            "evaluator": self._evaluator,
            "scored": self._scored,
            "skipped": self._skipped,
            "failed": self._failed,
            "out_of_range": self._out_of_range,
            "mean_score": mean,
            "mean_normalised": None if mean is None else self._normalise(mean),
            "mean_interval": None if mean is None else self._mean_interval(mean),
            "mean_n": scores.count,
            "min_score": scores.min,
            "max_score": scores.max,
            "score_range": _as_list(self._range),
            "pass_rate": self._passes / self._verdicts if self._verdicts else None,
            "pass_rate_interval": _as_list(wilson_interval(self._passes, self._verdicts)),
            "pass_rate_n": self._verdicts,
            "histogram": self._histogram.document(),
            "metrics": {name: metric.document() for name, metric in self._metrics.items()},
            "other_metric_values": self._other_metric_values,
            "failures": self._describe_failures(name_item),
            "slowest": [
                {"item": name_item(-negated), "duration_ms": duration_us / 1000}
                for duration_us, negated in self._slowest
            ],
        }

    def _add_scored(self, scored: list[Scored]) -> None:
        self._scored += len(scored)
        self._out_of_range += [one.out_of_range for one in scored].count(True)
        verdicts = [one.passed for one in scored if one.passed is not None]
        self._verdicts += len(verdicts)
        self._passes += verdicts.count(True)
        scores = [one.score for one in scored if one.score is not None and not one.out_of_range]
        counted = Counter(scores)
        self._scores.add(counted)
        self._histogram.add(counted)
        columns: dict[str, list[JsonValue]] = {}
        for metrics in [one.metrics for one in scored if one.metrics]:
            for name, value in metrics.items():
                columns.setdefault(name, []).append(value)
        for name, values in columns.items():
            self._add_metric(name, values)

    def _add_metric(self, name: str, values: list[JsonValue]) -> None:
        metric = self._metrics.get(name)
        if metric is None:
            if len(self._metrics) >= MAX_METRICS:
                self._other_metric_values += len(values)
                return
            metric = self._metrics[name] = MetricSummary()
        metric.add(values)

    def _merge_metric(self, name: str, state: MetricState) -> None:
        metric = self._metrics.get(name)
        if metric is None:
            if len(self._metrics) >= MAX_METRICS:
                self._other_metric_values += state.values
                return
            metric = self._metrics[name] = MetricSummary()
        metric.merge(state)

    def _add_failed(self, outcome: Failed, item_number: int) -> None:
        self._failed += 1
        self._unavailable += outcome.code is FailureCode.SANDBOX_UNAVAILABLE
        cause = (outcome.code.value, outcome.message, outcome.type, outcome.line)
        self._count_failure(cause, 1, item_number)

    def _count_failure(self, cause: _Cause, count: int, item_number: int) -> None:
        group = self._failures.get(cause)
        if group is None:
            if len(self._failures) >= MAX_FAILURE_GROUPS:
                cause = _OTHER
            group = self._failures.setdefault(cause, _FailureGroup(item_number))
        group.count += count
        group.first_item = min(group.first_item, item_number)

    def _note_slow(self, numbers: Sequence[int], durations_us: list[int]) -> None:
        timed = [
            (duration_us, -number)
            for number, duration_us in zip(numbers, durations_us, strict=True)
            if duration_us >= self._slow_from_us
        ]
        # Of two that took equally long the earlier item is kept.
        self._slowest = heapq.nlargest(SLOWEST, self._slowest + timed)
        if len(self._slowest) == SLOWEST:
            self._slow_from_us = self._slowest[-1][0]

    def _normalise(self, mean: float) -> float | None:
        if self._range is None:
            return None
        # Halved, as the width of a range may be beyond the largest float.
        low, high = self._range[0] / 2, self._range[1] / 2
        return (mean / 2 - low) / (high - low)

    def _mean_interval(self, mean: float) -> JsonValue:
        error = self._scores.standard_error()
        # Equal scores say nothing of how far others may lie: an interval without width would claim certainty.
        bounds = mean_interval(mean, error, self._scores.count) if error else None
        if bounds is None or self._range is None:
            return _as_list(bounds)
        # No score counted lies outside, so neither can their mean.
        low, high = self._range
        return [max(bounds[0], low), min(bounds[1], high)]

    def _describe_failures(self, name_item: Callable[[int], JsonValue]) -> JsonValue:
        # By count, then by what is shown: the order in which they came does not matter.
        ranked = sorted(
            self._failures.items(),
            key=lambda entry: (-entry[1].count, *[str(part or "") for part in entry[0]]),
        )
        return [
            {
                "code": code,
                "type": kind,
                "message": message,
                "line": line,
                "count": group.count,
                "first_item": name_item(group.first_item),
            }
            for (code, message, kind, line), group in ranked
        ]


class _FailureGroup:
    __slots__ = ("count", "first_item")

    def __init__(self, first_item: int) -> None:
        self.count = 0
        self.first_item = first_item


def _as_list(pair: tuple[float, float] | None) -> JsonValue:
    return None if pair is None else [*pair]
