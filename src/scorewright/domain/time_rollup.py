"""What results of one evaluator amount to over an hour or a day, stored so that more can be added and a chart is quick."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

import msgspec

from scorewright.domain.aggregate import Summary, SummaryState
from scorewright.domain.json_value import JsonObject
from scorewright.domain.packing import pack, unpack
from scorewright.domain.rollup import Rollup
from scorewright.domain.score_counts import CountsState, ScoreCounts, rank_of

#: What of a summary has a place in a chart.
_SHOWN: Final = (
    "scored",
    "skipped",
    "failed",
    "out_of_range",
    "mean_score",
    "mean_normalised",
    "mean_interval",
    "mean_n",
    "min_score",
    "max_score",
    "pass_rate",
    "pass_rate_interval",
    "pass_rate_n",
)


class _State(msgspec.Struct, frozen=True, array_like=True):
    summary: SummaryState
    reused: int
    bits: int
    #: Different scores in order, and how many results have at most that score.
    scores: bytes
    sums: bytes


_decode = msgspec.msgpack.Decoder(_State).decode
_encode = msgspec.msgpack.Encoder().encode


class TimeRollup:
    """The sum of any number of parts, in any order: counts, mean, pass rate, percentiles.

    Args:
        score_range: Smallest and largest score that the evaluator declares.
        stored: What `encoded` gave, to go on from.
    """

    def __init__(
        self, score_range: tuple[float, float] | None, stored: Sequence[bytes] = ()
    ) -> None:
        self._range = score_range
        self._states = [_decode(one) for one in stored]

    def add(self, rollup: Rollup) -> None:
        """Add what some results of a run amount to."""
        kept = msgspec.structs.replace(
            rollup.summary.state(), metrics={}, other_metric_values=0, failures=[], slowest=[]
        )
        counts = rollup.scores.state()
        scores = sorted(counts.counts)
        sums = accumulate(counts.counts[score] for score in scores)
        self._states.append(
            _State(
                kept,
                rollup.reused,
                counts.bits,
                pack(array("d", scores)),
                pack(array("Q", sums)),
            )
        )

    def encoded(self) -> bytes:
        """Return it as it is stored."""
        return _encode(self._merged())

    def document(self, percents: Sequence[float]) -> JsonObject:
        """Give counts, means with what they are over, and percentiles."""
        state = self._merged()
        summary = Summary("", score_range=self._range)
        summary.merge(state.summary)
        shown = summary.document()
        return {
            **{name: shown[name] for name in _SHOWN},
            "reused": state.reused,
            "percentiles": _percentiles(state, percents),
            "bits": state.bits,
        }

    def _merged(self) -> _State:
        if len(self._states) != 1:
            self._states = [self._merge()]
        return self._states[0]

    def _merge(self) -> _State:
        summary, counts = Summary("", score_range=self._range), ScoreCounts()
        for state in self._states:
            summary.merge(state.summary)
            counts.merge(CountsState(state.bits, _counts(state)))
        rollup = Rollup("", score_range=self._range)
        rollup.summary, rollup.scores = summary, counts
        rollup.reused = sum(state.reused for state in self._states)
        merged = TimeRollup(self._range)
        merged.add(rollup)
        return merged._states[0]


def _counts(state: _State) -> dict[float, int]:
    sums: array[int] = unpack("Q", state.sums)
    times = [last - before for before, last in pairwise([0, *sums])]
    return Counter(dict(zip(unpack("d", state.scores), times, strict=True)))


def _percentiles(state: _State, percents: Sequence[float]) -> JsonObject:
    scores: array[float] = unpack("d", state.scores)
    if not scores:
        return {}
    sums: array[int] = unpack("Q", state.sums)
    return {
        f"{percent:g}": scores[bisect_left(sums, rank_of(percent, sums[-1]))]
        for percent in percents
    }
