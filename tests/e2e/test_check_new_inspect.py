"""`check`, `new` and `datasets inspect`: what they show, and with which exit code."""

from __future__ import annotations

import gzip

import pytest

from command_line import CommandLine

CONVENTIONS = (
    "variables",
    "inputs_outputs_trace",
    "trace_object",
    "legacy_score",
    "legacy_correct_answer",
)
ENDINGS = {"python": ".py", "javascript": ".js", "typescript": ".ts"}
#: Every language with every convention that it has.
TEMPLATES = [
    (language, convention)
    for language in ENDINGS
    for convention in CONVENTIONS
    if language == "python" or convention != "trace_object"
]
SHOUTING = """\
raise SystemExit("a check runs nothing")

def evaluate(output: str, expected, limit=280, *, words: int = Param(3, "fewest words", min=1)):
    return {"score": 1, "explanation": ""}
"""


def test_check_shows_the_signature_and_runs_nothing(cli: CommandLine):
    cli.write("shouting.py", SHOUTING)

    run = cli("check", "shouting.py", "--format", "json")

    (entry,) = run.document
    assert run.code == 0, run.stderr
    assert set(entry) == {"path", "language", "convention", "variables", "params", "diagnostics"}
    assert (entry["path"], entry["language"]) == ("shouting.py", "python")
    assert entry["convention"] == "variables"
    assert [
        (v["name"], v["required"], v["default"], v["annotation"]) for v in entry["variables"]
    ] == [
        ("output", True, None, "str"),
        ("expected", True, None, None),
        ("limit", False, 280, None),
    ]
    assert [(p["key"], p["type"], p["default"], p["min"]) for p in entry["params"]] == [
        ("words", "integer", 3, 1)
    ]


def test_check_shows_a_person_the_same(cli: CommandLine):
    cli.write("shouting.py", SHOUTING)

    run = cli("check", "shouting.py")

    assert run.code == 0
    assert run.stdout.splitlines()[0] == "shouting.py: variables, ok"
    for part in ("output: str", "expected", "limit", "280", "words: integer", "fewest words"):
        assert part in run.stdout


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("def evalute(output): pass\n", 1, 1),
        ("\n\ndef evaluate(output:\n", 3, 13),
        ("def evaluate(a, *rest): pass\n", 1, 18),
        ("def evaluate(a):\n    yield 1\n", 1, 1),
        ("import numpy\ndef evaluate(a): pass\n", 1, 1),
        ("", 1, 1),
    ],
    ids=["no evaluate", "syntax error", "star", "generator", "import of a package", "empty"],
)
def test_check_finds_mistakes_with_line_and_column_and_exit_code_1(
    cli: CommandLine, source: str, line: int, column: int
):
    cli.write("wrong.py", source)
    cli.write("right.py", "def evaluate(output):\n    return {}\n")

    as_json = cli("check", "right.py", "wrong.py", "--format", "json")
    as_text = cli("check", "right.py", "wrong.py")

    right, wrong = as_json.document
    (found,) = wrong["diagnostics"]
    assert (as_json.code, as_text.code) == (1, 1)
    assert (right["convention"], right["diagnostics"]) == ("variables", [])
    assert set(found) == {"severity", "code", "message", "line", "column"}
    assert (found["severity"], found["line"], found["column"]) == ("error", line, column)
    assert found["code"]
    assert "wrong.py: no convention, 1 error\n" in as_text.stdout
    assert f"{line}:{column} {found['message']}" in as_text.stdout


def test_check_reads_definitions_and_takes_a_convention(cli: CommandLine):
    cli.write("judge.py", "def evaluate(inputs, outputs, trace):\n    return 1.0\n")
    cli.write("judge.yaml", "source: judge.py\nconvention: legacy_score\n")
    cli.write("broken.yaml", "source: judge.py\nscore_rnge: [0, 1]\n")

    found = cli("check", "judge.py", "judge.yaml", "--format", "json").document
    forced = cli("check", "judge.py", "--convention", "variables", "--format", "json").document
    broken = cli("check", "broken.yaml", "--format", "json")

    assert [entry["convention"] for entry in found] == ["inputs_outputs_trace", "legacy_score"]
    assert [entry["convention"] for entry in forced] == ["variables"]
    assert broken.code == 1
    assert 'did you mean "score_range"?' in broken.document[0]["diagnostics"][0]["message"]


@pytest.mark.parametrize(("language", "convention"), TEMPLATES)
def test_what_new_writes_checks_and_runs(cli: CommandLine, language: str, convention: str):
    cli.write_rows(
        "rows.jsonl",
        [
            {"output": "good", "expected": "good", "correct_answer": "good"},
            {"output": "bad", "expected": "good", "correct_answer": "good"},
        ],
    )

    written = cli("new", "fresh-one", "--language", language, "--convention", convention)
    command = written.stderr.partition("try it: scorewright ")[2].split()
    checked = cli("check", command[1], "--convention", convention, "--format", "json")
    run = cli(
        *[("rows.jsonl" if word == "YOUR_DATA.jsonl" else word) for word in command],
        *("--format", "json"),
    )

    (entry,) = checked.document
    assert (written.code, written.stdout) == (0, "")
    assert (checked.code, entry["language"], entry["diagnostics"]) == (0, language, [])
    assert run.code == 0, run.stderr
    assert run.document["evaluators"][0]["name"] == "fresh-one"
    assert run.document["evaluators"][0]["convention"] == convention
    assert run.summary["scored"] == 2
    assert run.summary["mean_score"] == (1 if convention == "trace_object" else 0.5)


