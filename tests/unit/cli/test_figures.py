"""Numbers for people: short, and true where rounding would make them say more."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.cli.figures import counted, figure, parts_of_mixed, percent, span

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (0.5, "50%"),
        (2 / 3, "67%"),
        (299 / 300, "99.7%"),
        (1 / 300, "0.3%"),
        (0.99996, "99.996%"),
        (1 - 1e-9, ">99.999%"),
        (1e-9, "<0.001%"),
    ],
)
def test_a_share_is_none_or_all_only_where_it_is(share: float, text: str):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("value", "bounds", "text"),
    [
        (0.52631, (0, 1), "0.526"),
        (0.9996, (0, 1), "0.9996"),
        (0.99951, (0, 0.9996), "0.9995"),
        (1, (0, 1), "1"),
        (99.97, (0, 100), "99.97"),
        (1234.6, (), "1235"),
        (999.6, (1000,), "999.6"),
        (1 / 3, (1 / 3,), "0.333"),
    ],
)
def test_a_number_is_short_and_keeps_off_its_bounds(
    value: float, bounds: tuple[float, ...], text: str
):
    assert figure(value, *bounds) == text


@given(FINITE, FINITE)
def test_a_number_stays_on_its_side_of_a_bound(value: float, bound: float):
    shown = float(figure(value, bound))

    assert value == bound or ((shown < bound) == (value < bound) and shown != bound)


def test_a_span_with_a_minus_sign_has_no_dash():
    assert span("1", "5") == "1–5"
    assert span("-1", "1") == "-1 to 1"


def test_one_is_singular():
    assert [counted(n, "row") for n in (0, 1, 2000)] == ["0 rows", "1 row", "2,000 rows"]


def test_a_mixed_metric_shows_its_parts():
    types = {"number": {"n": 3}, "string": {"n": 1}, "json": {"n": 2}}

    assert parts_of_mixed({"types": types}) == "3 numbers, 1 text, 2 lists or objects"
