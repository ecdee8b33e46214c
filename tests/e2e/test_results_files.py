"""`scorewright run --out`: the same numbers in every form, in item order, however many workers there were."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from command_line import CommandLine, read_json
from mixed_evaluators import ROWS, THREE, write_workshop
from scorewright.storage.results_file import ResultsFile
from scorewright.storage.results_file import read_results as stored


@pytest.fixture
def workshop(cli: CommandLine) -> CommandLine:
    return write_workshop(cli)


def read_results(path: Path) -> list[dict[str, Any]]:
    """Read a results file of any form into rows of one shape, values typed as JSON types them."""
    match path.suffix:
        case ".jsonl":
            rows = [
                flatten(read_json(line)) for line in path.read_text("utf-8").split("\n") if line
            ]
        case ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                rows = [{k: typed(k, v) for k, v in row.items()} for row in csv.DictReader(file)]
        case _:
            rows = pl.read_parquet(path).to_dicts()
    return [{**row, "metrics": as_json(row["metrics"])} for row in rows]


def as_json(metrics: Any) -> Any:
    return read_json(metrics) if isinstance(metrics, str) else metrics


def flatten(record: dict[str, Any]) -> dict[str, Any]:
    failure: dict[str, Any] = record.pop("failure") or {}
    judge: dict[str, Any] = record.pop("judge") or {}
    told = "model tokens_in tokens_out cost_usd latency_ms requests prompt".split()
    return (
        record
        | {f"failure_{k}": failure.get(k) for k in ("code", "type", "message", "line")}
        | {f"judge_{k}": judge.get(k) for k in told}
    )


def typed(column: str, cell: str) -> Any:
    if column == "output":
        return cell
    if cell == "":
        return None
    if column in ("version", "failure_line"):
        return int(cell)
    if column in ("score", "normalised_score", "duration_ms"):
        return float(cell)
    return {"true": True, "false": False}.get(cell, cell)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_every_form_of_results_holds_the_same_numbers(workshop: CommandLine, ending: str):
    common = ("run", *THREE, "--data", "rows.jsonl", "--out")

    codes = [workshop(*common, f"r.{form}").code for form in ("jsonl", ending)]

    expected = read_results(workshop.folder / "r.jsonl")
    found = read_results(workshop.folder / f"r.{ending}")
    for row in (*expected, *found):
        del row["duration_ms"]
    assert codes == [0, 0]
    assert len(expected) == 1500
    assert found == expected


def test_results_stand_in_item_order_whatever_the_evaluators(workshop: CommandLine):
    workshop("run", *THREE, "--data", "rows.jsonl", "--out", "r.jsonl")

    results = workshop.results("r.jsonl")

    names = ("length", "profile", "faithful")
    assert [(r["item_id"], r["evaluator"]) for r in results] == [
        (str(number), name) for number in range(1, 501) for name in names
    ]
    assert [r["score"] for r in results[::3]] == [len(row["output"]) for row in ROWS]


def test_a_line_of_results_has_the_documented_keys_and_types(workshop: CommandLine):
    workshop("run", "profile.py", "--data", "rows.jsonl", "--out", "r.jsonl")

    results = workshop.results("r.jsonl")

    scored, failed, skipped, outside = results[0], results[2], results[4], results[6]
    for result in results:
        assert set(
            "item_id evaluator version status score normalised_score passed metrics explanation "
            "reason failure output duration_ms out_of_range digest basis environment runner reused source judge".split()
        ) == set(result)
        assert re.fullmatch("[0-9a-f]{16}", result["basis"])
        assert re.fullmatch("[0-9a-f]{16}", result["environment"])
        assert isinstance(result["duration_ms"], float)
    assert scored["status"] == "scored"
    assert (scored["score"], scored["normalised_score"], scored["passed"]) == (0.1, 0.1, False)
    assert scored["metrics"] == {
        "big": 2**53 + 1,
        "deep.flag": False,
        r"deep.with\.dot": None,
        "deep.list": [1, {"a": 0.5}],
        "text": "=1+1",
    }
    assert scored["explanation"] == 'größer 値 ☃, with "quotes"\nand lines'
    assert scored["output"] == "row 1\n"
    assert (failed["status"], failed["score"], failed["passed"]) == ("failed", None, None)
    assert {k: failed["failure"][k] for k in ("code", "type", "message", "line")} == {
        "code": "author_error",
        "type": "ValueError",
        "message": "no 1",
        "line": 5,
    }
    assert (skipped["status"], skipped["reason"]) == ("skipped", "not this one")
    assert (skipped["score"], skipped["failure"]) == (None, None)
    assert (outside["score"], outside["normalised_score"], outside["passed"]) == (1.5, None, None)
    assert outside["out_of_range"] is True


@pytest.fixture(scope="module")
def by_workers(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], CommandLine]:
    """Runs over all rows, once for each number of workers."""
    done: dict[int, CommandLine] = {}

    def run(workers: int) -> CommandLine:
        if workers not in done:
            cli = write_workshop(CommandLine(tmp_path_factory.mktemp(f"workers-{workers}-")))
            for form in ("jsonl", "csv"):
                ended = cli(
                    *("run", *THREE, "--data", "rows.jsonl", "--workers", str(workers)),
                    *("--out", f"r.{form}", "--format", "json"),
                )
                assert ended.code == 0, ended.stderr
                cli.write("report.json", ended.stdout)
            done[workers] = cli
        return done[workers]

    return run


@pytest.mark.parametrize("workers", [2, 4, 7])
def test_the_number_of_workers_changes_no_byte_of_the_results(
    by_workers: Callable[[int], CommandLine], workers: int
):
    alone, together = by_workers(1).folder, by_workers(workers).folder

    assert timeless_lines(together / "r.jsonl") == timeless_lines(alone / "r.jsonl")
    assert timeless_cells(together / "r.csv") == timeless_cells(alone / "r.csv")


@pytest.mark.parametrize("workers", [2, 4, 7])
def test_the_number_of_workers_changes_no_number_of_the_summary(
    by_workers: Callable[[int], CommandLine], workers: int
):
    alone, together = (
        json.loads((by_workers(n).folder / "report.json").read_text("utf-8")) for n in (1, workers)
    )

    for summary in (*alone["summary"], *together["summary"]):
        del summary["slowest"]
    assert together["summary"] == alone["summary"]


def timeless_lines(path: Path) -> list[bytes]:
    return re.sub(rb'"duration_ms":[0-9.e-]+', b"", path.read_bytes()).split(b"\n")


def timeless_cells(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return [{**row, "duration_ms": ""} for row in csv.DictReader(file)]


# ── What two digests tell apart ──────────────────────────────────────────────────────────────────


def test_equal_rows_have_equal_bases_and_no_others_do(workshop: CommandLine):
    workshop.write_rows("twice.jsonl", [*ROWS[:20], *ROWS[:20]])

    workshop("run", *THREE, "--data", "twice.jsonl", "--out", "r.jsonl")

    bases = [r["basis"] for r in workshop.results("r.jsonl")]
    assert bases[:60] == bases[60:]
    assert len(set(bases)) == 60


def test_runner_and_limits_decide_about_the_environment(workshop: CommandLine):
    def environment(*options: str) -> str:
        run = workshop(
            *("run", "length.py", "--data", "few.jsonl", "--out", "r.jsonl"),
            *("--format", "json", *options),
        )
        (evaluator,) = run.document["evaluators"]
        found = {r["environment"] for r in workshop.results("r.jsonl")}
        assert found == {evaluator["environment"]}
        return found.pop()

    first = environment()

    assert environment("--workers", "1") == first
    others = environment("--memory-mb", "300"), environment("--timeout-s", "9")
    assert len({first, *others, environment("--runner", "local")}) == 4


def test_the_report_says_how_scores_are_read_and_what_was_noticed(workshop: CommandLine):
    workshop.write("judge.py", THREE["length.py"] * 2)
    workshop.write("judge.yaml", "source: judge.py\nscore_range: [0, 9]\nthreshold: 3\n")
    workshop.write("rows.csv", "output,number\nabc\n")

    run = workshop("run", "judge.yaml", "--data", "rows.csv", "--format", "json")

    (evaluator,) = run.document["evaluators"]
    assert (evaluator["score_range"], evaluator["threshold"]) == ([0, 9], 3)
    (notice,) = run.document["notices"]
    assert (notice["line"], "fewer cells" in notice["message"]) == (2, True)
    (warning,) = run.document["warnings"]
    assert (warning["evaluator"], set(warning)) == ("judge", {"evaluator", "line", "message"})


# ── Errors halfway ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def earlier(workshop: CommandLine) -> Path:
    """Results of twenty rows by two evaluators."""
    workshop("run", "length.py", "profile.py", "--data", "few.jsonl", "--out", "r.jsonl")
    return workshop.folder / "r.jsonl"


def test_an_error_while_going_on_loses_neither_new_results_nor_old_ones(earlier: Path):
    earlier.chmod(0o640)
    old = list(stored(earlier))
    new = [msgspec.structs.replace(record, explanation="new") for record in old[:6]]
    file = ResultsFile(earlier, resume=True)
    file.write(new[:4])
    file.write(new[4:])

    file.abandon(int)

    assert list(stored(earlier)) == [*new, *old[6:]]
    assert earlier.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in earlier.parent.glob("r.*")] == ["r.jsonl"]


def test_a_file_that_has_the_name_of_an_unfinished_one_is_left_alone(earlier: Path):
    other = earlier.with_name("r.part.jsonl")
    other.write_text("mine")
    file = ResultsFile(earlier, resume=True)
    file.write(list(stored(earlier)))

    file.close()

    assert other.read_text() == "mine"


def test_a_run_that_ends_early_leaves_no_empty_parquet_file(earlier: Path):
    target = earlier.with_suffix(".parquet")
    file = ResultsFile(target)

    file.write(list(stored(earlier)))
    was_there = target.exists()
    file.close()

    assert not was_there
    assert pl.read_parquet(target).height == 40
