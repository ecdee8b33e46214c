"""EvalResult: what an author may say, and what is refused at once."""

from __future__ import annotations

from typing import Any

import pytest

from scorewright.authoring import EvalResult
from scorewright.authoring.eval_result import read_fields

NAN, INFINITY = float("nan"), float("inf")


def test_it_keeps_score_explanation_and_verdict():
    result = EvalResult(score=0.85, explanation="close", passed=False)

    assert (result.score, result.explanation, result.passed) == (0.85, "close", False)
    assert not result.is_skipped
    assert result.skip_reason is None


@pytest.mark.parametrize(("score", "passed"), [(0.5, True), (0.49, False), (1, True), (0, False)])
def test_without_a_verdict_half_the_unit_range_passes(score: float, passed: bool):  # noqa: FBT001
    assert EvalResult(score).passed is passed


def test_a_stated_verdict_wins_over_the_score():
    assert EvalResult(0.0, passed=True).passed is True


def test_the_stated_verdict_stays_apart_from_the_default_one():
    unstated, stated = EvalResult(0.9), EvalResult(0.9, passed=True)

    assert read_fields(unstated)[1] is None
    assert read_fields(stated)[1] is True


@pytest.mark.parametrize(("given", "score"), [(True, 1.0), (False, 0.0)])
def test_a_bool_counts_as_a_number(given: bool, score: float):  # noqa: FBT001
    result = EvalResult(given)

    assert result.score == score
    assert type(result.score) is float


@pytest.mark.parametrize("score", [-3, 1.5, 10**400])
def test_the_range_is_not_checked_here(score: float):
    assert EvalResult(score).score == score


@pytest.mark.parametrize("score", ["0.8", None, [1], {"value": 1}])
def test_a_score_that_is_no_number_is_refused_with_its_value(score: Any):
    with pytest.raises(
        TypeError, match=r"score is .*, not a number; pass a float or an int"
    ) as caught:
        EvalResult(score)

    assert repr(score) in str(caught.value)


@pytest.mark.parametrize("score", [NAN, INFINITY, -INFINITY])
def test_a_score_that_is_not_finite_is_refused(score: float):
    with pytest.raises(ValueError, match=r"score is .*; pass a finite number"):
        EvalResult(score)


def test_an_explanation_must_be_text():
    explanation: Any = ["a", "b"]

    with pytest.raises(TypeError, match="explanation is"):
        EvalResult(1.0, explanation)


def test_a_verdict_must_be_a_bool():
    passed: Any = "yes"

    with pytest.raises(TypeError, match="passed is"):
        EvalResult(1.0, passed=passed)


def test_a_skip_carries_its_reason_and_no_explanation():
    result = EvalResult.skip("no output")

    assert result.is_skipped
    assert result.skip_reason == "no output"
    assert result.explanation is None


@pytest.mark.parametrize("name", ["score", "passed"])
def test_a_skip_has_neither_score_nor_verdict(name: str):
    result = EvalResult.skip("no output")

    with pytest.raises(AttributeError, match=r"skipped \('no output'\).*ask is_skipped first"):
        getattr(result, name)
    assert not hasattr(result, name)


def test_a_skip_must_say_why():
    reason: Any = None

    with pytest.raises(TypeError, match="reason is None"):
        EvalResult.skip(reason)
    with pytest.raises(ValueError, match="reason is empty"):
        EvalResult.skip("")


def test_results_compare_by_what_they_say():
    assert EvalResult(1.0, "why") == EvalResult(1, "why")
    assert EvalResult(1.0) != EvalResult(1.0, passed=True)
    assert EvalResult.skip("a") != EvalResult.skip("b")
    assert EvalResult(1.0) != 1.0


def test_its_repr_is_what_one_would_write():
    assert repr(EvalResult(0.5, "ok")) == "EvalResult(score=0.5, explanation='ok', passed=True)"
    assert repr(EvalResult.skip("none")) == "EvalResult.skip('none')"


def test_fields_are_read_past_what_a_subclass_overrides():
    class Boasting(EvalResult):
        @property
        def score(self) -> float:
            return 1.0

    assert read_fields(Boasting(0.1, "really")) == (0.1, None, "really", None)


def test_fields_that_were_never_set_read_as_none():
    assert read_fields(object.__new__(EvalResult)) == (None, None, None, None)
