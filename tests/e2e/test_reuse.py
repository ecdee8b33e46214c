"""Results of earlier runs are used again where, and only where, the same code must give the same."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import pytest

from command_line import CommandLine

SOURCE = """\
def evaluate(output, expected=None):
    return {"score": len(output), "explanation": str(expected)}
"""
ROWS = [{"output": "x" * n, "expected": n, "note": "a"} for n in range(1, 41)]
RUN = ("run", "length.py", "--data", "rows.jsonl", "--out", "r.jsonl")
CLOCK = "import datetime\n\ndef evaluate(output):\n    {}\n    return {{'score': 1, 'explanation': ''}}\n"


@pytest.fixture
def workshop(tmp_path: Path) -> CommandLine:
    cli = CommandLine(tmp_path, may_reuse=True)
    cli.write("length.py", SOURCE)
    cli.write_rows("rows.jsonl", ROWS)
    return cli


def run(workshop: CommandLine, *more: str) -> tuple[set[str], list[dict[str, Any]]]:
    """Run, and return the rows that were computed and all results."""
    done = workshop(*RUN, *more, "--format", "json")
    assert done.code == 0, done.stderr
    results = workshop.results("r.jsonl")
    computed = {r["item_id"] for r in results if not r["reused"]}
    counted = sum(one["reused"] for one in done.document["evaluators"])
    assert counted == len(results) - len(computed)
    return computed, results


def every(count: int = len(ROWS)) -> set[str]:
    return {str(n) for n in range(1, count + 1)}


def unmarked(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{k: v for k, v in one.items() if k != "reused"} for one in results]


def test_the_same_again_computes_nothing_and_gives_the_same(workshop: CommandLine):
    first, before = run(workshop)
    again, after = run(workshop)

    assert first == every()
    assert again == set()
    assert unmarked(after) == unmarked(before)


def test_the_report_says_how_many_were_reused(workshop: CommandLine):
    workshop(*RUN)

    shown = workshop(*RUN).stdout

    assert "40 results reused" in shown


def test_only_a_row_whose_arguments_changed_is_computed(workshop: CommandLine):
    run(workshop)
    rows = [dict(row) for row in ROWS]
    rows[6]["output"] = "another"
    rows[8]["note"] = "a column that nothing is mapped to"
    workshop.write_rows("rows.jsonl", rows)

    computed, results = run(workshop)

    assert computed == {"7"}
    assert results[6]["score"] == len("another")


def test_rows_that_moved_are_found(workshop: CommandLine):
    run(workshop)
    workshop.write_rows("rows.jsonl", [{"output": "new", "expected": 0}, *reversed(ROWS)])

    computed, results = run(workshop)

    assert computed == {"1"}
    assert [r["score"] for r in results[1:]] == list(range(40, 0, -1))


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("--map", "expected=note"), id="mapping"),
        pytest.param(("--timeout-s", "9"), id="limit of time"),
        pytest.param(("--memory-mb", "200"), id="limit of memory"),
        pytest.param(("--no-cache",), id="cache off"),
    ],
)
def test_what_a_result_rests_on_makes_it_another(workshop: CommandLine, change: tuple[str, ...]):
    run(workshop)

    computed, _ = run(workshop, *change)

    assert computed == every()


def test_another_source_is_computed_and_the_old_one_still_known(workshop: CommandLine):
    run(workshop)
    workshop.write("length.py", SOURCE.replace("len(output)", "-len(output)"))
    changed, results = run(workshop)
    workshop.write("length.py", SOURCE)
    back, _ = run(workshop)

    assert changed == every()
    assert results[0]["score"] == -1
    assert back == set()


def test_without_the_cache_nothing_is_kept(workshop: CommandLine):
    run(workshop, "--no-cache")

    assert not (workshop.folder / ".scorewright").exists()


def test_failures_are_never_kept(workshop: CommandLine):
    workshop.write(
        "length.py",
        "def evaluate(output):\n    return {'score': 1 / (len(output) % 2), 'explanation': ''}\n",
    )
    run(workshop)

    computed, results = run(workshop)

    assert computed == {str(n) for n in range(2, 41, 2)}
    assert {r["status"] for r in results if r["item_id"] in computed} == {"failed"}


def test_skips_are_kept(workshop: CommandLine):
    workshop.write("length.py", "def evaluate(output):\n    return {'skip': 'not this one'}\n")
    run(workshop)

    computed, results = run(workshop)

    assert computed == set()
    assert {r["reason"] for r in results} == {"not this one"}


def test_prints_are_kept(workshop: CommandLine):
    workshop.write("length.py", SOURCE.replace("    return", "    print(output)\n    return"))
    run(workshop)

    _, results = run(workshop)

    assert [r["output"] for r in results] == [f"{row['output']}\n" for row in ROWS]


@pytest.mark.parametrize(
    ("statement", "computed_again"),
    [
        ("datetime.datetime.now()", every()),
        ("datetime.date.today()", every()),
        ("datetime.datetime.fromisoformat('2026-01-01')", set[str]()),
        ("datetime.datetime.strptime('2026', '%Y').strftime('%d')", set[str]()),
        ("import time; time.time()", every()),
        ("__import__('time').time()", every()),
    ],
)
def test_what_asks_for_the_time_holds_for_its_run_alone(
    workshop: CommandLine, statement: str, computed_again: set[str]
):
    workshop.write("length.py", CLOCK.format(statement))
    run(workshop)

    computed, _ = run(workshop)

    assert computed == computed_again


def test_what_draws_random_numbers_is_bound_to_its_row(workshop: CommandLine):
    workshop.write(
        "length.py",
        "import random\n\ndef evaluate(output):\n    return {'score': random.random(), 'explanation': ''}\n",
    )
    _, before = run(workshop)
    again, after = run(workshop)
    workshop.write_rows("rows.jsonl", ROWS[::-1])
    moved, _ = run(workshop)

    assert again == set()
    assert unmarked(after) == unmarked(before)
    assert moved == every()


def test_the_row_s_number_does_not_run_into_what_comes_before_it(workshop: CommandLine):
    workshop.write(
        "length.py",
        "import random\n\ndef evaluate(x):\n    return {'score': random.random(), 'explanation': str(x)}\n",
    )
    workshop.write_rows("rows.jsonl", [{"x": 0}, {"x": 11}])
    run(workshop)
    workshop.write_rows("rows.jsonl", [{"x": 5}] * 11 + [{"x": 1}])

    computed, results = run(workshop)

    assert computed == every(12)
    assert results[-1]["explanation"] == "1"


@pytest.mark.parametrize("metric", [float("nan"), b"bytes", 2**64 - 1, msgspec.msgpack.Ext(1, b"")])
def test_a_forged_result_is_computed_again(workshop: CommandLine, metric: object):
    run(workshop, "--limit", "1")
    (path,) = (workshop.folder / ".scorewright" / "cache").glob("*.sqlite")
    forged = msgspec.msgpack.encode([[["scored", 9.0, None, {"m": metric}, "forged"], "", 0]])
    with closing(sqlite3.connect(path)) as connection, connection:
        (key,) = connection.execute("select key from result").fetchone()
        seal = blake2b(forged, key=key, digest_size=8).digest()
        connection.execute("update result set outcome = ?, seal = ?", (forged, seal))

    computed, results = run(workshop, "--limit", "1")

    assert computed == {"1"}
    assert results[0]["score"] == 1


def test_what_is_nondeterministic_is_not_kept(workshop: CommandLine):
    workshop.write(
        "length.py",
        "import json\n\ndef evaluate(output):\n    json.n = getattr(json, 'n', 0) + 1\n"
        "    return {'score': json.n, 'explanation': ''}\n",
    )
    run(workshop)

    computed, _ = run(workshop)

    assert computed == every()


def test_results_without_a_sandbox_are_neither_kept_nor_used(workshop: CommandLine):
    run(workshop)

    unsafe, _ = run(workshop, "--runner", "local")

    assert unsafe == every()


def test_javascript_is_reused_too(workshop: CommandLine):
    workshop.write(
        "length.js", "function evaluate(output) { return {score: output.length, explanation: ''}; }"
    )
    call = ("run", "length.js", "--data", "rows.jsonl", "--format", "json")
    workshop(*call)

    document = workshop(*call).document

    assert document["evaluators"][0]["reused"] == len(ROWS)
    assert document["evaluators"][0]["runner"]["tier"] == "deno"


def test_in_a_long_run_only_what_takes_time_is_kept(workshop: CommandLine):
    workshop.write_rows("rows.jsonl", [{"output": str(n)} for n in range(2001)])
    workshop.write(
        "slow.py",
        "def evaluate(output):\n    return {'score': sum(range(200000)), 'explanation': output}\n",
    )
    call = ("run", "length.py", "slow.py", "--data", "rows.jsonl", "--format", "json")
    workshop(*call)

    quick, slow = workshop(*call).document["evaluators"]

    assert quick["reused"] == 0
    assert slow["reused"] == 2001


def test_resume_keeps_its_own_results_first(workshop: CommandLine):
    run(workshop, "--limit", "10")
    text = (workshop.folder / "r.jsonl").read_text(encoding="utf-8")

    done = workshop(*RUN, "--resume", "--format", "json")

    assert done.document["kept"] == 10
    assert (workshop.folder / "r.jsonl").read_text(encoding="utf-8").startswith(text)


@pytest.mark.parametrize("content", [b"no database at all " * 100, b""])
def test_a_damaged_cache_costs_time_and_no_result(workshop: CommandLine, content: bytes):
    _, before = run(workshop)
    (path,) = (workshop.folder / ".scorewright" / "cache").glob("*.sqlite")
    path.write_bytes(content)

    damaged = workshop(*RUN)
    computed, after = run(workshop)
    again, _ = run(workshop)

    assert damaged.code == 0
    assert ("were not used" in damaged.stderr) == bool(content)
    assert unmarked(after)[0] | {"duration_ms": 0} == unmarked(before)[0] | {"duration_ms": 0}
    assert again == set()
    assert computed in (set(), every())


def test_a_place_that_cannot_be_written_costs_time_and_no_result(workshop: CommandLine):
    (workshop.folder / ".scorewright").write_text("a file", encoding="utf-8")

    done = workshop(*RUN)

    assert done.code == 0
    assert done.stderr.count("\n") == 1
    assert re.search("were not used: .scorewright/cache", done.stderr)
    assert len(workshop.results("r.jsonl")) == len(ROWS)


def test_a_cache_that_another_process_holds_costs_time_and_no_result(workshop: CommandLine):
    run(workshop)
    (path,) = (workshop.folder / ".scorewright" / "cache").glob("*.sqlite")
    workshop.write("length.py", f"{SOURCE}\n# another one\n")
    holder = sqlite3.connect(path)
    holder.execute("begin immediate")

    done = workshop(*RUN)
    holder.close()

    assert done.code == 0
    assert "database is locked" in done.stderr
    assert len(workshop.results("r.jsonl")) == len(ROWS)


def test_the_folder_keeps_itself_out_of_version_control(workshop: CommandLine):
    run(workshop)

    assert (workshop.folder / ".scorewright" / ".gitignore").read_text(encoding="utf-8") == "*\n"
