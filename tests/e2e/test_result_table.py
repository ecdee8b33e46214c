"""What `scorewright run` prints for people: complete on any terminal, and no more than is known."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import termios
from contextlib import suppress
from itertools import pairwise

import pytest

from command_line import PROGRAM, CommandLine, environment


def on_terminal(cli: CommandLine, columns: int, *arguments: str) -> str:
    """Run a command whose output is a terminal; return what it shows, without colours."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (50, columns))
    command = subprocess.Popen(
        [*PROGRAM, *arguments],
        cwd=cli.folder,
        env={**environment({"TERM": "xterm"}), "COLUMNS": "", "LINES": ""},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    read: list[bytes] = []
    # The other end is closed: Linux says so by an error.
    with suppress(OSError):
        while part := os.read(ours, 65536):
            read.append(part)
    os.close(ours)
    _, errors = command.communicate()
    assert (command.returncode, errors) == (0, b"")
    shown = b"".join(read).decode().replace("\r\n", "\n")
    return re.sub(r"\x1b\[[0-9;]*m", "", shown)


def cells_of(table: str, evaluator: str) -> str:
    """Join an evaluator's cells after its name: `|` between cells, `␤` between lines of one."""
    lines = table.split("\n\n")[1].splitlines()
    assert lines[1].startswith(evaluator)
    # A cell ends where its heading does, but for the last one: numbers stand to the right.
    ends = [match.end() for match in re.finditer(r"\S+( \S+)*", lines[0])][:-1]
    cells: list[str] = []
    for start, end in pairwise(ends):
        parts = [line[start:end].strip() for line in lines[1:]]
        cells.append(" ␤ ".join(filter(None, parts)))
    return " | ".join(cells)


def test_the_table_reads_as_documented(cli: CommandLine):
    cli.write_rows("rows.jsonl", [{"outputs": n} for n in range(1, 13)])
    cli.write(
        "grade.py",
        "def evaluate(inputs, outputs, trace):\n"
        "    if outputs > 10:\n"
        '        raise ValueError("too many")\n'
        "    if outputs == 10:\n"
        '        return EvalResult.skip("ten is odd")\n'
        "    if outputs == 9:\n"
        "        return 9\n"
        '    return {"score": outputs % 2, "even": outputs % 2 == 0, "size": outputs}\n',
    )

    run = cli("run", "grade.py", "--data", "rows.jsonl", "--out", "results.jsonl")

    timeless = re.sub(r"in \d+\.\d+ s, sandbox: jail, .*", "in … s, sandbox: …", run.stdout)
    timeless = re.sub(r"(slowest: row )(.*)", r"\1…", timeless)
    assert run.code == 0
    assert run.stderr == ""
    assert [line.rstrip() for line in timeless.splitlines()] == [
        "12 rows in … s, sandbox: …",
        "",
        "evaluator  mean (95 %)               n                       passed  failed  skipped  distribution",
        "grade       0.5 ± 0.45         8 of 12  ≥ 0.5: 50% (22%–78%), n = 8       2        1  0 █        █ 1",
        "                        1 out of range",
        "",
        "metric      type     value             n",
        "grade.even  boolean  50% true          8",
        "grade.size  number   mean 4.5, 1 to 8  8",
        "",
        "failures",
        "     2 × grade, line 3: author_error: ValueError: too many (first: row 11)",
        "",
        "slowest: row …",
        "",
        "12 results in results.jsonl",
    ]


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        (130, "evaluator mean (95 %) n passed failed skipped distribution"),
        (110, "evaluator mean (95 %) n passed failed skipped"),
        (80, "answers-within-a-tolerance"),
        (60, "answers-within-a-tolerance"),
    ],
)
def test_a_narrow_terminal_cuts_no_name_and_no_number(
    cli: CommandLine, columns: int, headings: str
):
    name = "answers-within-a-tolerance"
    cli.write_rows("rows.jsonl", [{"outputs": n} for n in range(1, 1201)])
    cli.write(
        f"{name}.py",
        "def evaluate(inputs, outputs, trace):\n"
        "    if outputs > 1100:\n"
        "        return 7\n"
        '    return {"score": outputs % 2, "size": outputs}\n',
    )
    cli.write(
        "odd.py",
        "def evaluate(inputs, outputs, trace):\n"
        '    return {"score": outputs % 2, "size": outputs}\n',
    )

    shown = on_terminal(cli, columns, "run", f"{name}.py", "odd.py", "--data", "rows.jsonl")

    lines, words = shown.splitlines(), " ".join(shown.split())
    first = lines[lines.index("") + 1]
    assert first.split() == headings.split()
    assert max(map(len, lines)) <= columns
    assert "…" not in shown
    for part in (
        *("1,100 of 1,200", "100 out of range", "1,200 of 1,200", "0.5 ± 0.03"),
        *("≥ 0.5: 50% (47%–53%), n = 1,100", "odd.size", "mean 600.5, 1 to 1200"),
    ):
        assert part in words


