"""Score ranges and thresholds."""

from __future__ import annotations

import pytest

from scorewright.domain.convention import Convention
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.score_range import settle_range, settle_threshold


@pytest.mark.parametrize("convention", list(Convention))
def test_scores_go_from_0_to_1_but_where_the_range_is_up_to_the_code(convention: Convention):
    expected = None if convention is Convention.VARIABLES else (0.0, 1.0)

    assert settle_range(None, convention) == expected


@pytest.mark.parametrize("convention", list(Convention))
def test_a_declared_range_counts_in_every_convention(convention: Convention):
    assert settle_range([0, 100], convention) == (0.0, 100.0)


@pytest.mark.parametrize(
    "declared",
    ["0-1", [0], [0, 1, 2], [1, 0], [1, 1], ["0", "1"], [0, None], [False, True], {"min": 0}, 1],
)
def test_what_is_no_range_is_refused(declared: object):
    with pytest.raises(EvaluatorError, match=r"score_range: .* \[0, 100\]"):
        settle_range(declared, Convention.VARIABLES)


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), 10**400])
def test_a_range_is_finite(bound: float):
    with pytest.raises(EvaluatorError, match="score_range"):
        settle_range([0, bound], Convention.VARIABLES)


@pytest.mark.parametrize(
    ("score_range", "threshold"),
    [((0.0, 1.0), 0.5), ((0.0, 100.0), 50.0), ((-1.0, 1.0), 0.0), (None, None)],
)
def test_the_threshold_is_the_middle_unless_declared(
    score_range: tuple[float, float] | None, threshold: float | None
):
    assert settle_threshold(None, score_range) == threshold


def test_the_middle_of_the_widest_range_is_finite():
    widest = 1.7976931348623157e308

    assert settle_threshold(None, (-widest, widest)) == 0
    assert settle_threshold(None, (widest / 2, widest)) == pytest.approx(0.75 * widest)


@pytest.mark.parametrize("threshold", [0, 1, 0.0, -0.0, 0.25])
def test_a_declared_threshold_counts_its_bounds_and_0_included(threshold: float):
    assert settle_threshold(threshold, (0.0, 1.0)) == threshold


def test_a_threshold_without_a_range_is_any_finite_number():
    assert settle_threshold(70, None) == 70.0


@pytest.mark.parametrize("declared", ["0.5", float("nan"), float("inf"), True, [0.5], 10**400])
def test_a_threshold_that_is_no_finite_number_is_refused(declared: object):
    with pytest.raises(EvaluatorError, match="is no finite number"):
        settle_threshold(declared, None)


@pytest.mark.parametrize("declared", [-0.1, 1.1])
def test_a_threshold_outside_the_range_is_refused(declared: float):
    with pytest.raises(EvaluatorError, match="outside the score range 0 to 1"):
        settle_threshold(declared, (0.0, 1.0))
