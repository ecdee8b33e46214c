"""What a filter expression means: by table, in the order of docs/reference/filter.md."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.filter import compile_filter, parse_filter, print_filter
from scorewright.domain.filter.pattern import compile_pattern
from scorewright.domain.json_value import JsonObject

ABSENT = object()
VALUES: dict[str, Any] = {
    "absent": ABSENT,
    "null": None,
    "true": True,
    "false": False,
    "0": 0,
    "1": 1,
    "1.0": 1.0,
    "2": 2,
    '"1"': "1",
    '" 1e0 "': " 1e0 ",
    '"01"': "01",
    '"true"': "true",
    '" False"': " False",
    '""': "",
    '"a"': "a",
    '"b"': "b",
    "[]": [],
    "[1]": [1],
    '["a"]': ["a"],
    "{}": {},
}


def row_of(value: Any) -> JsonObject:
    return {} if value is ABSENT else {"x": value}


def matched(expression: str) -> set[str]:
    matches = compile_filter(parse_filter(expression))
    return {name for name, value in VALUES.items() if matches(row_of(value))}


EVERY = set(VALUES)


@pytest.mark.parametrize(
    ("expression", "matching"),
    [
        ("x = null", {"absent", "null"}),
        ("x != null", EVERY - {"absent", "null"}),
        ("x exists", EVERY - {"absent"}),
        ("x = true", {"true", '"true"'}),
        ("x = false", {"false", '" False"'}),
        ("x != true", EVERY - {"true", '"true"'}),
        ("x = 1", {"1", "1.0", '"1"', '" 1e0 "'}),
        ("x != 1", EVERY - {"1", "1.0", '"1"', '" 1e0 "'}),
        ("x < 2", {"0", "1", "1.0", '"1"', '" 1e0 "'}),
        ("x <= 0", {"0"}),
        ("x > 1", {"2"}),
        ("x >= 1", {"1", "1.0", "2", '"1"', '" 1e0 "'}),
        ('x = "1"', {'"1"'}),
        ('x = ""', {'""'}),
        ('x > "Z"', {'"true"', '"a"', '"b"'}),
        ('x in (1, "b", null)', {"absent", "null", "1", "1.0", '"1"', '" 1e0 "', '"b"'}),
        ('x contains ""', {name for name in EVERY if name.startswith('"')}),
        ('x contains "a"', {'" False"', '"a"', '["a"]'}),
        ("x contains 1", {"[1]"}),
        ("x contains true", set[str]()),
        ('x matches "*"', {name for name in EVERY if name.startswith('"')}),
        ('x matches "?"', {'"1"', '"a"', '"b"'}),
        ("not x = 1", EVERY - {"1", "1.0", '"1"', '" 1e0 "'}),
        ("x exists and not x >= 1", EVERY - {"absent", "1", "1.0", "2", '"1"', '" 1e0 "'}),
        ("x = 1 or x = null", {"absent", "null", "1", "1.0", '"1"', '" 1e0 "'}),
    ],
)
def test_a_condition_matches_these_values_and_no_other(expression: str, matching: set[str]):
    assert matched(expression) == matching


@pytest.mark.parametrize(
    ("expression", "value", "holds"),
    [
        # A duration counts in the unit that the field's name ends in.
        ("x_ms > 2s", 2000, False),
        ("x_ms > 2s", 2000.5, True),
        ("x_ms > 2s", "2001", True),
        ("x_s = 1500us", 0.0015, True),
        ("x_min >= 90s", 1.5, True),
        ("x_h < 1m", 0.01, True),
        ("x_ns = 1s", 10**9, True),
        ("x_us = 1ms", True, False),
        ("x_s in (1m, 2m)", 120, True),
        # A time is compared with ISO 8601 texts; a date is its midnight, and no zone is UTC.
        ("x >= 2026-01-31", "2026-01-31", True),
        ("x > 2026-01-31", "2026-01-31T00:00:00.000000001Z", True),
        ("x = 2026-01-31T10:00:00Z", "2026-01-31 12:00+02:00", True),
        ("x = 2026-01-31T10:00:00.5Z", "2026-01-31T10:00:00.500000000000", True),
        ("x < 2026-01-31", "0001-01-01T00:00:00+23:59", True),
        ("x < 2026-01-31", "2026-02-30", False),
        ("x > 2026-01-31", "2027", False),
        ("x > 2026-01-31", "2027-01-01T24:00", False),
        ("x > 2026-01-31", "2027-01-01T10:60:00Z", False),
        ("x > 2026-01-31", "2027-01-01T10:00.5Z", False),
        ("x > 2026-01-31", "2027-01-01T10:00+25:00", False),
        ("x = 2026-01-31T10:05:07.25Z", "2026-01-31T04:35:07.250-0530", True),
        ("x < 2026-01-31", 0, False),
        ("x contains 2026-01-31", ["2026-01-31T00:00:00Z"], True),
        # Numbers are exact, whatever their size.
        ("x > 9007199254740992", 2**53 + 1, True),
        ("x = 9007199254740993", float(2**53), False),
        ("x > 1e300", 10**301, True),
        ("x > 1e300", "1" + "0" * 500, False),
        ("x = 0.1", "0.1", True),
        ("x > 1", "1_000", False),
        ("x > 1", "١٢", False),  # other digits are text
        ("x > 1", "Infinity", False),
        ("x > 1", "1e999", False),
        # Texts are compared character by character, by number of the character.
        ('x < "é"', "z", True),
        ('x = "a"', "A", False),
        ('x >= "a"', "a\0", True),
        ('x contains "\\u00e9"', "café", True),
    ],
)
def test_a_value_beside_a_constant(expression: str, value: Any, holds: bool):  # noqa: FBT001 - a table
    name = expression.split(maxsplit=1)[0]

    assert compile_filter(parse_filter(expression))({name: value}) is holds


@given(
    st.lists(
        st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["1", "a", 0.5]),
        min_size=1,
    )
)
def test_a_list_is_its_constants_one_after_the_other(constants: list[Any]):
    expressions = [f"x = {json.dumps(constant)}" for constant in constants]

    assert matched(f"x in ({json.dumps(constants)[1:-1]})") == set[str]().union(
        *map(matched, expressions)
    )


@pytest.mark.parametrize(
    ("path", "holds"),
    [
        ("a.b[0].c", True),
        ("a.b[-1].c", True),
        ("a.b[1].c", False),
        ("a.b.c", False),
        ("a.b[0].c.d", False),
        ('a["b"][0]["c"]', True),
        ("text.b", False),
        ("text[0]", False),
    ],
)
def test_a_path_leads_into_lists_and_objects_and_not_into_texts(path: str, holds: bool):  # noqa: FBT001 - a table
    row: JsonObject = {"a": {"b": [{"c": None}]}, "text": '{"b": 1}'}

    assert compile_filter(parse_filter(f"{path} exists"))(row) is holds
    assert compile_filter(parse_filter(f"{path} = null"))(row)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("order *", "order 5", True),
        ("order *", "my order 5", False),
        ("*order", "my order", True),
        ("*a*b*", "xaxbx", True),
        ("*a*b*", "xbxax", False),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("", "", True),
        ("", "a", False),
        ("*", "two\nlines", True),
        ("a.c", "abc", False),
        (r"100\*", "100*", True),
        (r"100\*", "1000", False),
        (r"\?\\", "?\\", True),
        (r"\d", r"\d", True),
        ("a\\", "a\\", True),
        ("(a+)+$", "(a+)+$", True),
    ],
)
def test_a_pattern_describes_the_whole_text(pattern: str, text: str, fits: bool):  # noqa: FBT001 - a table
    assert (compile_pattern(pattern)(text) is not None) is fits


# Laws --------------------------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text("a1é", max_size=4)
    | st.sampled_from(["1", "true", "2026-01-31"]),
    lambda parts: (
        st.lists(parts, max_size=2) | st.dictionaries(st.sampled_from("xy"), parts, max_size=2)
    ),
    max_leaves=4,
)
rows = st.dictionaries(st.sampled_from("xy"), values, max_size=2)
conditions = st.sampled_from(
    """x = 1;x != 1;x > 0.5;x < "m";x.y = null;x exists;x in (1, true);y contains "1";y contains 1;
    y matches "?*";y >= 2026-01-31;x[0] = "1";y != null;y = false""".replace("\n", "").split(";")
)


@given(rows, conditions, conditions)
def test_every_row_matches_a_condition_or_its_opposite_and_never_both(
    row: JsonObject, first: str, second: str
):
    def holds(expression: str) -> bool:
        return compile_filter(parse_filter(expression))(row)

    assert holds(f"not {first}") is not holds(first)
    assert holds(f"not ({first} or {second})") is holds(f"not {first} and not {second}")
    assert holds(f"not ({first} and {second})") is holds(f"not {first} or not {second}")


@given(rows, conditions, conditions)
def test_the_canonical_text_means_the_same(row: JsonObject, first: str, second: str):
    tree = parse_filter(f"not ({first} or not ({second} and {first}))")

    assert compile_filter(parse_filter(print_filter(tree)))(row) is compile_filter(tree)(row)


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=12))
def test_a_pattern_means_what_shells_mean_by_it(pattern: str, text: str):
    assert (compile_pattern(pattern)(text) is not None) is fnmatchcase(text, pattern)


@pytest.mark.parametrize(
    "pattern", ["*a" * 120 + "*b", "a*" * 100 + "b", "*?" * 60 + "b", "*" * 250]
)
def test_no_pattern_makes_the_search_go_back_again_and_again(pattern: str):
    """It would not end within the time of a test: there are more ways to split the text than seconds."""
    text = "a" * 5_000

    assert (compile_pattern(pattern)(text) is not None) is (set(pattern) == {"*"})


def test_a_pattern_is_no_regular_expression():
    assert re.fullmatch("(a|a)*", "aa")
    assert compile_pattern("(a|a)*")("aa") is None
