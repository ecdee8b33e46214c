"""Metric names: nested objects as dotted names, and back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.metrics import flatten, unflatten

KEYS = st.text(alphabet="ab.\\ é", max_size=4)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=25,
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(KEYS, VALUES, max_size=5)


@given(OBJECTS)
def test_flattening_loses_nothing(value: dict[str, Any]):
    assert unflatten(flatten(value)) == value


@given(OBJECTS)
def test_no_nested_object_is_left_after_flattening(value: dict[str, Any]):
    assert not any(isinstance(inner, dict) and inner for inner in flatten(value).values())


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        ({"a": {"b": {"c": 1}}, "d": 2}, {"a.b.c": 1, "d": 2}),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}),
        ({"a": {}, "b": {"c": {}}}, {"a": {}, "b.c": {}}),
        ({"a.b": 1, "a": {"b": 2}}, {"a\\.b": 1, "a.b": 2}),
        ({"a\\": {"b": 1}, "a\\.b": 2}, {"a\\\\.b": 1, "a\\\\\\.b": 2}),
        ({"": {"": 1}}, {".": 1}),
        ({}, {}),
    ],
)
def test_names_are_dotted_and_literal_dots_escaped(nested: dict[str, Any], flat: dict[str, Any]):
    assert flatten(nested) == flat
    assert unflatten(flat) == nested


def test_names_keep_the_order_of_the_object():
    assert list(flatten({"z": {"y": 1, "b": 2}, "a": 3})) == ["z.y", "z.b", "a"]


def test_flattening_leaves_its_argument_alone():
    nested: dict[str, Any] = {"a": 1}

    flatten(nested)["b"] = 2

    assert nested == {"a": 1}


def test_depth_is_no_limit():
    value: dict[str, Any] = {"k": 1}
    for _ in range(5_000):
        value = {"k": value}

    (name,) = flatten(value)

    assert name == ".".join(["k"] * 5_001)


@pytest.mark.parametrize(
    "flat", [{"a": 1, "a.b": 2}, {"a.b": 2, "a": 1}, {"a": {"x": 1}, "a.b": 2}]
)
def test_names_inside_one_another_are_refused(flat: dict[str, Any]):
    with pytest.raises(ValueError, match="rename one"):
        unflatten(flat)


def test_a_backslash_at_the_end_stands_for_itself():
    assert unflatten({"a\\": 1}) == {"a\\": 1}
