"""From an item's bytes to the arguments of a call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.binding import Argument, compile_binder
from scorewright.domain.item_fields import FieldAbsentError

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


def column(name: str, key: str, *, keyword: bool = False, required: bool = True) -> Argument:
    return Argument(name=name, how="field", paths=((key,),), keyword=keyword, required=required)


@given(st.lists(NAMES, min_size=1, max_size=5), st.data())
def test_columns_of_any_name_are_bound_as_they_are(keys: list[str], data: st.DataObject):
    row = {key: data.draw(st.integers() | st.text(st.characters(codec="utf-8"))) for key in keys}
    plan = tuple(column(f"x{at}", key, keyword=False) for at, key in enumerate(keys))

    arguments, named = compile_binder(plan)(json.dumps(row).encode())

    assert list(arguments) == [row[key] for key in keys]
    assert named == {}


@given(NAMES)
def test_an_absent_column_of_any_name_is_named(key: str):
    bind = compile_binder((column("x", key),))

    with pytest.raises(FieldAbsentError, match='variable "x"'):
        bind(b"{}")


@pytest.mark.parametrize(
    "key", ['the "gold"', "two\nlines", "back\\slash", "tab\t", "naïve", "a b"]
)
def test_columns_that_json_has_to_escape_are_bound(key: str):
    raw = json.dumps({key: 7}).encode()

    assert compile_binder((column("x", key),))(raw) == ((7,), {})


def test_an_optional_field_that_is_absent_or_null_is_left_to_the_code():
    bind = compile_binder((column("x", "x", keyword=True, required=False),))

    assert bind(b"{}") == ((), {})
    assert bind(b'{"x":null}') == ((), {})
    assert bind(b'{"x":0}') == ((), {"x": 0})


def test_a_path_into_text_says_so():
    bind = compile_binder((Argument(name="x", how="field", paths=(("output", "price"),)),))

    with pytest.raises(FieldAbsentError, match='"output" is text here'):
        bind(b'{"output":"{}"}')


def test_a_constant_is_new_for_every_item():
    bind = compile_binder((Argument(name="x", how="constant", value=[1]),))

    first = bind(b"{}")[1]["x"]
    first.append(2)

    assert bind(b"{}")[1]["x"] == [1]
