"""The summary of a run: what counts, over how many, and that nothing moves it but the results."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.aggregate import MAX_FAILURE_GROUPS, MAX_METRICS, Summary
from scorewright.domain.metric_summary import MAX_VALUE_CHARS, MAX_VALUES
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Outcome, Scored, Skipped

UNIT = (0.0, 1.0)


def summarise(*outcomes: Outcome, score_range: tuple[float, float] | None = UNIT) -> Any:
    summary = Summary("e", score_range=score_range)
    summary.add_batch(range(1, len(outcomes) + 1), [ItemOutcome(outcome) for outcome in outcomes])
    return summary.document()


def metric_of(*values: Any) -> Any:
    return summarise(*(Scored(metrics={"m": value}) for value in values))["metrics"]["m"]


def author_error(message: str = "boom", line: int | None = 3) -> Failed:
    return Failed(FailureCode.AUTHOR_ERROR, message, "RuntimeError", line)


def test_nothing_gives_no_means():
    document = summarise()

    for key in (
        "mean_score",
        "mean_normalised",
        "mean_interval",
        "pass_rate",
        "pass_rate_interval",
    ):
        assert document[key] is None
    for key in ("scored", "skipped", "failed", "out_of_range", "mean_n", "pass_rate_n"):
        assert document[key] == 0


def test_items_are_counted_by_what_became_of_them():
    document = summarise(Scored(1.0), Scored(0.5), Skipped("no gold"), author_error())

    assert (document["scored"], document["skipped"], document["failed"]) == (2, 1, 1)
    assert document["evaluator"] == "e"


def test_skipped_and_failed_results_do_not_move_the_mean():
    alone = summarise(Scored(1.0, True), Scored(0.5, True))

    among = summarise(Scored(1.0, True), Skipped("x"), author_error(), Scored(0.5, True))

    for key in ("mean_score", "mean_interval", "mean_n", "pass_rate", "pass_rate_n"):
        assert among[key] == alone[key]


@pytest.mark.parametrize("outcome", [Skipped("x"), author_error()])
def test_all_skipped_or_failed_means_no_mean(outcome: Outcome):
    document = summarise(outcome, outcome)

    assert document["mean_score"] is None
    assert document["pass_rate"] is None
    assert document["histogram"] is None


def test_a_score_out_of_range_is_counted_beside_the_mean():
    document = summarise(Scored(0.5), Scored(7.0, out_of_range=True), Scored(1.0))

    assert (document["scored"], document["out_of_range"]) == (3, 1)
    assert (document["mean_score"], document["mean_n"]) == (0.75, 2)
    assert (document["min_score"], document["max_score"]) == (0.5, 1.0)


def test_an_evaluator_of_bools_has_a_pass_rate_and_no_mean():
    document = summarise(Scored(None, True), Scored(None, True), Scored(None, False))

    assert document["mean_score"] is None
    assert document["pass_rate"] == pytest.approx(2 / 3)
    assert document["pass_rate_n"] == 3
    assert document["pass_rate_interval"] == pytest.approx([0.2076596, 0.9385081])


def test_each_rate_has_its_own_number_of_items():
    document = summarise(
        Scored(1.0, True), Scored(0.0), Scored(metrics={"m": 1}), Scored(None, False)
    )

    assert document["scored"] == 4
    assert document["mean_n"] == 2
    assert document["pass_rate_n"] == 2


def test_a_mean_is_normalised_over_the_declared_range():
    document = summarise(Scored(-50.0), Scored(100.0), score_range=(-100.0, 100.0))

    assert document["mean_score"] == 25.0
    assert document["mean_normalised"] == 0.625
    assert document["score_range"] == [-100.0, 100.0]


def test_without_a_range_there_is_no_normalised_mean():
    document = summarise(Scored(25.0), Scored(75.0), score_range=None)

    assert document["mean_score"] == 50.0
    assert document["mean_normalised"] is None
    assert document["score_range"] is None
    assert (document["min_score"], document["max_score"]) == (25.0, 75.0)


def test_the_interval_of_a_mean_keeps_to_the_declared_range():
    inside = summarise(Scored(1.0), Scored(0.9), Scored(1.0))["mean_interval"]
    free = summarise(Scored(1.0), Scored(0.9), Scored(1.0), score_range=None)["mean_interval"]

    assert free == pytest.approx([0.8232449, 1.1100884])
    assert inside == [free[0], 1.0]


def test_one_score_has_no_interval():
    assert summarise(Scored(1.0))["mean_interval"] is None


@pytest.mark.parametrize("count", [2, 3, 300])
def test_equal_scores_have_no_interval(count: int):
    document = summarise(*[Scored(0.1)] * count)

    assert (document["mean_score"], document["mean_interval"]) == (0.1, None)


def test_scores_at_the_end_of_the_floats_give_a_mean_and_no_nonsense():
    document = summarise(Scored(1.7e308), Scored(1.7e308), Scored(-1.7e308), score_range=None)

    assert document["mean_score"] == pytest.approx(1.7e308 / 3)
    assert document["mean_interval"] is None


def test_the_histogram_is_over_the_declared_range_or_else_the_observed_one():
    scores = [Scored(0.0), Scored(0.95), Scored(1.0), Scored(4.0, out_of_range=True)]

    assert summarise(*scores)["histogram"]["counts"] == [1, 0, 0, 0, 0, 0, 0, 0, 0, 2]
    assert summarise(*scores[:3], score_range=None)["histogram"]["edges"][-1] > 1.0


def test_failures_are_grouped_by_code_message_and_line():
    document = summarise(
        author_error(),
        author_error(line=4),
        Scored(1.0),
        author_error(),
        Failed(FailureCode.TIMEOUT, "boom", None, 3),
    )

    assert document["failures"] == [
        {
            "code": "author_error",
            "type": "RuntimeError",
            "message": "boom",
            "line": 3,
            "count": 2,
            "first_item": 1,
        },
        {
            "code": "author_error",
            "type": "RuntimeError",
            "message": "boom",
            "line": 4,
            "count": 1,
            "first_item": 2,
        },
        {
            "code": "timeout",
            "type": None,
            "message": "boom",
            "line": 3,
            "count": 1,
            "first_item": 5,
        },
    ]


def test_failures_of_many_kinds_share_one_group_and_none_is_lost():
    document = summarise(*(author_error(f"row {n}") for n in range(MAX_FAILURE_GROUPS + 30)))

    assert len(document["failures"]) == MAX_FAILURE_GROUPS + 1
    assert document["failures"][0] == {
        "code": "other",
        "type": None,
        "message": "other failures",
        "line": None,
        "count": 30,
        "first_item": MAX_FAILURE_GROUPS + 1,
    }


def test_the_slowest_items_are_named_longest_first():
    summary = Summary("e")
    durations_us = [50, 900, 0, 900, 20, 70, 60, 10]

    summary.add_batch(range(11, 19), [ItemOutcome(Scored(1.0), "", us) for us in durations_us])

    assert summary.document()["slowest"] == [
        {"item": 12, "duration_ms": 0.9},
        {"item": 14, "duration_ms": 0.9},
        {"item": 16, "duration_ms": 0.07},
        {"item": 17, "duration_ms": 0.06},
        {"item": 11, "duration_ms": 0.05},
    ]


def test_failed_items_can_be_asked_for_while_the_run_goes_on():
    summary = Summary("e")

    summary.add_batch([1, 2], [ItemOutcome(author_error()), ItemOutcome(Scored(1.0))])

    assert summary.failed == 1


# Metrics -----------------------------------------------------------------------------------------


def test_numbers_have_a_mean_and_extremes():
    assert metric_of(1, 2.5, None) == {
        "type": "number",
        "count": 2,
        "nulls": 1,
        "n": 2,
        "mean": 1.75,
        "min": 1,
        "max": 2.5,
    }


def test_booleans_have_a_share_and_no_mean():
    assert metric_of(True, False, True, True) == {
        "type": "boolean",
        "count": 4,
        "nulls": 0,
        "n": 4,
        "share_true": 0.75,
    }


def test_texts_are_counted_per_value_and_have_no_mean():
    metric = metric_of("lower", "mixed", "lower", "")

    assert metric == {
        "type": "string",
        "count": 4,
        "nulls": 0,
        "n": 4,
        "values": {"lower": 2, "": 1, "mixed": 1},
        "other_values": 0,
    }
    assert list(metric["values"]) == ["lower", "", "mixed"]


def test_lists_and_objects_are_json():
    assert metric_of([1], {}) == {"type": "json", "count": 2, "nulls": 0, "n": 2}


def test_a_metric_that_was_always_null_is_json_and_counts_nothing():
    assert metric_of(None, None) == {"type": "json", "count": 0, "nulls": 2, "n": 0}


def test_a_metric_that_changes_type_is_mixed_and_nothing_is_dropped():
    assert metric_of(*[1.0] * 1_000, "n/a", True) == {
        "type": "mixed",
        "count": 1_002,
        "nulls": 0,
        "types": {
            "number": {"n": 1_000, "mean": 1.0, "min": 1.0, "max": 1.0},
            "boolean": {"n": 1, "share_true": 1.0},
            "string": {"n": 1, "values": {"n/a": 1}, "other_values": 0},
        },
    }


def test_metrics_stand_in_the_order_the_author_wrote_them():
    document = summarise(Scored(metrics={"z": 1, "a": 2}), Scored(metrics={"m": 1}))

    assert list(document["metrics"]) == ["z", "a", "m"]


def test_free_text_is_counted_in_bounded_memory():
    metric = metric_of(*(f"text {n:04}" for n in range(MAX_VALUES + 50)), "x" * 10_000)

    assert metric["count"] == metric["n"] == MAX_VALUES + 51
    assert len(metric["values"]) == 20
    assert sum(metric["values"].values()) + metric["other_values"] == metric["n"]


def test_a_long_text_is_cut_where_it_is_counted():
    metric = metric_of("x" * 10_000, "x" * 20_000)

    assert metric["values"] == {"x" * MAX_VALUE_CHARS + "…": 2}


def test_metrics_beyond_the_bound_are_counted_and_not_kept():
    results = [Scored(metrics={f"m{n}": 1, "always": 2}) for n in range(MAX_METRICS + 10)]

    document = summarise(*results)

    assert len(document["metrics"]) == MAX_METRICS
    assert document["metrics"]["always"]["count"] == MAX_METRICS + 10
    assert document["other_metric_values"] == 11


def test_a_metric_goes_on_in_the_next_batch():
    summary = Summary("e")

    summary.add_batch([1], [ItemOutcome(Scored(metrics={"m": 1}))])
    summary.add_batch([2], [ItemOutcome(Scored(metrics={"m": 2}))])

    assert summary.document() == summarise(
        Scored(metrics={"m": 1}), Scored(metrics={"m": 2}), score_range=None
    )


# Laws --------------------------------------------------------------------------------------------

SCORES = st.none() | st.floats(-1, 2) | st.floats(allow_nan=False, allow_infinity=False)
METRICS = st.dictionaries(
    st.sampled_from("abc"),
    st.none() | st.booleans() | st.floats(-5, 5) | st.integers(-3, 3) | st.sampled_from(["x", "y"]),
    max_size=3,
)
OUTCOMES = (
    st.builds(
        Scored, SCORES, st.none() | st.booleans(), METRICS, st.none(), st.booleans()
    )
    | st.builds(Skipped, st.just("why"))
    | st.builds(author_error, st.sampled_from(["a", "b"]), st.none() | st.integers(1, 3))
)  # fmt: skip
ITEMS = st.lists(st.builds(ItemOutcome, OUTCOMES, st.just(""), st.integers(0, 50)), max_size=30)


def in_batches(items: list[ItemOutcome], cuts: list[int]) -> Any:
    summary = Summary("e")
    edges = sorted({0, len(items), *(cut % (len(items) + 1) for cut in cuts)})
    for start, end in pairwise(edges):
        summary.add_batch(range(start + 1, end + 1), items[start:end])
    return summary.document()


@given(ITEMS, st.lists(st.integers(0, 30), max_size=5))
def test_how_items_are_cut_into_batches_changes_nothing(items: list[ItemOutcome], cuts: list[int]):
    assert in_batches(items, cuts) == in_batches(items, [])


@given(st.lists(OUTCOMES, max_size=30).flatmap(lambda o: st.tuples(st.just(o), st.permutations(o))))
def test_the_order_of_items_changes_no_number(orders: tuple[list[Outcome], list[Outcome]]):
    one, other = (summarise(*outcomes, score_range=None) for outcomes in orders)

    for failure in one["failures"] + other["failures"]:
        del failure["first_item"]
    assert one == other


@given(ITEMS)
def test_every_item_is_counted_once_and_the_document_is_json(items: list[ItemOutcome]):
    document = in_batches(items, [])

    assert document["scored"] + document["skipped"] + document["failed"] == len(items)
    assert sum(failure["count"] for failure in document["failures"]) == document["failed"]
    assert json.loads(json.dumps(document, allow_nan=False)) == document
