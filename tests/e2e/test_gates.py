"""`scorewright run --fail-under`: thresholds for CI."""

from __future__ import annotations

import re

import pytest

from command_line import CommandLine
from mixed_evaluators import ROWS, write_workshop

GATED = """\
def evaluate(inputs, outputs, trace):
    number = inputs["number"]
    if number == 20:
        raise ValueError("twenty")
    return {"score": number % 2, "deep": {"size": number}, "even": number % 2 == 0, "word": "a",
            "mixed": number if number % 2 else "none", "list": [number], "null": None}
"""


@pytest.fixture
def workshop(cli: CommandLine) -> CommandLine:
    return write_workshop(cli)


@pytest.mark.parametrize(
    ("gates", "missed"),
    [
        (["gated=0.5"], []),
        (["gated=0.53"], ["gated mean score 0.5263 (n = 19 of 20), needs ≥ 0.53"]),
        (["gated.deep.size=10"], []),
        (["gated.deep.size=10.5"], ["gated.deep.size 10 (n = 19 of 20), needs ≥ 10.5"]),
        (["gated.even=0.4"], []),
        (["gated.even=0.5"], ["gated.even 0.4737 (n = 19 of 20), needs ≥ 0.5"]),
        (["gated.pass_rate=0.5"], []),
        (["gated.pass_rate=1"], ["gated.pass_rate 0.5263 (n = 19 of 20), needs ≥ 1"]),
        (["gated=0.5", "gated.pass_rate=1", "gated.even=1"], ["pass_rate", "gated.even"]),
        (["gated.word=0"], ["gated.word ≥ 0: its type is string; a threshold needs numbers"]),
        (["gated.list=0"], ["gated.list ≥ 0: its type is json; a threshold needs numbers"]),
        (["gated.mixed=0"], ["gated.mixed ≥ 0: its type is mixed (10 numbers, 9 texts); a thr"]),
        (["gated.null=0"], ["gated.null ≥ 0: it was null in all 19 items that have it"]),
        (["gated.evn=0"], ['gated.evn ≥ 0: no metric "evn"; there is "even", "deep.size", "word"']),
        (["gated.passrate=0"], ['no metric "passrate"; there is "pass_rate", "deep.size", "even"']),
    ],
    ids=lambda value: " ".join(value) if value and "=" in value[0] else "",
)
def test_a_threshold_is_held_against_what_was_measured(
    workshop: CommandLine, gates: list[str], missed: list[str]
):
    workshop.write("gated.py", GATED)
    options = [option for gate in gates for option in ("--fail-under", gate)]

    run = workshop("run", "gated.py", "--data", "few.jsonl", *options)

    said = [line for line in run.stderr.splitlines() if line.startswith("missed: ")]
    assert run.code == (1 if missed else 0)
    assert len(said) == len(missed)
    assert [part for part, line in zip(missed, said, strict=True) if part not in line] == []
    met = re.findall("^(.*) met$", run.stderr, re.MULTILINE)
    assert met == ([] if missed else [f"{len(gates)} of {len(gates)} threshold"])


@pytest.mark.parametrize(
    ("allowed", "code"), [([], 0), (["--max-failed", "0.04"], 1), (["--max-failed", "1"], 0)]
)
def test_a_threshold_is_missed_when_too_many_items_failed(
    workshop: CommandLine, allowed: list[str], code: int
):
    workshop.write("gated.py", GATED)

    run = workshop("run", "gated.py", "--data", "few.jsonl", "--fail-under", "gated=0.1", *allowed)

    assert run.code == code
    assert ("1 of 20 items failed" in run.stderr) is (code == 1)


@pytest.mark.parametrize(
    ("allowed", "missed"),
    [
        ([], "but 1 of 11 items failed and 9 scored out of range, more than 5% (--max-failed)"),
        (["--max-failed", "0.9"], "1 of 11 items failed and 9 scored out of range, more than 90%"),
        (["--max-failed", "0.91"], None),
    ],
)
def test_scores_out_of_range_use_up_the_tolerated_share_with_the_failed(
    cli: CommandLine, allowed: list[str], missed: str | None
):
    cli.write_rows("rows.jsonl", [{"outputs": n} for n in [1, None, *range(2, 11)]])
    cli.write("judge.py", "def evaluate(inputs, outputs, trace):\n    return outputs + 0\n")

    run = cli("run", "judge.py", "--data", "rows.jsonl", "--fail-under", "judge=0.5", *allowed)

    assert run.code == (1 if missed else 0)
    assert (missed or "1 of 1 threshold met") in run.stderr


def test_a_threshold_that_is_nearly_met_is_not_shown_as_met(cli: CommandLine):
    cli.write_rows("rows.jsonl", [{"outputs": 0.79999}])
    cli.write("judge.py", "def evaluate(inputs, outputs, trace):\n    return outputs\n")

    run = cli("run", "judge.py", "--data", "rows.jsonl", "--fail-under", "judge=0.8")

    assert run.stderr == "missed: judge mean score 0.79999 (n = 1 of 1), needs ≥ 0.8\n"


@pytest.mark.parametrize(
    "returned", ['EvalResult.skip("no")', "1 / 0", "{}[0]", '{"other": 1}', "7"]
)
def test_a_threshold_over_nothing_scored_is_missed(cli: CommandLine, returned: str):
    cli.write_rows("rows.jsonl", ROWS[:4])
    cli.write("judge.py", f"def evaluate(inputs, outputs, trace):\n    return {returned}\n")

    run = cli(
        *("run", "judge.py", "--data", "rows.jsonl", "--format", "json"),
        *("--fail-under", "judge=-5", "--max-failed", "1"),
    )

    assert run.code == 1
    assert run.summary["mean_score"] is None
    assert run.stderr.startswith("missed: judge mean score ≥ -5: nothing was measured (")
