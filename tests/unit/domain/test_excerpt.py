"""Values shown in messages."""

from __future__ import annotations

import collections
import decimal
import enum
from typing import Any

import pytest

from scorewright.domain.excerpt import base_of, excerpt, type_name


class Word(enum.StrEnum):
    GOOD = "good"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (-(2**64) + 1, "-18446744073709551615"),
        (10**400, "an int of 1329 bits"),
        (0.1, "0.1"),
        (float("nan"), "nan"),
        ("N/A", '"N/A"'),
        (Word.GOOD, '"good"'),
        ("a\nb", '"a\\nb"'),
        ("x" * 100, '"' + "x" * 80 + '…"'),
        ({"a": 1}, "an object of 1"),
        ([1, 2], "a list of 2"),
        ((), "a tuple of 0"),
        (decimal.Decimal(1), "decimal.Decimal"),
        (object(), "object"),
    ],
)
def test_a_value_is_shown_in_a_few_characters(value: Any, shown: str):
    assert excerpt(value) == shown


@pytest.mark.parametrize(
    ("value", "base"),
    [
        (collections.OrderedDict[str, int](), dict),
        (collections.Counter[str](), dict),
        (Word.GOOD, str),
        (True, bool),
        (b"", None),
        (set[int](), None),
    ],
)
def test_a_value_is_of_the_built_in_type_it_derives_from(value: object, base: type | None):
    assert base_of(value) is base


def test_a_class_is_named_with_its_module():
    assert type_name(decimal.Decimal(1)) == "decimal.Decimal"
    assert type_name([]) == "list"
    assert len(type_name(type("x" * 500, (), {})())) == 80
