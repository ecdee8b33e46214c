"""The page on results against the code: its table, its bounds, its keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scorewright.authoring import EvalResult
from scorewright.domain import json_copy, metric_summary, returned
from scorewright.domain.aggregate import Summary
from scorewright.domain.convention import Convention
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Scored, Skipped
from scorewright.domain.returned import Reading, interpret

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "results.md").read_text(encoding="utf-8")

# Values for each row of the page's table, by the row's first cell.
EXAMPLES: dict[str, list[object]] = {
    '`EvalResult.skip("why")`, `{"skip": "why"}`': [EvalResult.skip("why"), {"skip": "why"}],
    "`EvalResult(score=…)`": [EvalResult(0.5, "why")],
    "`True`, `False`": [True, False],
    "a number in the range": [0, 0.5, 1],
    "a number outside the range": [-1, 1.5],
    "an object": [{"score": 0.5, "explanation": "why", "more": 1}],
    "`{}`, or an object with nothing but an explanation": [{}, {"explanation": "why"}],
    "a text": ["0.5"],
    "an empty text": [""],
    "`None`": [None],
    "NaN, an infinity, an int beyond 64 bits": [float("nan"), float("-inf"), 2**63],
    "a list or tuple, and anything that is not JSON": [[1], (1, 2), {1}, b"x", object()],
}
COLUMNS = [
    Convention.INPUTS_OUTPUTS_TRACE,
    Convention.VARIABLES,
    Convention.TRACE_OBJECT,
    Convention.LEGACY_SCORE,
]


def rows_under(heading: str) -> list[list[str]]:
    """Read the cells of the first table below a heading, its head left out."""
    below = PAGE.split(f"{heading}\n", 1)[1]
    lines = [line for line in below.splitlines() if line.startswith("|")]
    table = lines[: next((n for n, _ in enumerate(lines) if f"{lines[n]}\n\n" in below), 0) + 1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


@pytest.mark.parametrize(
    "row", rows_under("## What a returned value becomes"), ids=lambda row: row[0]
)
def test_the_table_says_what_the_code_does(row: list[str]):
    for value in EXAMPLES[row[0]]:
        for convention, cell in zip(COLUMNS, row[1:], strict=True):
            outcome = interpret(value, Reading(convention, (0.0, 1.0), 0.5))
            if cell == "skipped":
                assert outcome == Skipped("why")
            elif cell.startswith("bad_return"):
                assert isinstance(outcome, Failed), (cell, outcome)
                assert outcome.code is FailureCode.BAD_RETURN
            else:
                assert isinstance(outcome, Scored), (cell, outcome)
                assert outcome.out_of_range == ("out_of_range" in cell)


def test_every_failure_code_is_explained():
    explained = {
        code for row in rows_under("## Failure codes") for code in re.findall("`(.*?)`", row[0])
    }

    assert explained == {code.value for code in FailureCode}


def test_every_key_of_the_summary_is_explained():
    explained = {
        key
        for row in rows_under("## The summary of a run")
        for key in re.findall("`(.*?)`", row[0])
    }

    assert set(Summary("e").document()) == explained | {"evaluator", "mean_n", "pass_rate_n"}


@pytest.mark.parametrize("value", [1, True, "x", [1]])
def test_every_key_of_a_metric_is_explained(value: object):
    summary = Summary("e")
    summary.add_batch([1], [ItemOutcome(Scored(metrics={"m": value}))])  # type: ignore[dict-item]

    described = summary.document()["metrics"]["m"]  # type: ignore[index,call-overload]

    section = PAGE.split("The type of a metric", 1)[1]
    assert all(f"`{key}`" in section for key in described)  # type: ignore[union-attr]


def test_the_bounds_are_those_of_the_code():
    bounds = {row[0]: row[1] for row in rows_under("### Bounds")}

    assert list(bounds.values()) == [
        f"{json_copy.MAX_EXPLANATION_BYTES // 1024} KiB of UTF-8",
        f"{json_copy.MAX_RESULT_BYTES // 1024} KiB",
        f"{returned.MAX_METRICS:,}",
        f"{returned.MAX_METRIC_NAME_CHARS} characters",
        f"{json_copy.MAX_DEPTH} levels",
        f"{json_copy.MAX_INT.bit_length() + 1} bits, signed",
    ]
    assert json_copy.CUT_MARK in PAGE
    assert f"and {json_copy.VALUE_BYTES} bytes for every value" in PAGE


def test_the_bounds_of_text_metrics_are_those_of_the_code():
    assert f"the {metric_summary.SHOWN_VALUES} most frequent" in PAGE
    assert f"cut at {metric_summary.MAX_VALUE_CHARS} characters" in PAGE
    assert f"the first {metric_summary.MAX_VALUES} different ones" in PAGE
