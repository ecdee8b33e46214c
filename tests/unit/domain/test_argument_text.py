"""Equal bytes for an item's arguments mean equal arguments: what the result cache rests on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.argument_text import make_argument_text
from scorewright.domain.binding import Argument, How, Path, compile_binder

NAMES = ["a", "b", "é", 'with "quotes"', "a\\b"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner),
    max_leaves=4,
)
ITEMS = st.dictionaries(st.sampled_from(NAMES), VALUES)


def field(*paths: Path, required: bool = False) -> Argument:
    return Argument(name="x", how="field", paths=paths, required=required)


PLANS = st.sampled_from(
    [
        (field(("a",)),),
        (field(("a",), ("b",)),),
        (field(("a", "x")), field(("é",))),
        (field(('with "quotes"',)),),
        (field(("a\\b",)), field(("b",))),
        (Argument(name="x", how="constant", value=3), field(("b",))),
        (Argument(name="x", how="inputs", keyword=False),),
        (Argument(name="x", how="trace", keyword=False),),
        (Argument(name="x", how="testcase", keyword=False), field(("a",))),
        (Argument(name="x", how="application_input", paths=(("a",),), keyword=False),),
    ]
)


def encode(item: dict[str, Any]) -> bytes:
    return json.dumps(item, ensure_ascii=False).encode()


@given(plan=PLANS, first=ITEMS, second=ITEMS)
def test_items_with_equal_bytes_have_equal_arguments(
    plan: tuple[Argument, ...], first: dict[str, Any], second: dict[str, Any]
):
    read, bind = make_argument_text(plan), compile_binder(plan)

    if read(encode(first)) == read(encode(second)):
        assert repr(bind(encode(first))) == repr(bind(encode(second)))


@pytest.mark.parametrize("name", NAMES[:3])
def test_a_column_that_no_argument_comes_from_makes_no_difference(name: str):
    read = make_argument_text((field((name,)),))

    assert read(encode({name: [1], "other": 1})) == read(encode({"other": 2, name: [1]}))
    assert read(encode({name: [1]})) != read(encode({name: [2]}))
    assert read(encode({name: None})) != read(encode({}))


@pytest.mark.parametrize("how", ["trace_item", "agent_item", "llm_item", "trace_dict"])
def test_an_object_may_look_at_anything_in_its_item(how: How):
    read = make_argument_text((Argument(name="x", how=how, keyword=False), field(("a",))))

    assert read(encode({"a": 1, "spans": [1]})) != read(encode({"a": 1, "spans": [2]}))
