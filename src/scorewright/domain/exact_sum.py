"""Sums of numbers without rounding, so that neither order nor batches can move a mean.

A float is an integer over a power of two. The integers are added up per power, which costs little
and needs at most some two thousand powers however many numbers come; they are brought together only
when a mean is asked for, and rounded once.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

import msgspec


class SumState(msgspec.Struct, frozen=True, array_like=True):
    """An `ExactSum` as it is stored; integers are of any length, so they are written in hexadecimal."""

    count: int = 0
    min: float | None = None
    max: float | None = None
    #: By the denominator's power of two.
    sums: dict[int, str] = {}
    squares: dict[int, str] = {}


class ExactSum:
    """Count, mean, spread and extremes of finite numbers."""

    __slots__ = ("_squares", "_sums", "count", "max", "min")

    def __init__(self) -> None:
        #: How many numbers were added.
        self.count = 0
        #: The smallest and the largest; None of nothing.
        self.min: float | None = None
        self.max: float | None = None
        # Denominator (a power of two) to the sum of numerators, and of their squares.
        self._sums: defaultdict[int, int] = defaultdict(int)
        self._squares: defaultdict[int, int] = defaultdict(int)

    def add(self, counted: Mapping[float, int]) -> None:
        """Add finite numbers, each with how often it came."""
        if not counted:
            return
        sums, squares = self._sums, self._squares
        for number, times in counted.items():
            numerator, denominator = number.as_integer_ratio()
            sums[denominator] += numerator * times
            squares[denominator] += numerator * numerator * times
            self.count += times
        low, high = min(counted), max(counted)
        self.min = low if self.min is None else min(self.min, low)
        self.max = high if self.max is None else max(self.max, high)

    def state(self) -> SumState:
        """Return all that was added, to be stored."""
        return SumState(
            self.count, self.min, self.max, _to_powers(self._sums), _to_powers(self._squares)
        )

    def merge(self, state: SumState) -> None:
        """Add all that another sum was given."""
        self.count += state.count
        for own, others in ((self._sums, state.sums), (self._squares, state.squares)):
            for power, part in others.items():
                own[1 << power] += int(part, 16)
        if state.min is not None and state.max is not None:
            self.min = state.min if self.min is None else min(self.min, state.min)
            self.max = state.max if self.max is None else max(self.max, state.max)

    def mean(self) -> float | None:
        """Give the mean, rounded once; None of nothing."""
        if not self.count:
            return None
        total, power = self._total()
        return total / (power * self.count)

    def standard_error(self) -> float | None:
        """Give the sample standard deviation over the root of the count; None below two numbers."""
        count = self.count
        if count < 2:
            return None
        total, power = self._total()
        squares = sum(part * (power // own) ** 2 for own, part in self._squares.items())
        return _root_of_ratio(count * squares - total * total, (count * power) ** 2 * (count - 1))

    def _total(self) -> tuple[int, int]:
        """Bring the sums over one denominator, the largest: the others divide it."""
        power = max(self._sums)
        return sum(part * (power // own) for own, part in self._sums.items()), power


def _to_powers(parts: Mapping[int, int]) -> dict[int, str]:
    return {denominator.bit_length() - 1: f"{part:x}" for denominator, part in parts.items()}


def _root_of_ratio(numerator: int, denominator: int) -> float:
    """Take the square root, a float, of a ratio that may be too large or too small for one."""
    # Scaled by a power of four to some 120 bits, whose root has 60: more than a float shows.
    shift = (121 - numerator.bit_length() + denominator.bit_length()) // 2
    if shift >= 0:
        root = math.isqrt((numerator << 2 * shift) // denominator)
    else:
        root = math.isqrt(numerator // (denominator << -2 * shift))
    return math.ldexp(root, -shift)
