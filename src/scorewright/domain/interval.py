"""95 % confidence intervals, from the standard library.

scipy has both, but takes 0.4 s to import, more than a whole small run, and 90 MB to install for
two formulas. The tests compare every value here with scipy's.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final, TypeAlias

Interval: TypeAlias = tuple[float, float]

#: Of the standard normal distribution: 97.5 % lie below, so 95 % between minus and plus this.
_Z: Final = 1.959963984540054
_TAIL: Final = 0.975
#: From here the expansion in 1/degrees is exact to the last digits; below, the finite sum is quick.
_MANY_DEGREES: Final = 400


def wilson_interval(successes: int, count: int) -> Interval | None:
    """Bound the share behind a sample of yes and no: Wilson's score interval.

    It stays within 0 and 1 and says something also where all agree, unlike the textbook formula.

    Args:
        successes: How many said yes, from 0 to `count`.
        count: How many there were.

    Returns:
        The bounds; None for an empty sample.
    """
    if count == 0:
        return None
    share = successes / count
    squared = _Z * _Z
    centre = (share + squared / (2 * count)) / (1 + squared / count)
    spread = math.sqrt(share * (1 - share) / count + squared / (4 * count * count))
    half_width = spread * _Z / (1 + squared / count)
    # At the ends rounding would leave a crumb.
    low = 0.0 if successes == 0 else centre - half_width
    high = 1.0 if successes == count else centre + half_width
    return low, high


def mean_interval(mean: float, standard_error: float, count: int) -> Interval | None:
    """Bound the mean behind a sample of numbers: Student's t interval.

    Args:
        mean: The sample's mean.
        standard_error: Its sample standard deviation over the square root of its size.
        count: Its size.

    Returns:
        The bounds; None for fewer than two numbers, or where a bound is no finite number.
    """
    if count < 2:
        return None
    half_width = t_quantile(count - 1) * standard_error
    low, high = mean - half_width, mean + half_width
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


@lru_cache(maxsize=256)
def t_quantile(degrees: int) -> float:
    """Give the 97.5 % point of Student's t distribution.

    Args:
        degrees: Degrees of freedom, at least 1.

    Returns:
        The point, to about 12 digits: for few degrees from the closed form of the distribution, for
        many from its expansion around the normal one.
    """
    if degrees == 1:
        return math.tan(math.pi * (_TAIL - 0.5))
    if degrees == 2:
        excess = 2 * _TAIL - 1
        return excess * math.sqrt(2 / (1 - excess * excess))
    point = _expand(degrees)
    if degrees < _MANY_DEGREES:
        # Newton: the expansion is near, and the slope is the density.
        for _ in range(8):
            point -= (_probability_below(point, degrees) - _TAIL) / _density(point, degrees)
    return point


def _expand(degrees: int) -> float:
    """Expand the point in powers of 1/degrees around the normal one.

    Source: Abramowitz and Stegun, 26.7.5.
    """
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**power for power, term in enumerate(terms, start=1))


def _probability_below(point: float, degrees: int) -> float:
    """Sum the distribution function, which is finite for whole degrees.

    Source: Abramowitz and Stegun, 26.7.3 and 26.7.4.
    """
    angle = math.atan2(point, math.sqrt(degrees))
    cosine_squared = degrees / (degrees + point * point)
    is_odd = degrees % 2
    term = math.cos(angle) if is_odd else 1.0
    total = term
    for step in range(2 + is_odd, degrees - 1, 2):
        term *= cosine_squared * (step - 1) / step
        total += term
    if is_odd:
        return 0.5 + (angle + math.sin(angle) * total) / math.pi
    return 0.5 + math.sin(angle) * total / 2


def _density(point: float, degrees: int) -> float:
    half = degrees / 2
    log_scale = math.lgamma(half + 0.5) - math.lgamma(half) - math.log(math.pi * degrees) / 2
    return math.exp(log_scale - (half + 0.5) * math.log1p(point * point / degrees))
