"""Counts of scores by size, in bounded memory and whatever the order they come in."""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonValue

RANGE_BINS: Final = 10
MAX_OBSERVED_BINS: Final = 16
_MIN_EXPONENT: Final = sys.float_info.min_exp - sys.float_info.mant_dig


class HistogramState(msgspec.Struct, frozen=True, array_like=True):
    """A histogram as it is stored."""

    #: By number of the bin; by score where all are the same.
    counts: dict[float, int] = {}
    #: Of bins over what was seen: the width's power of two, the lowest and the highest score.
    exponent: int | None = None
    low: float | None = None
    high: float | None = None


class RangeHistogram:
    """Counts in equal bins over a declared range; a bin includes its lower edge, the last one both."""

    __slots__ = ("_counts", "_edges")

    def __init__(self, low: float, high: float) -> None:
        self._edges = [_between(low, high, step) for step in range(RANGE_BINS + 1)]
        self._counts = [0] * RANGE_BINS

    def add(self, counted: Mapping[float, int]) -> None:
        """Add scores inside the range, each with how often it came."""
        for score, times in counted.items():
            # Sought among the edges that are shown: computed apart, the two could disagree.
            number = bisect_right(self._edges, score) - 1
            self._counts[min(number, RANGE_BINS - 1)] += times

    def state(self) -> HistogramState:
        """Return all that was added, to be stored."""
        return HistogramState({at: count for at, count in enumerate(self._counts) if count})

    def merge(self, state: HistogramState) -> None:
        """Add all that another histogram over the same range was given."""
        for number, count in state.counts.items():
            self._counts[int(number)] += count

    def document(self) -> JsonValue:
        """Give the edges and the counts between them; None when nothing was added."""
        if not any(self._counts):
            return None
        return {"edges": [*self._edges], "counts": [*self._counts]}


class ObservedHistogram:
    """Counts over whatever range the scores turn out to have.

    The bins are as wide as a power of two, the smallest with which at most `MAX_OBSERVED_BINS` cover
    all scores, and start at multiples of it. Wider bins are therefore unions of narrower ones: no
    score is needed again when the range grows, and the result depends on the scores alone.
    """

    __slots__ = ("_counts", "_exponent", "_high", "_low")

    def __init__(self) -> None:
        self._low = math.inf
        self._high = -math.inf
        #: Bins are 2 ** exponent wide; None while all scores are the same one.
        self._exponent: int | None = None
        #: By number of the bin, or by score while all are the same.
        self._counts: Counter[float] = Counter()

    def add(self, counted: Mapping[float, int]) -> None:
        """Add finite scores, each with how often it came."""
        if not counted:
            return
        self._low, self._high = min(self._low, *counted), max(self._high, *counted)
        if self._low == self._high:
            self._counts[self._low] += sum(counted.values())
            return
        exponent = _exponent_over(self._low, self._high)
        self._counts = _rebin(self._counts, exponent - (self._exponent or 0))
        self._exponent = exponent
        for score, times in counted.items():
            self._counts[_bin(score, exponent)] += times

    def state(self) -> HistogramState:
        """Return all that was added, to be stored."""
        if not self._counts:
            return HistogramState()
        return HistogramState(dict(self._counts), self._exponent, self._low, self._high)

    def merge(self, state: HistogramState) -> None:
        """Add all that another histogram was given."""
        if state.low is None or state.high is None:
            return
        self._low, self._high = min(self._low, state.low), max(self._high, state.high)
        if self._low == self._high:
            self._counts.update(state.counts)
            return
        exponent = _exponent_over(self._low, self._high)
        self._counts = _rebin(self._counts, exponent - (self._exponent or 0)) + _rebin(
            state.counts, exponent - (state.exponent or 0)
        )
        self._exponent = exponent

    def document(self) -> JsonValue:
        """Give the edges and the counts between them; None when nothing was added.

        While all scores are the same, both edges are that score.
        """
        if not self._counts:
            return None
        if self._exponent is None:
            return {"edges": [self._low, self._high], "counts": [self._counts.total()]}
        first, last = _bin(self._low, self._exponent), _bin(self._high, self._exponent)
        edges = [_edge(number, self._exponent) for number in range(first, last + 2)]
        return {"edges": [*edges], "counts": [self._counts[n] for n in range(first, last + 1)]}


def _between(low: float, high: float, step: int) -> float:
    """Give an edge as the float nearest to it: edges never fall, and the width may exceed all floats."""
    low_top, low_bottom = low.as_integer_ratio()
    high_top, high_bottom = high.as_integer_ratio()
    top = low_top * high_bottom * (RANGE_BINS - step) + high_top * low_bottom * step
    return top / (low_bottom * high_bottom * RANGE_BINS)


def _bin(score: float, exponent: int) -> int:
    scaled = math.ldexp(score, -exponent)
    # What is below zero stays there, however much wider the bins are.
    return -1 if score < 0 and not scaled else math.floor(scaled)


def _rebin(counts: Mapping[float, int], exponent: int) -> Counter[float]:
    wider: Counter[float] = Counter()
    for position, times in counts.items():
        wider[_bin(position, exponent)] += times
    return wider


def _exponent_over(low: float, high: float) -> int:
    """Give the smallest exponent whose bins cover both in at most `MAX_OBSERVED_BINS`.

    It can only grow with the range, so that adding scores never asks for narrower bins.
    """
    spread = high - low
    if math.isinf(spread):
        exponent = math.frexp(high / 2 - low / 2)[1] + 1
    else:
        exponent = math.frexp(spread)[1]
    # The spread is at least half of 2 ** exponent: with narrower bins there would be too many.
    # Below the smallest float there are no edges to tell bins apart.
    exponent = max(exponent - 4, _MIN_EXPONENT)
    while _bin(high, exponent) - _bin(low, exponent) >= MAX_OBSERVED_BINS:
        exponent += 1
    return exponent


def _edge(number: int, exponent: int) -> float:
    """Give a bin's lower edge, kept finite at the end of the floats."""
    try:
        return math.ldexp(number, exponent)
    except OverflowError:
        return math.copysign(sys.float_info.max, number)
