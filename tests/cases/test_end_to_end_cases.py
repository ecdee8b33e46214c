"""Bug reports about other systems, told to the command line and the Python API, and what they must answer."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from command_line import PROGRAM, CommandLine, environment
from scorewright import evaluate

SHARED = Path(__file__).parents[2].parent / "shared"
CASES = SHARED / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="needs the cases beside the repository")

#: Gives back what the row says the author's code returned.
RETURNS = "def evaluate(returned):\n    return returned\n"
RETURNS_ANYTHING = "def evaluate(inputs, outputs, trace):\n    return outputs\n"


def given(number: int) -> dict[str, Any]:
    """Return what a case feeds in."""
    return json.loads((CASES / f"case_{number}.json").read_text(encoding="utf-8"))["input"]


def judge(
    cli: CommandLine, source: str, rows: list[dict[str, Any]], *options: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Run one evaluator; return its summary and results."""
    cli.write("judge.py", source)
    cli.write_rows("rows.jsonl", rows)
    run = cli(
        *("run", "judge.py", "--data", "rows.jsonl", "--out", "results.jsonl", "--format", "json"),
        *options,
    )
    assert run.code == 0, run.stderr
    return run.summary, cli.results("results.jsonl")


def returned(values: list[Any]) -> list[dict[str, Any]]:
    return [{"returned": value, "outputs": value} for value in values]


# ── 302: a score that rises when rows fail ───────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "mean", "scored", "failed"), [("run_A", 0.5, 10, 0), ("run_B", 1.0, 5, 5)]
)
def test_302_a_mean_comes_with_what_it_is_taken_over(
    cli: CommandLine, name: str, mean: float, scored: int, failed: int
):
    case = given(302)
    rows = [
        {"output": text, "gold": gold} for text, gold in zip(case[name], case["gold"], strict=True)
    ]

    summary, _ = judge(cli, case["evaluator"], rows)
    table = cli("run", "judge.py", "--data", "rows.jsonl")

    assert (summary["mean_score"], summary["mean_n"]) == (mean, scored)
    assert (summary["scored"], summary["failed"]) == (scored, failed)
    assert f"{scored} of 10" in table.stdout


def test_302_a_gate_is_missed_when_half_the_rows_failed(cli: CommandLine):
    case = given(302)
    judge(cli, case["evaluator"], [{"output": text} for text in case["run_B"]])

    gated = cli("run", "judge.py", "--data", "rows.jsonl", "--fail-under", "judge=0.9")

    assert gated.code == 1
    assert "5 of 10 items failed" in gated.stderr
    assert "--max-failed" in gated.stderr


# ── 306 and 327: scores that are no numbers ──────────────────────────────────────────────────────


def test_306_a_score_that_is_no_number_fails_its_row_and_names_the_value(cli: CommandLine):
    values = [{**value, "explanation": "why"} for value in given(306)["returns"]]

    summary, results = judge(cli, RETURNS, returned(values))

    messages = [r["failure"]["message"] for r in results]
    assert [r["status"] for r in results] == ["failed"] * 5
    assert {r["failure"]["code"] for r in results} == {"bad_return"}
    assert '""' in messages[0] or "''" in messages[0]
    assert "N/A" in messages[1]
    assert "null" in messages[2] or "None" in messages[2]
    assert "score" in messages[3]
    assert "0.7" in messages[4]
    assert (summary["scored"], summary["mean_score"]) == (0, None)


