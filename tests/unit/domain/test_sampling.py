"""Samples: the rate that was asked for, and the same items every time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.sampling import make_sampler

KEYS = [str(number) for number in range(1, 100_001)]
rates = st.floats(0, 1) | st.sampled_from([0.0, 0.0001, 0.01, 0.5, 1.0])


def sample(rate: float, salt: str = "salt") -> set[str]:
    return set(filter(make_sampler(rate, salt=salt), KEYS))


@pytest.mark.parametrize("rate", [0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.9999])
@pytest.mark.parametrize("salt", ["scorewright", "another"])
def test_as_many_items_are_taken_as_the_rate_says(rate: float, salt: str):
    expected, deviation = rate * len(KEYS), math.sqrt(rate * (1 - rate) * len(KEYS))

    # Chance leaves four and a half standard deviations once in 100,000 times; the keys and salts are fixed.
    assert abs(len(sample(rate, salt)) - expected) <= 4.5 * deviation


def test_a_rate_of_0_takes_none_and_of_1_all():
    assert sample(0) == set()
    assert sample(1) == set(KEYS)


@given(st.text(max_size=10), rates, rates)
def test_what_is_taken_at_a_rate_is_taken_at_every_higher_one(
    key: str, first: float, second: float
):
    low, high = sorted([first, second])

    assert make_sampler(low)(key) <= make_sampler(high)(key)


@given(st.lists(st.text(max_size=5), max_size=20), rates)
def test_neither_order_nor_company_changes_what_is_taken(keys: list[str], rate: float):
    is_taken = make_sampler(rate)

    alone = {key: make_sampler(rate)(key) for key in keys}

    assert {key: is_taken(key) for key in reversed(keys)} == alone


def test_the_same_items_are_taken_by_every_version():
    is_taken = make_sampler(0.01)

    assert [key for key in KEYS[:600] if is_taken(key)] == ["92", "133", "331", "492", "571"]


def test_samples_of_two_salts_are_independent():
    both = len(sample(0.5, "one") & sample(0.5, "two"))

    assert abs(both - 25_000) <= 4.5 * math.sqrt(100_000 * 0.25 * 0.75)


def test_salt_and_key_cannot_run_into_each_other():
    first, second = (make_sampler(0.5, salt=salt) for salt in ("a", "ab"))

    assert [first(f"b{key}") for key in KEYS[:64]] != [second(key) for key in KEYS[:64]]