def test_a_block_is_one_evaluator_with_its_numbers_named(cli: CommandLine):
    cli.write_rows("rows.jsonl", [{"outputs": n % 2 + (n == 7)} for n in range(9)])
    cli.write("odd.py", "def evaluate(inputs, outputs, trace):\n    return outputs\n")

    shown = on_terminal(cli, 60, "run", "odd.py", "--data", "rows.jsonl")

    assert [line.rstrip() for line in shown.split("\n\n")[1].splitlines()] == [
        "odd",
        "  mean (95 %)   0.375 (0–0.808)",
        "  n             8 of 9, 1 out of range",
        "  passed        ≥ 0.5: 38% (14%–69%), n = 8",
        "  failed        0",
        "  skipped       0",
        "  distribution  0 █        ▅ 1",
    ]


@pytest.mark.parametrize(
    ("score_range", "returned", "row"),
    [
        # 99.7 % is not all, and the end of the range is not reached.
        ("[0, 1]", [1] * 299 + [0], "0.997 (0.99–1) | 300 of 300 | ≥ 0.5: 99.7% (98%–99.9%)"),
        ("[0, 100]", [20, 100, 100], "73.3 (0–100) ␤ of 0–100; normalised 0.733 | 3 of 3 | ≥ 50: "),
        ("[-1, 1]", [-1, 1, -1, 1], "0 (-1 to 1) ␤ of -1 to 1; normalised 0.5 | 4 of 4 | ≥ 0: 50"),
        # Equal scores tell nothing of the spread.
        ("[0, 1]", [1, 1, 1], "1 | 3 of 3 | ≥ 0.5: 100% (44%–100%), n = 3"),
        ("[0, 1]", [5, 5, 5, 5, None, None, None], "no score | 0 of 7 ␤ 4 out of range | no verd"),
        ("[0, 1]", [True, False], "no score | – | 50% (9%–91%), n = 2"),
        ("[0, 1]", [{"size": 1}], "no score | – | no verdict"),
    ],
)
def test_the_table_says_no_more_than_is_known(
    cli: CommandLine, score_range: str, returned: list[object], row: str
):
    cli.write_rows("rows.jsonl", [{"outputs": value} for value in returned])
    cli.write(
        "judge.py",
        "def evaluate(inputs, outputs, trace):\n"
        '    return EvalResult.skip("none") if outputs is None else outputs\n',
    )
    cli.write("judge.yaml", f"name: judge\nsource: judge.py\nscore_range: {score_range}\n")

    run = cli("run", "judge.yaml", "--data", "rows.jsonl")

    assert cells_of(run.stdout, "judge").startswith(row)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([True] * 299 + [False], "99.7% true"),
        ([1, 2, "n/a", 4], "3 numbers, 1 text"),
        ([1] * 9999 + [0], "mean 0.9999, 0 to 1"),
        ([1] * 99999 + [0], "mean 0.99999, 0 to 1"),
    ],
)
def test_a_metric_says_no_more_than_is_known(cli: CommandLine, values: list[object], shown: str):
    cli.write_rows("rows.jsonl", [{"outputs": value} for value in values])
    cli.write("judge.py", 'def evaluate(inputs, outputs, trace):\n    return {"m": outputs}\n')

    run = cli("run", "judge.py", "--data", "rows.jsonl")

    (line,) = [line for line in run.stdout.splitlines() if line.startswith("judge.m ")]
    assert shown in line


def test_the_heading_names_the_clock_that_the_code_saw(cli: CommandLine):
    cli.write_rows("rows.jsonl", [{"outputs": 1}])
    cli.write(
        "clock.py",
        "import time\n"
        "def evaluate(inputs, outputs, trace):\n"
        '    return {"score": 1, "explanation": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}\n',
    )

    run = cli("run", "clock.py", "--data", "rows.jsonl", "--out", "r.jsonl")

    (result,) = cli.results("r.jsonl")
    assert run.stdout.splitlines()[0].startswith("1 row in ")
    assert f", clock {result['explanation']}" in run.stdout
    assert run.stdout.endswith("\n1 result in r.jsonl\n")


def test_results_kept_from_a_run_without_sandbox_are_said_to_be(cli: CommandLine):
    cli.write_rows("rows.jsonl", [{"outputs": 1}])
    cli.write("odd.py", "def evaluate(inputs, outputs, trace):\n    return outputs % 2\n")
    common = ("run", "odd.py", "--data", "rows.jsonl", "--out", "r.jsonl")
    cli(*common, "--runner", "local")

    unsafe = cli(*common, "--resume")
    (cli.folder / "r.jsonl").unlink()
    cli(*common)
    safe = cli(*common, "--resume")

    warning = "some of them WITHOUT SANDBOX (local: no sandbox)"
    kept = "1 result kept from the earlier run"
    assert [line for line in unsafe.stdout.splitlines() if kept in line] == [f"{kept}, {warning}"]
    assert [line for line in safe.stdout.splitlines() if kept in line] == [kept]