def test_327_odd_values_break_neither_table_nor_export(cli: CommandLine):
    values = given(327)["returns"]

    _, results = judge(cli, RETURNS, returned(values))
    table = cli("run", "judge.py", "--data", "rows.jsonl", "--out", "results.csv")
    parquet = cli("run", "judge.py", "--data", "rows.jsonl", "--out", "results.parquet")
    api = list(evaluate(returned(values), RETURNS))

    with (cli.folder / "results.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    frame = pl.read_parquet(cli.folder / "results.parquet")
    assert [r["status"] for r in results[:3]] == ["failed"] * 3
    assert "00.75" in results[0]["failure"]["message"]
    assert "explanation" in results[3]["failure"]["message"]
    assert "explanation" in results[4]["failure"]["message"]
    assert (results[5]["score"], results[5]["explanation"]) == (1, values[5]["explanation"])
    assert (table.code, parquet.code) == (0, 0)
    assert "5 × " not in table.stdout
    assert [cell["status"] for cell in cells] == frame["status"].to_list()
    assert cells[5]["explanation"] == frame["explanation"][5] == values[5]["explanation"]
    assert [r.status for r in api] == [r["status"] for r in results]


def test_327_markup_in_a_message_is_shown_as_it_stands(cli: CommandLine):
    cli.write_rows("rows.jsonl", returned(["[bold red]x[/] <b>y</b> :smile: \x1b[31mz"]))
    cli.write("judge.py", "def evaluate(returned):\n    raise ValueError(returned)\n")

    run = cli("run", "judge.py", "--data", "rows.jsonl")

    assert "[bold red]x[/] <b>y</b> :smile: " in run.stdout
    assert "\x1b" not in run.stdout


# ── 309 and 312: outcomes and verdicts ───────────────────────────────────────────────────────────

SIX_OUTCOMES = """\
def evaluate(row):
    if row == "r1":
        return {"score": 0.0, "explanation": "bad"}
    if row == "r2":
        return {"error": "no gold"}
    if row == "r3":
        return None
    if row == "r4":
        raise KeyError("x")
    if row == "r5":
        return object()
    return EvalResult.skip("not applicable")
"""


def test_309_five_outcomes_stay_apart(cli: CommandLine):
    summary, results = judge(cli, SIX_OUTCOMES, [{"row": name} for name in given(309)["rows"]])

    reasons = [r["failure"]["message"] for r in results if r["failure"]]
    assert (summary["scored"], summary["skipped"], summary["failed"]) == (1, 1, 4)
    assert (summary["mean_score"], summary["mean_n"]) == (0.0, 1)
    assert results[5]["reason"] == "not applicable"
    assert "score" in reasons[0]
    assert "returned nothing" in reasons[1]
    assert "x" in reasons[2]
    assert results[3]["failure"]["type"] == "KeyError"
    assert "object" in reasons[3]
    assert len(summary["failures"]) == 4


def test_312_an_evaluator_of_verdicts_has_a_pass_rate(cli: CommandLine):
    summary, _ = judge(cli, RETURNS_ANYTHING, returned(given(312)["returns"]))
    table = cli("run", "judge.py", "--data", "rows.jsonl")

    assert summary["pass_rate"] == pytest.approx(2 / 3)
    assert summary["pass_rate_n"] == 3
    assert summary["mean_score"] is None
    assert "67% (" in table.stdout
    assert "n = 3" in table.stdout


def test_312_texts_are_counted_by_value(cli: CommandLine):
    summary, _ = judge(
        cli, RETURNS_ANYTHING, returned([{"tone": "warm"}, {"tone": "cold"}, {"tone": "warm"}])
    )

    assert summary["metrics"]["tone"]["type"] == "string"
    assert summary["metrics"]["tone"]["values"] == {"warm": 2, "cold": 1}
    assert "mean" not in summary["metrics"]["tone"]


# ── 314 and 315: contracts and thresholds ────────────────────────────────────────────────────────


def test_314_each_contract_is_kept_and_a_missing_version_means_the_newest(cli: CommandLine):
    versions = [one["version"] for one in given(314)["evaluators"]]
    three = "def evaluate(inputs, outputs, trace):\n    return {'score': 0.75, 'tone': 1}\n"
    four = "def evaluate(app_params, inputs, output, correct_answer):\n    return float(output == correct_answer)\n"
    cli.write_rows("rows.jsonl", [{"output": "a", "correct_answer": "a"}])
    cli.write("three.py", three)
    cli.write("four.py", four)
    cli.write("newest.yaml", "source: three.py\nconvention: inputs_outputs_trace\n")
    cli.write("float-only.yaml", "source: three.py\nconvention: legacy_score\n")

    run = cli(
        *("run", "newest.yaml", "three.py", "four.py", "float-only.yaml"),
        *("--data", "rows.jsonl", "--out", "results.jsonl"),
    )

    newest, missing, oldest, float_only = cli.results("results.jsonl")
    assert versions == ["3", None, "1", "2"]
    assert run.code == 0
    assert (newest["score"], newest["metrics"]) == (0.75, {"tone": 1})
    assert (missing["score"], missing["metrics"]) == (0.75, {"tone": 1})
    assert (oldest["score"], oldest["status"]) == (1.0, "scored")
    assert float_only["failure"]["code"] == "bad_return"
    assert "this evaluator returns a single score" in float_only["failure"]["message"]


@pytest.mark.parametrize("index", range(8))
def test_315_zero_is_a_threshold_and_a_missing_one_is_the_middle(cli: CommandLine, index: int):
    case = given(315)["cases"][index]
    expected = [True, True, False, True, False, True, None, None][index]
    score = case.get("score", 0.1 + 0.2)
    threshold = case.get("threshold", "absent")
    written = {"absent": "", "<NaN>": "threshold: .nan\n"}.get(
        str(threshold), f"threshold: {json.dumps(threshold)}\n"
    )
    cli.write("judge.py", RETURNS_ANYTHING)
    cli.write("judge.yaml", f"source: judge.py\n{written}")
    cli.write_rows("rows.jsonl", returned([score]))

    run = cli("run", "judge.yaml", "--data", "rows.jsonl", "--out", "results.jsonl")

    if expected is None:
        assert run.code == 2
        assert "threshold" in run.stderr
    else:
        assert run.code == 0, run.stderr
        assert cli.results("results.jsonl")[0]["passed"] is expected


# ── 319 and 329: what is outside a mean ──────────────────────────────────────────────────────────


def test_319_a_skip_weighs_nothing_and_is_counted_apart(cli: CommandLine):
    summary, results = judge(cli, RETURNS_ANYTHING, returned(skips(given(319)["results"])))
    table = cli("run", "judge.py", "--data", "rows.jsonl")

    assert (summary["mean_score"], summary["mean_n"]) == (1.0, 1)
    assert (summary["scored"], summary["skipped"]) == (1, 1)
    assert results[1]["reason"] == "judge down"
    assert "1 of 2" in table.stdout


def skips(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return results as an evaluator returns them: one that skips says nothing else."""
    return [{"skip": one["skip"]} if "skip" in one else one for one in results]


SAME_ANSWER = """\
def evaluate(gold, answer):
    if answer == "<raises>":
        raise RuntimeError("no answer")
    if not gold:
        return EvalResult.skip("no gold")
    return {"score": float(gold == answer), "explanation": "compared"}
"""


def test_329_a_row_that_fails_stays_in_the_report_of_its_group(cli: CommandLine):
    rows = given(329)["rows"]

    summary, results = judge(cli, SAME_ANSWER, rows)

    by_task: dict[str, list[Any]] = {"t1": [], "t2": []}
    for row, result in zip(rows, results, strict=True):
        by_task[row["task"]].append((result["status"], result["score"]))
    assert by_task == {
        "t1": [("skipped", None), ("scored", 1.0)],
        "t2": [("failed", None), ("scored", 1.0)],
    }
    assert (summary["scored"], summary["skipped"], summary["failed"]) == (2, 1, 1)
    assert (summary["mean_score"], summary["mean_n"]) == (1.0, 2)


# ── 323 and 326: one result for each row and evaluator, in order ─────────────────────────────────


@pytest.mark.parametrize("runner", ["jail", "local"])
def test_323_results_belong_to_their_rows_whoever_is_done_first(cli: CommandLine, runner: str):
    case = given(323)
    rows = [{"output": text} for text in case["outputs"]]
    options = ("--workers", str(case["workers"]), "--runner", runner)

    summary, results = judge(cli, case["evaluator"], rows, *options)
    exported = cli("run", "judge.py", "--data", "rows.jsonl", "--out", "results.csv", *options)
    api = evaluate(rows, case["evaluator"], workers=case["workers"], runner=runner)

    expected = [(n / 10, str(n)) for n in range(10)]
    with (cli.folder / "results.csv").open(encoding="utf-8", newline="") as file:
        cells = [(float(row["score"]), row["explanation"]) for row in csv.DictReader(file)]
    assert [(r["score"], r["explanation"]) for r in results] == expected
    assert cells == expected
    assert [(r.score, r.explanation) for r in api] == expected
    assert summary["mean_score"] == pytest.approx(0.45)
    assert "0.45" in exported.stdout


def test_326_a_worker_that_dies_costs_no_result_and_doubles_none(cli: CommandLine):
    first, second = given(326)["returns"]
    rows = [{"outputs": number} for number in range(1, 101)]
    for name, values in (("one", first), ("two", second)):
        cli.write(
            f"{name}.py",
            "def evaluate(inputs, outputs, trace):\n"
            "    if outputs in (1, 30, 31, 100):\n"
            "        import os\n"
            "        os._exit(1)\n"
            f"    return {values}\n",
        )
    cli.write_rows("rows.jsonl", rows)

    run = cli(
        *("run", "one.py", "two.py", "--data", "rows.jsonl", "--workers", "4"),
        *("--out", "results.jsonl", "--format", "json"),
    )
    again = cli(
        *("run", "one.py", "two.py", "--data", "rows.jsonl", "--workers", "4"),
        *("--out", "results.jsonl", "--resume", "--format", "json"),
    )

    results = cli.results("results.jsonl")
    dead = [r["item_id"] for r in results if r["status"] == "failed"]
    one, two = run.document["summary"]
    assert (run.code, again.code) == (0, 0)
    assert [(r["item_id"], r["evaluator"]) for r in results] == [
        (str(number), name) for number in range(1, 101) for name in ("one", "two")
    ]
    assert dead == ["1", "1", "30", "30", "31", "31", "100", "100"]
    assert (one["mean_score"], one["mean_n"]) == (1.0, 96)
    assert {name: m["count"] for name, m in two["metrics"].items()} == {"quality": 96, "tone": 96}
    assert [s["scored"] for s in again.document["summary"]] == [96, 96]
    assert again.document["summary"][1]["metrics"] == two["metrics"]


# ── 411 and 414: data and running again ──────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("file", "column", "values"),
    [
        ("case_112.csv", "question", ["What is 2+2?", "Capital of France?"]),
        ("case_118.jsonl", "q", ["one", "two\u2028still two", "three"]),
    ],
)
def test_411_a_byte_order_mark_is_no_part_of_the_first_column(
    cli: CommandLine, file: str, column: str, values: list[str]
):
    assert file in given(411)["files"]
    cli.write(
        "echo.py", f"def evaluate({column}):\n    return {{'score': 1, 'explanation': {column}}}\n"
    )

    run = cli("run", "echo.py", "--data", CASES / file, "--out", "results.jsonl")

    assert run.code == 0, run.stderr
    assert [r["explanation"] for r in cli.results("results.jsonl")] == values


def author_of(outcomes: dict[str, str]) -> str:
    """Return an evaluator that has these outcomes, told as in "ok 1.0", "skip", or an error's text."""
    branches = {
        name: f"return {{'score': {text[3:]}, 'explanation': 'fine'}}"
        if text.startswith("ok ")
        else "return EvalResult.skip('not applicable')"
        if text == "skip"
        else f"raise ValueError({text!r})"
        for name, text in outcomes.items()
    }
    lines = [f"    if row == {name!r}: {branch}" for name, branch in branches.items()]
    return "\n".join(["def evaluate(row):", *lines, "    raise SystemExit('ran again')", ""])


@pytest.mark.parametrize("interface", ["command line", "python"])
def test_414_only_failed_rows_run_again_and_take_their_place(cli: CommandLine, interface: str):
    case = given(414)
    rows = [{"row": name} for name in case["outcomes"]]
    first, second = author_of(case["outcomes"]), author_of(case["second_time"])

    if interface == "command line":
        _, before = judge(cli, first, rows)
        summary, after = judge(cli, second, rows, "--resume")
    else:
        earlier = evaluate(rows, first)
        later = evaluate(rows, second, previous=earlier)
        (summary,) = later.summary()
        before, after = earlier.to_polars().to_dicts(), later.to_polars().to_dicts()

    digests = [r["digest"] for r in after]
    assert [r["item_id"] for r in after] == ["1", "2", "3", "4", "5"]
    assert [r["score"] for r in after] == [1.0, 0.5, None, 0.0, None]
    assert (summary["scored"], summary["skipped"], summary["failed"]) == (3, 1, 1)
    assert summary["mean_score"] == pytest.approx(0.5)
    assert [group["message"] for group in failures(summary)] == ["error again"]
    assert [after[n] for n in (0, 2, 3)] == [before[n] for n in (0, 2, 3)]
    assert [digest != digests[0] for digest in digests] == [False, True, False, False, True]


def failures(summary: Any) -> list[dict[str, Any]]:
    return summary["failures"]


# ── Everything a program can compare ─────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "kind", [["--kind", "dataset"], ["--kind", "evaluator", "--suffix", ".py"]], ids=" ".join
)
def test_the_cases_deviate_nowhere(kind: list[str]):
    program = SHARED / "conformance" / "check_cases.py"
    if not program.is_file():
        pytest.skip("needs the conformance check beside the repository")

    done = subprocess.run(
        [sys.executable, program, "--bin", " ".join(PROGRAM), *kind],
        env=environment(),
        capture_output=True,
        check=False,
        encoding="utf-8",
    )

    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(" passed, 0 failed\n")
