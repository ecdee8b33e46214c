"""Intervals, with scipy as the oracle."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scorewright.domain.interval import mean_interval, t_quantile, wilson_interval

oracle: Any = stats

SIZES = [*range(2, 450), 500, 999, 1_000, 2_500, 9_999, 10_000, 1_000_000]


@pytest.mark.parametrize("count", SIZES)
def test_the_t_quantile_agrees_with_scipy(count: int):
    expected = float(oracle.t.ppf(0.975, count - 1))

    assert t_quantile(count - 1) == pytest.approx(expected, rel=1e-12)


def test_the_t_quantile_tends_to_the_normal_one():
    assert t_quantile(10**9) == pytest.approx(NormalDist().inv_cdf(0.975), rel=1e-8)


@pytest.mark.parametrize(
    "sample", [[0.0, 1.0], [0.2, 0.4, 0.9], [1.0, 2.0, 3.0, 4.0, 1e3], [5e8, 5e8 + 1] * 50]
)
def test_the_interval_of_a_mean_agrees_with_scipy(sample: list[float]):
    mean, error = sum(sample) / len(sample), float(oracle.sem(sample))

    interval = mean_interval(mean, error, len(sample))

    expected = oracle.t.interval(0.95, len(sample) - 1, loc=mean, scale=error)
    assert interval == pytest.approx(tuple(map(float, expected)), rel=1e-9)


def test_one_number_has_no_interval():
    assert mean_interval(0.5, 0.0, 1) is None
    assert mean_interval(0.0, 0.0, 0) is None


def test_bounds_beyond_the_floats_are_no_interval():
    assert mean_interval(1e308, 1e308, 2) is None
    assert mean_interval(0.0, math.inf, 9) is None


def test_numbers_that_all_agree_have_an_interval_of_no_width():
    assert mean_interval(0.5, 0.0, 10) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("successes", "count"),
    [(0, 1), (1, 1), (1, 2), (0, 10), (3, 10), (10, 10), (50, 100), (9_999, 10_000), (1, 10**7)],
)
def test_the_interval_of_a_share_agrees_with_scipy(successes: int, count: int):
    expected = oracle.binomtest(successes, count).proportion_ci(method="wilson")

    interval = wilson_interval(successes, count)

    assert interval == pytest.approx((float(expected.low), float(expected.high)), rel=1e-9)


def test_no_items_have_no_interval():
    assert wilson_interval(0, 0) is None


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_of_a_share_holds_it_and_stays_a_share(sample: tuple[int, int]):
    successes, count = sample

    interval = wilson_interval(successes, count)

    assert interval is not None
    assert 0 <= interval[0] <= successes / count <= interval[1] <= 1


@pytest.mark.parametrize("count", [1, 10, 1_000])
def test_where_all_agree_the_interval_still_has_a_width(count: int):
    assert wilson_interval(count, count) == (
        pytest.approx(1 - 3.8414588 / (count + 3.8414588)),
        1.0,
    )
    assert wilson_interval(0, count) == (0.0, pytest.approx(3.8414588 / (count + 3.8414588)))
