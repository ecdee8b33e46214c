"""Histograms in bounded memory."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.histogram import MAX_OBSERVED_BINS, ObservedHistogram, RangeHistogram

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCORES = st.lists(
    FINITE | st.floats(0, 100) | st.integers(-5, 5).map(float), min_size=1, max_size=40
)


def observed(*batches: list[float]) -> Any:
    histogram = ObservedHistogram()
    for batch in batches:
        histogram.add(Counter(batch))
    return histogram.document()


def in_range(low: float, high: float, scores: list[float]) -> Any:
    histogram = RangeHistogram(low, high)
    histogram.add(Counter(scores))
    return histogram.document()


def counted_between(edges: list[float], scores: list[float]) -> list[int]:
    """Count scores as a reader of the edges would: each bin with its lower edge, the last with both."""
    counts = [sum(low <= score < high for score in scores) for low, high in pairwise(edges)]
    counts[-1] += scores.count(edges[-1])
    return counts


def test_nothing_gives_no_histogram():
    assert observed([]) is None
    assert in_range(0, 1, []) is None


def test_a_declared_range_has_ten_equal_bins():
    document = in_range(0, 1, [0.0, 0.05, 0.1, 0.35, 0.7, 0.95, 1.0])

    assert document["edges"] == pytest.approx([n / 10 for n in range(11)])
    assert document["counts"] == [2, 1, 0, 1, 0, 0, 0, 1, 0, 2]


@pytest.mark.parametrize(("low", "high", "score"), [(-1, 1, -0.8), (1, 10, 1.9), (0, 1, 0.3)])
def test_a_score_on_an_edge_counts_above_it(low: float, high: float, score: float):
    document = in_range(low, high, [score])

    number = document["counts"].index(1)
    assert document["edges"][number] == score


def test_a_range_as_wide_as_the_floats_has_bins_too():
    limit = sys.float_info.max

    document = in_range(-limit, limit, [-limit, 0.0, limit])

    assert document["counts"] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert all(abs(edge) <= limit for edge in document["edges"])


def test_scores_that_are_all_the_same_make_one_bin():
    assert observed([0.3, 0.3], [0.3]) == {"edges": [0.3, 0.3], "counts": [3]}


def test_percentages_get_bins_of_eight():
    document = observed([0.0, 7.9, 8.0, 99.0])

    assert document["edges"] == [float(n) for n in range(0, 105, 8)]
    assert document["counts"] == [2, 1, *[0] * 10, 1]


@given(SCORES)
def test_no_score_is_lost_and_bins_are_few(scores: list[float]):
    document = observed(scores)

    assert sum(document["counts"]) == len(scores)
    assert len(document["counts"]) == len(document["edges"]) - 1 <= MAX_OBSERVED_BINS
    assert document["edges"][0] <= min(scores)
    assert document["edges"][-1] >= max(scores)
    assert document["edges"] == sorted(document["edges"])


@given(SCORES)
def test_every_score_lies_in_the_bin_that_counts_it(scores: list[float]):
    document = observed(scores)

    assert document["counts"] == counted_between(document["edges"], scores)


@given(st.tuples(FINITE, FINITE).filter(lambda ends: ends[0] < ends[1]), st.data())
def test_every_score_lies_in_the_bin_of_the_range_that_counts_it(
    ends: tuple[float, float], data: st.DataObject
):
    low, high = ends
    edges = in_range(low, high, [low])["edges"]

    within = st.floats(low, high) | st.sampled_from(edges)
    scores = data.draw(st.lists(within, min_size=1, max_size=20))

    assert edges[0] == low
    assert edges[-1] == high
    assert edges == sorted(edges)
    assert in_range(low, high, scores)["counts"] == counted_between(edges, scores)


@given(SCORES, SCORES)
def test_neither_order_nor_batches_change_it(first: list[float], second: list[float]):
    assert observed(first + second) == observed(second[::-1], [], first)


def test_scores_at_both_ends_of_the_floats_are_no_crash():
    limit = sys.float_info.max

    document = observed([5e-324, 0.0], [1e-300], [-limit, limit])

    assert sum(document["counts"]) == 5
    assert all(abs(edge) <= limit for edge in document["edges"])
