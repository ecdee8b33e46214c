"""`scorewright run --out`: the same numbers in every form, in item order, however many workers there were."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from command_line import CommandLine, read_json
from mixed_evaluators import ROWS, THREE, write_workshop


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
    return record | {f"failure_{k}": failure.get(k) for k in ("code", "type", "message", "line")}


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
            "reason failure output duration_ms".split()
        ) <= set(result)
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
