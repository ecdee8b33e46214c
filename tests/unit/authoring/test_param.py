"""Param: a config param with constraints."""

from __future__ import annotations

import pytest

from scorewright.authoring import UNSET, Param


def test_without_a_default_it_is_required():
    param = Param(description="Fewest words")

    assert param.required
    assert param.default is UNSET


def test_with_a_default_it_is_optional():
    param = Param(5, min=1, max=9)

    assert not param.required
    assert (param.default, param.min, param.max) == (5, 1, 9)


def test_none_is_a_default_like_any_other():
    assert not Param(None).required


def test_what_the_author_states_about_required_wins():
    assert Param(5, required=True).required
    assert not Param(required=False).required


def test_the_allowed_values_become_a_list():
    assert Param("a", enum=("a", "b")).enum == ["a", "b"]


def test_a_range_upside_down_is_refused():
    with pytest.raises(ValueError, match="min 9 is above max 1"):
        Param(5, min=9, max=1)


def test_an_empty_choice_is_refused():
    with pytest.raises(ValueError, match="enum is empty"):
        Param(enum=[])


def test_unset_is_falsy_and_shows_its_name():
    assert not UNSET
    assert repr(UNSET) == "UNSET"
