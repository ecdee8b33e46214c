"""The range of an evaluator's scores, and the score from which an item passes."""

from __future__ import annotations

import math
from typing import Any, TypeAlias, cast

from scorewright.domain.convention import Convention
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.suggestion import quote

ScoreRange: TypeAlias = tuple[float, float]

UNIT_RANGE: ScoreRange = (0.0, 1.0)


def settle_range(declared: object, convention: Convention) -> ScoreRange | None:
    """Return the score range: the declared one, else 0 to 1, or none where any score counts.

    Source: contracts §1; in convention `variables` the range is up to the author's code.

    Raises:
        EvaluatorError: The author's: it is not two finite numbers, the smaller first.
    """
    if declared is None:
        return None if convention is Convention.VARIABLES else UNIT_RANGE
    shown = str(declared)
    bounds = cast("list[Any]", declared) if isinstance(declared, list | tuple) else []
    low, high = map(_finite, bounds) if len(bounds) == 2 else (None, None)
    if low is None or high is None or low >= high:
        raise EvaluatorError(
            f"score_range: {quote(shown)} is no range; give two finite numbers, the smaller "
            "first, as in [0, 100]"
        ).at("/score_range")
    return low, high


def settle_threshold(declared: object, score_range: ScoreRange | None) -> float | None:
    """Return the threshold: the declared one, else the middle of the range, or none without a range.

    Source: contracts §1; 0 is a threshold like any other, and a score equal to it passes.

    Raises:
        EvaluatorError: The author's: it is no finite number, or lies outside the range.
    """
    if declared is None:
        return None if score_range is None else score_range[0] / 2 + score_range[1] / 2
    threshold = _finite(declared)
    if threshold is None:
        raise EvaluatorError(
            f"threshold: {quote(str(declared))} is no finite number; give one without quotes, as in 0.5"
        ).at("/threshold")
    if score_range is not None and not score_range[0] <= threshold <= score_range[1]:
        raise EvaluatorError(
            f"threshold: {threshold:g} is outside the score range {score_range[0]:g} to "
            f"{score_range[1]:g}; give a number inside it"
        ).at("/threshold")
    return threshold


def _finite(value: object) -> float | None:
    """Return a number as a float, or None when it is none, or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
