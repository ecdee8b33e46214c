"""A Python value is a JSON value, or it is said why not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from scorewright.domain.check import check_evaluator
from scorewright.domain.json_literal import json_literal


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("\ud800", "half of a character"),
        ({"a": ["\udfff"]}, r"a\[0\]: the text holds half"),
        ({"\ud800": 1}, "half of a character"),
        ({1: 1}, "no text"),
        (float("nan"), "not finite"),
        (1 << 63, "too large"),
        ({1, 2}, "set"),
    ],
)
def test_what_json_cannot_hold_is_refused(value: Any, said: str):
    with pytest.raises(ValueError, match=said):
        json_literal(value)


def test_tuples_become_lists_and_everything_else_stays():
    assert json_literal({"a": (1, 2.0, None, True, "\0é😀")}) == {
        "a": [1, 2.0, None, True, "\0é😀"]
    }


def test_a_default_that_json_cannot_hold_is_none_that_check_can_show(tmp_path: Path):
    path = tmp_path / "halves.py"
    path.write_text(
        "def evaluate(trace: Trace, mark='\\ud800', marks=['\\ud800']):\n    return 1\n"
    )

    document = check_evaluator(path)

    assert msgspec.json.decode(msgspec.json.encode(document)) == document
    params: Any = document["params"]
    assert [param["default"] for param in params] == [None, None]
