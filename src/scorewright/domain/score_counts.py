"""How often each score came, in bounded memory: what percentiles of any number of results are told from."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import Final

import msgspec

#: Different scores that are told apart; where there are more, their last bits are dropped.
MAX_SCORES: Final = 2_000
_ALL_BITS: Final = 53
_STEP_BITS: Final = 4
_LEAST_BITS: Final = 1


class CountsState(msgspec.Struct, frozen=True, array_like=True):
    """Score counts as they are stored."""

    bits: int = _ALL_BITS
    counts: dict[float, int] = {}


class ScoreCounts:
    """Counts by score.

    Scores keep so many bits that at most `MAX_SCORES` differ: with fewer, unions of what more bits tell apart. So
    the counts depend on the scores alone, neither on their order nor on how they were cut into batches.
    """

    def __init__(self, state: CountsState | None = None) -> None:
        self.bits = state.bits if state else _ALL_BITS
        self._counts: Counter[float] = Counter(state.counts if state else {})

    def add(self, counted: Mapping[float, int]) -> None:
        """Add finite scores, each with how often it came."""
        self._merge(_ALL_BITS, counted)

    def merge(self, state: CountsState) -> None:
        """Add all that others were given."""
        self._merge(state.bits, state.counts)

    def state(self) -> CountsState:
        """Return all that was added, to be stored."""
        return CountsState(self.bits, dict(self._counts))

    def percentiles(self, percents: tuple[float, ...]) -> list[float | None]:
        """Return, for each, the smallest score that at least so many percent of all do not exceed; None of nothing.

        Exact while `bits` is 53; else to one part in 2 to the power of `bits`.
        """
        if not self._counts:
            return [None] * len(percents)
        scores = sorted(self._counts)
        sums = list(accumulate(self._counts[score] for score in scores))
        return [scores[bisect_left(sums, rank_of(percent, sums[-1]))] for percent in percents]

    def _merge(self, bits: int, counts: Mapping[float, int]) -> None:
        coarser = min(self.bits, bits)
        if coarser < self.bits:
            self._counts = _coarsen(self._counts, coarser)
        self.bits = coarser
        self._counts.update(_coarsen(counts, coarser) if bits > coarser else counts)
        while len(self._counts) > MAX_SCORES and self.bits > _LEAST_BITS:
            self.bits = max(_LEAST_BITS, self.bits - _STEP_BITS)
            self._counts = _coarsen(self._counts, self.bits)


def rank_of(percent: float, count: int) -> int:
    """Return which of so many scores in order, from 1, is the percentile."""
    return max(1, math.ceil(count * percent / 100))


def _coarsen(counts: Mapping[float, int], bits: int) -> Counter[float]:
    # As whole numbers, whose last bits are those of the mantissa: a tenth of the time that taking floats apart needs.
    mask = -1 << (_ALL_BITS - bits)
    patterns = array("q", array("d", counts).tobytes())
    kept = array("d", array("q", [pattern & mask for pattern in patterns]).tobytes())
    coarser: Counter[float] = Counter()
    known = coarser.get  # a counter's own way for what is missing is slow
    for score, count in zip(kept, counts.values(), strict=True):
        coarser[score] = known(score, 0) + count
    return coarser
