"""Sums without rounding."""

from __future__ import annotations

import statistics
import sys
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.exact_sum import ExactSum

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def total_of(*batches: list[float]) -> ExactSum:
    total = ExactSum()
    for batch in batches:
        total.add(Counter(batch))
    return total


def test_nothing_has_neither_mean_nor_spread():
    total = total_of([])

    assert (total.count, total.mean(), total.min, total.max) == (0, None, None, None)
    assert total.standard_error() is None


def test_one_number_has_no_spread():
    assert total_of([0.5]).standard_error() is None


@given(st.lists(FINITE, min_size=1))
def test_the_mean_is_the_nearest_float_to_the_exact_one(numbers: list[float]):
    assert total_of(numbers).mean() == float(sum(map(Fraction, numbers)) / len(numbers))


@given(st.lists(st.floats(-1e150, 1e150), min_size=2))
def test_the_standard_error_agrees_with_the_standard_library(numbers: list[float]):
    expected = statistics.stdev(map(Fraction, numbers)) / len(numbers) ** 0.5

    assert total_of(numbers).standard_error() == pytest.approx(float(expected), rel=1e-13)


def test_the_spread_of_large_numbers_close_together_is_not_lost():
    assert total_of([1e15, 1e15 + 1, 1e15 + 2]).standard_error() == pytest.approx(
        3**-0.5, rel=1e-14
    )


@given(st.lists(FINITE, max_size=20), st.lists(FINITE, max_size=20))
def test_neither_order_nor_batches_move_it(first: list[float], second: list[float]):
    one = total_of(first + second)
    other = total_of(second[::-1], [], first)

    assert one.mean() == other.mean()
    assert one.standard_error() == other.standard_error()
    assert (one.count, one.min, one.max) == (other.count, other.min, other.max)


def test_numbers_at_the_end_of_the_floats_have_a_mean():
    total = total_of([1.7e308, 1.7e308, 5e-324])

    assert total.mean() == pytest.approx(1.7e308 / 3 * 2)


def test_the_widest_spread_there_is_has_an_error():
    limit = sys.float_info.max

    assert total_of([-limit, limit]).standard_error() == limit


def test_a_tiny_spread_is_not_rounded_away():
    assert total_of([0.0, 1e-320]).standard_error() == pytest.approx(5e-321)


def test_whole_numbers_keep_their_type():
    total = ExactSum()
    total.add(Counter([3, 5, 2**62]))

    assert type(total.max) is int
    assert total.mean() == (8 + 2**62) / 3
