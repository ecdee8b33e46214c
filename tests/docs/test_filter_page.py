"""The page about filters: its examples are read, its table is true, its grammar is the code's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import pytest

from scorewright.domain import filter as filters
from scorewright.domain.errors import UsageError
from scorewright.domain.filter import compile_filter, parse_filter
from scorewright.domain.filter.constant import UNITS_NS
from scorewright.domain.filter.tokens import KEYWORDS
from scorewright.domain.filter.tree import Operator

PAGE = Path(__file__).parents[2].joinpath("docs/reference/filter.md").read_text(encoding="utf-8")
EXAMPLES, GRAMMAR, MISTAKE = re.findall(r"^```(?:text)?\n([\s\S]*?)^```$", PAGE, re.MULTILINE)
TABLE = re.findall(r"^\| `(x.*?)` \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("text", EXAMPLES.splitlines())
def test_every_example_is_an_expression(text: str):
    parse_filter(text)


def test_the_grammar_is_the_one_that_the_code_states():
    assert filters.__doc__
    stated = [line.strip() for line in filters.__doc__.splitlines() if line.startswith("    ")]

    assert [line.strip() for line in GRAMMAR.splitlines()] == stated
    assert set(re.findall(r'"([a-z]+)"', GRAMMAR)) == KEYWORDS
    assert {*get_args(Operator)} <= set(re.findall(r'"([=!<>]+)"', GRAMMAR))


def test_every_unit_is_named():
    (row,) = re.findall(r"^\| duration \| .*units are (.*) \|$", PAGE, re.MULTILINE)

    assert set(re.findall(r"`(\w+)`", row)) == set(UNITS_NS)


def test_the_mistake_is_shown_as_the_code_shows_it():
    _, text, _ = MISTAKE.splitlines()

    with pytest.raises(UsageError) as caught:
        parse_filter(text.strip())

    assert str(caught.value) == MISTAKE.rstrip()


def rows_in(cell: str) -> list[dict[str, Any]]:
    """Return a row per value of a table's cell."""
    values = [json.loads(value) for value in re.findall(r"`(.+?)`", cell)]
    return [{"x": value} for value in values] + [{}] * cell.endswith("absent")


@pytest.mark.parametrize(("condition", "holding", "other"), TABLE)
def test_a_condition_holds_for_the_values_that_the_table_has(
    condition: str, holding: str, other: str
):
    matches = compile_filter(parse_filter(condition))

    assert [matches(row) for row in rows_in(holding)] == [True] * len(rows_in(holding))
    assert [matches(row) for row in rows_in(other)] == [False] * len(rows_in(other))


def test_the_table_has_every_kind_of_condition():
    assert len(TABLE) > 15
    assert all(
        any(word in condition for condition, *_ in TABLE) for word in KEYWORDS - {"and", "or"}
    )