@pytest.mark.parametrize(
    ("language", "convention"), [one for one in TEMPLATES if one[1] != "trace_object"]
)
def test_what_new_writes_skips_what_has_no_reference(
    cli: CommandLine, language: str, convention: str
):
    rows = [{"output": None, "expected": None, "correct_answer": None}]
    cli.write_rows("rows.jsonl", [*rows, {"output": "a", "expected": "a", "correct_answer": "a"}])
    file = f"fresh-one{ENDINGS[language]}"
    cli("new", "fresh-one", "--language", language, "--convention", convention)

    run = cli(
        *("run", file, "--convention", convention),
        *("--data", "rows.jsonl", "--format", "json"),
    )

    assert (run.summary["scored"], run.summary["skipped"], run.summary["failed"]) == (1, 1, 0)
    assert run.summary["mean_score"] == 1


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_values_that_are_no_text_are_compared_by_what_they_hold(cli: CommandLine, language: str):
    for convention in ("variables", "inputs_outputs_trace"):
        cli("new", convention, "--language", language, "--convention", convention)
    held = {"cities": ["Paris"]}
    cli.write_rows("rows.jsonl", [{"output": held, "expected": held, "correct_answer": held}])

    run = cli(
        *("run", f"variables{ENDINGS[language]}", f"inputs_outputs_trace{ENDINGS[language]}"),
        *("--data", "rows.jsonl", "--format", "json"),
    )

    assert [summary["mean_score"] for summary in run.document["summary"]] == [1, 1]


@pytest.mark.parametrize("language", ["javascript", "typescript"])
def test_new_refuses_a_convention_that_the_language_has_not(cli: CommandLine, language: str):
    run = cli("new", "fresh-one", "--language", language, "--convention", "trace_object")

    assert run.code == 2
    assert "trace_object is for Python only" in run.stderr
    assert "use --convention inputs_outputs_trace" in run.stderr
    assert list(cli.folder.iterdir()) == []


def test_new_tells_a_program_what_it_wrote(cli: CommandLine):
    run = cli("new", "fresh-one", "--convention", "legacy_score", "--format", "json")

    assert run.code == 0
    assert run.document == {
        "path": "fresh-one.py",
        "convention": "legacy_score",
        "language": "python",
    }
    assert (cli.folder / "fresh-one.py").exists()


def test_new_never_writes_over_a_file(cli: CommandLine):
    cli.write("mine.py", "precious\n")

    run = cli("new", "mine")

    assert run.code == 2
    assert "mine.py is there already" in run.stderr
    assert (cli.folder / "mine.py").read_text() == "precious\n"


@pytest.mark.parametrize("name", ["a", "1abc", "a b", "../up", "naïve", ""])
def test_new_refuses_what_is_no_name(cli: CommandLine, name: str):
    run = cli("new", name)

    assert run.code == 2
    assert "letter" in run.stderr
    assert list(cli.folder.iterdir()) == []


def test_inspect_shows_columns_types_and_the_first_rows(cli: CommandLine):
    rows = [
        {"text": f"t{n}", "number": n, "deep": {"a": [n]}, "maybe": n or None} for n in range(7)
    ]
    cli.write_rows("rows.jsonl", rows)

    run = cli("datasets", "inspect", "rows.jsonl", "--format", "json")
    table = cli("datasets", "inspect", "rows.jsonl")

    assert run.code == 0
    assert set(run.document) == {"rows", "columns", "sample", "notices"}
    assert run.document["rows"] == 7
    assert [(c["name"], c["nulls"]) for c in run.document["columns"]] == [
        ("text", 0),
        ("number", 0),
        ("deep", 0),
        ("maybe", 1),
    ]
    assert run.document["sample"] == rows[:5]
    assert "rows.jsonl: 7 rows, 4 columns, jsonl" in table.stdout
    assert '"t0"' in table.stdout


def test_inspect_says_what_was_odd(cli: CommandLine):
    cli.write("odd.csv", "a,a,\r\n1,2,3\r\n")

    run = cli("datasets", "inspect", "odd.csv", "--format", "json")
    table = cli("datasets", "inspect", "odd.csv")

    notices = run.document["notices"]
    assert run.code == 0
    assert notices
    assert {frozenset(notice) for notice in notices} == {frozenset({"line", "message"})}
    for notice in notices:
        assert notice["message"][:40] in table.stdout


def test_run_tells_the_notices_on_stderr(cli: CommandLine):
    cli.write("odd.csv", "output,output\r\n1,2\r\n")
    cli.write("fine.py", 'def evaluate(output):\n    return {"score": 1, "explanation": output}\n')

    run = cli("run", "fine.py", "--data", "odd.csv")

    assert run.code == 0
    assert run.stderr.startswith("note: odd.csv")
    assert "note:" not in run.stdout


@pytest.mark.parametrize("name", ["absent.csv", "broken.jsonl", "packed.jsonl.gz"])
def test_inspect_refuses_what_it_cannot_read(cli: CommandLine, name: str):
    cli.write("broken.jsonl", '{"a": 1}\n[2]\n')
    (cli.folder / "packed.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n')[:-9])

    run = cli("datasets", "inspect", name, "--format", "json")

    assert run.code == 2
    assert run.stdout == ""
    assert run.stderr.startswith(f"error: {name}: ")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "run",
        "check",
        "new",
        "datasets",
        "datasets inspect",
        "traces",
        "traces inspect",
        "runner",
        "runner check",
    ],
)
def test_every_command_has_help(cli: CommandLine, command: str):
    run = cli(*command.split(), "--help")

    assert (run.code, run.stderr) == (0, "")
    assert run.stdout.startswith(f"usage: scorewright {command}".rstrip())
    assert ("example:\n  scorewright" in run.stdout) is (
        command not in ("", "datasets", "traces", "runner")
    )
