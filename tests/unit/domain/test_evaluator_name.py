"""Which names evaluators may have, and how they are proposed and told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.errors import EvaluatorError
from scorewright.domain.evaluator_name import check_name, slug, unique_names


@pytest.mark.parametrize(
    "name", ["abc", "abc-def", "Abc", "abc_def", "A-1_b", "abc-", "a--b", "x" * 128]
)
def test_a_name_is_letters_first_then_digits_underscores_and_hyphens(name: str):
    check_name(name)


@pytest.mark.parametrize(
    "name", ["", "a", "ab", "1abc", "_xy", "-abc", "naïve", "a b c", "a.b.c", "abc\n", "x" * 129]
)
def test_any_other_name_is_refused(name: str):
    with pytest.raises(EvaluatorError, match="is no evaluator name"):
        check_name(name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("exact_match", "exact-match"),
        ("My Cool  Evaluator!", "my-cool-evaluator"),
        ("Prüfung", "prufung"),
        ("2nd try", "evaluator-2nd-try"),
        ("ab", "ab-evaluator"),
        ("日本", "unnamed-evaluator"),
        ("", "unnamed-evaluator"),
        ("a" * 127 + " b", "a" * 127),
    ],
)
def test_a_proposed_name_is_lower_case_with_hyphens(text: str, name: str):
    assert slug(text) == name


@given(st.text())
def test_every_text_has_a_proposed_name_that_is_allowed_and_stays(text: str):
    name = slug(text)

    check_name(name)
    assert slug(name) == name


def test_equal_names_get_a_number_whatever_their_case():
    assert unique_names(["abc", "abc", "ABC", "xyz"]) == ["abc", "abc-2", "ABC-3", "xyz"]


def test_a_number_never_takes_a_name_that_is_asked_for():
    assert unique_names(["abc", "abc", "abc-2"]) == ["abc", "abc-3", "abc-2"]


@given(st.lists(st.sampled_from(["abc", "ABC", "abc-2", "abc-3", "x" * 128, "x" * 126 + "-2"])))
def test_names_told_apart_are_different_allowed_and_as_many(names: list[str]):
    unique = unique_names(names)

    assert len({name.lower() for name in unique}) == len(names)
    for name in unique:
        check_name(name)
