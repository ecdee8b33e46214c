"""Whatever is wrong, one clear message, the right exit code, the other results intact, and nothing left behind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from command_line import CommandLine
from left_behind import run_watched

ROWS = [{"output": f"r{n}", "expected": f"r{n}"} for n in range(1, 21)]
FINE = 'def evaluate(output):\n    return {"score": 1, "explanation": output}\n'
NEEDS_EXPECTED = (
    'def evaluate(output, expected):\n    return {"score": 1, "explanation": expected}\n'
)
#: The row that the evaluators below go wrong at, and the line they do it in.
BAD_ROW, BAD_LINE = "5", 3


def test_what_is_left_behind_would_be_noticed(cli: CommandLine):
    cli.write_rows("rows.jsonl", ROWS[:1])
    cli.write(
        "litter.py",
        "import subprocess, tempfile\n"
        "def evaluate(output):\n"
        '    subprocess.Popen(["sleep", "60"], start_new_session=True)\n'
        "    tempfile.mkstemp(prefix='litter-')\n"
        "    open('dropped', 'w').close()\n"
        '    return {"score": 1, "explanation": "made a mess"}\n',
    )

    run, watched = run_watched(cli, "run", "litter.py", "--data", "rows.jsonl", "--runner", "local")

    assert run.code == 0, run.stderr
    assert [text for text in watched.left if text.startswith("process 'sleep 60")]
    assert [text for text in watched.left if text.startswith("file litter-")]
    assert "file dropped" in watched.left


CALLERS_MISTAKES: dict[str, tuple[list[str], list[str]]] = {
    "no evaluate": (
        ["typo.py"],
        ["typo.py:1:1: ", '"evaluate"', 'did you mean "evalute"?', "define evaluate("],
    ),
    "syntax error": (["syntax.py"], ["syntax.py:1:13: ", "syntax error", "never closed"]),
    "star arguments": (["star.py"], ["star.py:1:", "*args", "name each parameter"]),
    "unmapped variable": (
        ["needs.py", "--data", "bare.jsonl"],
        ['"expected" is required but unmapped', '"output"', "--map expected=", "default"],
    ),
    "map to no column": (
        ["fine.py", "--map", "output=ouput"],
        ['"output"', '"ouput"', 'did you mean "output"?'],
    ),
    "map no variable": (["fine.py", "--map", "outptu=output"], ['"outptu"', '"output"']),
    "map without a field": (["fine.py", "--map", "output"], ['"output"', "VARIABLE=FIELD"]),
    "no such param": (["fine.py", "--param", "k=1"], ["--param", '"k"']),
    "param out of range": (["limit.yaml", "--param", "most=0"], ['"most"', "0", "1"]),
    "no evaluator file": (["absent.py"], ["absent.py: ", "no such file", "check the path"]),
    "evaluator is a folder": (["folder.py"], ["folder.py: ", "directory"]),
    "evaluator is binary": (["binary.py"], ["binary.py", "UTF-8"]),
    "evaluator of another kind": (["rows.jsonl"], ["rows.jsonl: ", ".py"]),
    "import of a package": (["numpy_user.py"], ["numpy_user.py:1:", '"numpy"', "standard library"]),
    "no data file": (
        ["fine.py", "--data", "absent.jsonl"],
        ["absent.jsonl: ", "no such file", "check the path"],
    ),
    "data is a folder": (
        ["fine.py", "--data", "folder.jsonl", "--source", "dataset"],
        ["folder.jsonl: ", "directory"],
    ),
    "data is a folder without traces": (
        ["fine.py", "--data", "folder.jsonl"],
        ["folder.jsonl: ", "no file in it ends with"],
    ),
    "data is binary": (["fine.py", "--data", "binary.csv"], ["binary.csv: ", "binary"]),
    "data is empty": (["fine.py", "--data", "empty.jsonl"], ["empty.jsonl: ", "empty"]),
    "broken line": (["fine.py", "--data", "broken.jsonl"], ["broken.jsonl", "line 2"]),
    "out of no known form": (["fine.py", "--out", "results.txt"], ["results.txt", ".jsonl"]),
    "out into no folder": (["fine.py", "--out", "no/results.csv"], ["no/results.csv", "folder"]),
    "out is a folder": (["fine.py", "--out", "folder.jsonl"], ["folder.jsonl", "directory"]),
    "out is the data": (["fine.py", "--out", "rows.jsonl"], ["rows.jsonl", "the data"]),
    "resume without out": (["fine.py", "--resume"], ["--resume", "--out"]),
    "resume a table": (["fine.py", "--resume", "--out", "r.csv"], ["r.csv", ".jsonl"]),
    "resume what is no result": (
        ["fine.py", "--resume", "--out", "other.jsonl"],
        ["other.jsonl, line 1", "not a result"],
    ),
    "gate on no evaluator": (
        ["fine.py", "--fail-under", "fin=0.5"],
        ["--fail-under fin=0.5", 'did you mean "fine"?'],
    ),
    "gate without a number": (
        ["fine.py", "--fail-under", "fine=high"],
        ["fine=high", "EVALUATOR=NUMBER"],
    ),
    "unknown option": (["fine.py", "--speed", "9"], ["--speed", "scorewright --help"]),
    "unknown convention": (["fine.py", "--convention", "old"], ["'old'", "legacy_score"]),
    "unknown runner": (["fine.py", "--runner", "moat"], ["'moat'", "local"]),
    "no time": (["fine.py", "--timeout-s", "0"], ["--timeout-s", "0.05"]),
    "no time at all": (["fine.py", "--timeout-s", "soon"], ["--timeout-s", "'soon'", "seconds"]),
    "no workers": (["fine.py", "--workers", "0"], ["--workers", "less than 1"]),
}


@pytest.fixture
def workshop(cli: CommandLine) -> CommandLine:
    """A folder with everything the mistakes are made with."""
    cli.write_rows("rows.jsonl", ROWS)
    cli.write_rows("bare.jsonl", [{"output": "a"}])
    cli.write_rows("other.jsonl", [{"other": 1}])
    cli.write("broken.jsonl", '{"output": "a"}\n{"output": \n{"output": "c"}\n')
    cli.write("empty.jsonl", "")
    cli.write("fine.py", FINE)
    cli.write("needs.py", NEEDS_EXPECTED)
    cli.write("typo.py", "def evalute(output):\n    return 1\n")
    cli.write("syntax.py", "def evaluate(output:\n    return 1\n")
    cli.write("star.py", "def evaluate(*args):\n    return 1\n")
    cli.write("numpy_user.py", f"import numpy\n{FINE}")
    cli.write(
        "limit.py", 'def evaluate(output, most):\n    return {"score": 1, "explanation": ""}\n'
    )
    cli.write(
        "limit.yaml",
        "name: limit\nsource: limit.py\nparams: [{key: most, type: integer, min: 1}]\n",
    )
    for name in ("folder.py", "folder.jsonl"):
        (cli.folder / name).mkdir()
    for name in ("binary.py", "binary.csv"):
        (cli.folder / name).write_bytes(b"\x00\x01\xff\xfe\x80binary")
    return cli


@pytest.mark.parametrize("mistake", CALLERS_MISTAKES)
def test_a_callers_mistake_is_one_message_and_exit_code_2(workshop: CommandLine, mistake: str):
    arguments, parts = CALLERS_MISTAKES[mistake]
    data = [] if "--data" in arguments else ["--data", "rows.jsonl"]

    run, watched = run_watched(workshop, "run", *arguments, *data)

    assert run.code == 2
    assert run.stdout == ""
    assert run.stderr.startswith("error: ")
    assert run.stderr.count("\nerror: ") == 0
    assert "Traceback" not in run.stderr
    assert [part for part in parts if part not in run.stderr] == []
    assert watched.left == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["needs.py", "--data", "bare.jsonl"],
        ["absent.py", "--data", "rows.jsonl"],
        ["fine.py", "--data", "absent.jsonl"],
        ["fine.py", "--data", "rows.jsonl", "--fail-under", "other=1"],
    ],
    ids=" ".join,
)
def test_a_run_that_never_begins_leaves_earlier_results_alone(
    workshop: CommandLine, arguments: list[str]
):
    workshop.write("results.jsonl", "precious\n")

    run = workshop("run", *arguments, "--out", "results.jsonl")

    assert run.code == 2
    assert (workshop.folder / "results.jsonl").read_text() == "precious\n"


def test_every_unmapped_variable_of_every_evaluator_is_named_at_once(workshop: CommandLine):
    workshop.write("more.py", "def evaluate(answer, gold):\n    return 1\n")

    run = workshop("run", "needs.py", "more.py", "--data", "bare.jsonl")

    assert run.code == 2
    assert run.stderr.count("\n") == 2
    for name in ('"expected"', '"answer"', '"gold"'):
        assert name in run.stderr


def test_a_layer_that_does_not_exist_is_the_callers_mistake(workshop: CommandLine):
    run = workshop(
        "run",
        *("fine.py", "--data", "rows.jsonl", "--out", "results.jsonl"),
        env={"SCOREWRIGHT_RUNNER_REQUIRE": "moat"},
    )

    assert run.code == 2
    assert run.stdout == ""
    assert run.stderr.startswith("error: there is no layer 'moat'")
    assert run.stderr.count("\n") == 1
    assert not (workshop.folder / "results.jsonl").exists()


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_results_that_cannot_be_written_are_ours(workshop: CommandLine, ending: str):
    (workshop.folder / f"results.{ending}").symlink_to("/dev/full")

    run, watched = run_watched(
        workshop, "run", "fine.py", "--data", "rows.jsonl", "--out", f"results.{ending}"
    )

    assert run.code == 3
    assert run.stderr.startswith(f"error: results.{ending}: results cannot be written: ")
    assert "No space left" in run.stderr
    assert run.stderr.count("\n") == 1
    assert watched.left == []


# What an author's code does: (the body of its bad branch, failure code, parts of the message, has a line).
AUTHORS_MISTAKES: dict[str, tuple[str, str, list[str], bool]] = {
    "loops": ("while True: pass", "timeout", ["within 1 s", "--timeout-s"], True),
    "loops and swallows": (
        "while True:\n            try:\n                while True: pass\n            except BaseException: pass",
        "timeout",
        ["within 1 s"],
        False,
    ),
    "loops in C": (
        "'a' * 40 and __import__('re').match('(a*)*b', 'a' * 40)",
        "timeout",
        ["1 s"],
        False,
    ),
    "eats memory": (
        "[bytearray(1 << 20) for _ in range(1 << 20)]",
        "out_of_memory",
        ["--memory-mb"],
        True,
    ),
    "forks": ("import os; os.fork()", "author_error", ["processes", "--runner local"], True),
    "starts a program": (
        "import subprocess; subprocess.run(['true'])",
        "author_error",
        ["processes", "--runner local"],
        True,
    ),
    "reads a file": ("open('/etc/passwd')", "author_error", ["files", "--runner local"], True),
    "connects": (
        "import socket; socket.create_connection(('127.0.0.1', 9))",
        "author_error",
        ["network", "--runner local"],
        True,
    ),
    "looks a name up": (
        "import urllib.request; urllib.request.urlopen('http://example.com')",
        "author_error",
        ["network", "--runner local"],
        True,
    ),
    "calls sys.exit": ("import sys; sys.exit(3)", "author_error", ["sys.exit(3)"], True),
    "ends its process": ("import os; os._exit(3)", "author_error", ["exit code 3"], False),
    "crashes": (
        "import ctypes; ctypes.string_at(0)",
        "author_error",
        ["crashed the interpreter"],
        False,
    ),
    "returns NaN": (
        'return {"score": float("nan"), "explanation": ""}',
        "bad_return",
        ["score", "NaN", "finite"],
        False,
    ),
    "returns nothing": ("return None", "bad_return", ["returned nothing"], False),
    "returns too much": (
        'return {"score": 1, "explanation": "", "all": ["x" * 1000] * 20000}',
        "output_limit",
        [],
        False,
    ),
    "raises with other letters": (
        'raise ValueError("größer als erlaubt: 値 😀 " + chr(0xD83D))',
        "author_error",
        ["größer als erlaubt: 値 😀 "],
        True,
    ),
    "recurses": ("f = lambda: f(); f()", "author_error", ["recursion"], True),
    "returns itself": (
        'x = []; x.append(x); return {"score": 1, "explanation": "", "x": x}',
        "bad_return",
        ["x[0]"],
        False,
    ),
}


@pytest.mark.parametrize("mistake", AUTHORS_MISTAKES)
def test_what_an_evaluator_does_wrong_costs_it_one_result(cli: CommandLine, mistake: str):
    body, code, parts, has_line = AUTHORS_MISTAKES[mistake]
    cli.write_rows("rows.jsonl", ROWS)
    cli.write(
        "wrong.py",
        f'def evaluate(output):\n    if output == "r{BAD_ROW}":\n        {body}\n'
        '    return {"score": 1, "explanation": output}\n',
    )

    run, watched = run_watched(
        cli,
        *("run", "wrong.py", "--data", "rows.jsonl", "--out", "results.jsonl", "--format", "json"),
        *("--timeout-s", "1", "--memory-mb", "64"),
    )

    results = {result["item_id"]: result for result in cli.results("results.jsonl")}
    bad = results.pop(BAD_ROW)
    assert run.code == 0
    assert all(line.startswith("note: wrong.py, line 3: ") for line in run.stderr.splitlines())
    assert [r["explanation"] for r in results.values()] == [
        row["output"] for row in ROWS if row["output"] != f"r{BAD_ROW}"
    ]
    assert bad["status"] == "failed"
    assert bad["score"] is None
    assert bad["failure"]["code"] == code
    assert [part for part in parts if part not in bad["failure"]["message"]] == []
    assert bad["failure"]["line"] == (BAD_LINE if has_line else bad["failure"]["line"])
    (cause,) = run.summary["failures"]
    assert {name: cause[name] for name in ("code", "message", "line")} == {
        name: bad["failure"][name] for name in ("code", "message", "line")
    }
    assert (cause["count"], cause["first_item"]) == (1, int(BAD_ROW))
    assert watched.left == []


def test_an_evaluator_that_prints_a_gigabyte_keeps_its_result_and_the_head_of_its_prints(
    cli: CommandLine,
):
    cli.write_rows("rows.jsonl", ROWS)
    cli.write(
        "chatty.py",
        f'def evaluate(output):\n    if output == "r{BAD_ROW}":\n'
        '        for n in range(1024): print(n, "x" * (1 << 20))\n'
        '    return {"score": 1, "explanation": output}\n',
    )

    run, watched = run_watched(
        cli, "run", "chatty.py", "--data", "rows.jsonl", "--out", "results.jsonl"
    )

    results = cli.results("results.jsonl")
    chatty = results[int(BAD_ROW) - 1]["output"]
    assert run.code == 0
    assert [result["status"] for result in results] == ["scored"] * 20
    assert chatty.startswith("0 xxx")
    assert 8192 <= len(chatty) < 8500
    assert {r["output"] for r in results if r["item_id"] != BAD_ROW} == {""}
    assert watched.peak_mb < 200
    assert watched.left == []


@pytest.mark.parametrize(
    ("source", "code", "line", "part"),
    [
        ("x = 1 / 0\n", "author_error", 1, "division by zero"),
        ("while True: pass\n", "timeout", 1, "within 1 s"),
        ("import os; os._exit(9)\n", "author_error", None, "exit code 9"),
    ],
    ids=["raises", "loops", "exits"],
)
def test_an_evaluator_that_cannot_be_loaded_fails_every_row_once(
    cli: CommandLine, source: str, code: str, line: int | None, part: str
):
    cli.write_rows("rows.jsonl", ROWS)
    cli.write("wrong.py", source + FINE)
    cli.write("fine.py", FINE)

    run, watched = run_watched(
        cli,
        *("run", "wrong.py", "fine.py", "--data", "rows.jsonl", "--timeout-s", "1"),
        *("--format", "json"),
    )

    wrong, fine = run.document["summary"]
    (failure,) = wrong["failures"]
    assert run.code == 0
    assert (wrong["failed"], wrong["mean_score"]) == (20, None)
    assert (failure["code"], failure["line"], failure["count"]) == (code, line, 20)
    assert part in failure["message"]
    assert (fine["scored"], fine["failed"]) == (20, 0)
    assert watched.left == []


def test_a_mapped_field_that_is_absent_in_row_17_fails_row_17(cli: CommandLine):
    rows: list[dict[str, Any]] = [dict(row) for row in ROWS]
    del rows[16]["expected"]
    cli.write_rows("rows.jsonl", rows)
    cli.write("needs.py", NEEDS_EXPECTED)

    run = cli("run", "needs.py", "--data", "rows.jsonl", "--out", "results.jsonl")

    results = cli.results("results.jsonl")
    failed = [result for result in results if result["status"] == "failed"]
    assert run.code == 0
    assert len(results) == 20
    assert [result["item_id"] for result in failed] == ["17"]
    assert failed[0]["failure"]["code"] == "mapping_error"
    assert "expected" in failed[0]["failure"]["message"]
    assert "(first: row 17)" in run.stdout


def test_a_null_that_is_there_is_a_value(cli: CommandLine):
    cli.write("rows.jsonl", '{"output": "a", "expected": null}\n')
    cli.write(
        "needs.py",
        NEEDS_EXPECTED.replace('"explanation": expected', '"explanation": str(expected)'),
    )

    run = cli("run", "needs.py", "--data", "rows.jsonl", "--out", "results.jsonl")

    (result,) = cli.results("results.jsonl")
    assert run.code == 0
    assert (result["status"], result["explanation"]) == ("scored", "None")


def test_a_cell_of_100_mb_fails_its_row_alone(cli: CommandLine):
    cell = "x" * (100 << 20)
    with (cli.folder / "rows.jsonl").open("w") as file:
        for number, row in enumerate(ROWS, 1):
            file.write(json.dumps({"output": cell if number == 7 else row["output"]}) + "\n")
    cli.write("fine.py", FINE)

    run, watched = run_watched(
        cli, "run", "fine.py", "--data", "rows.jsonl", "--out", "results.jsonl"
    )

    results = cli.results("results.jsonl")
    assert run.code == 0, run.stderr
    assert [r["item_id"] for r in results if r["status"] != "scored"] == ["7"]
    assert results[6]["failure"]["code"] == "mapping_error"
    assert "104,857," in results[6]["failure"]["message"]
    assert "shorten" in results[6]["failure"]["message"]
    assert [r["explanation"] for r in results[7:]] == [row["output"] for row in ROWS[7:]]
    assert watched.peak_mb < 1000
    assert watched.left == []


@pytest.mark.parametrize("format_name", ["table", "json"])
def test_an_output_nobody_can_take_is_one_message(cli: CommandLine, format_name: str):
    cli.write_rows("rows.jsonl", ROWS)
    cli.write("fine.py", FINE)
    (cli.folder / "to_full.sh").write_text('exec "$@" > /dev/full\n')

    run = cli.through(
        ["sh", "to_full.sh"], "run", "fine.py", "--data", "rows.jsonl", "--format", format_name
    )

    assert run.code == 3
    assert run.stderr.startswith("error: ")
    assert "No space left" in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize("format_name", ["table", "json"])
def test_a_pipe_that_is_closed_early_ends_quietly(cli: CommandLine, format_name: str):
    cli.write_rows("rows.jsonl", ROWS)
    cli.write("fine.py", FINE)
    cli.write("to_nobody.sh", 'set -o pipefail; "$@" | true\n')

    run = cli.through(
        ["bash", "to_nobody.sh"], "run", "fine.py", "--data", "rows.jsonl", "--format", format_name
    )

    assert (run.code, run.stdout, run.stderr) == (3, "", "")
