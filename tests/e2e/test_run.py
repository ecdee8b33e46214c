"""`scorewright run`, from files and options to what is printed."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import polars as pl
import pytest

from command_line import CommandLine
from mixed_evaluators import FINE, ROWS, THREE, write_workshop


@pytest.fixture
def workshop(cli: CommandLine) -> CommandLine:
    return write_workshop(cli)


# ── What is printed ──────────────────────────────────────────────────────────────────────────────


def test_json_is_one_document_with_the_documented_keys(workshop: CommandLine):
    run = workshop("run", *THREE, "--data", "few.jsonl", "--format", "json")

    document = run.document
    assert run.code == 0
    assert run.stderr == ""
    assert run.stdout.count("\n") == 1
    assert {"items", "evaluators", "summary", "duration_s"} <= document.keys()
    assert document["items"] == 20
    assert [e["name"] for e in document["evaluators"]] == ["length", "profile", "faithful"]
    for evaluator in document["evaluators"]:
        assert {"name", "version", "digest", "convention", "language", "level", "runner"} <= set(
            evaluator
        )
        assert evaluator["runner"]["tier"] == "jail"
        assert {"seccomp", "no_new_privs"} <= set(evaluator["runner"]["layers"])
    for summary in document["summary"]:
        assert set(
            "evaluator scored skipped failed out_of_range mean_score mean_normalised mean_interval "
            "pass_rate pass_rate_interval metrics failures".split()
        ) <= set(summary)
        assert summary["scored"] + summary["skipped"] + summary["failed"] == 20
    for failure in document["summary"][1]["failures"]:
        assert {"code", "message", "count", "line"} <= failure.keys()


def test_the_report_says_all_that_was_decided_for_the_run(workshop: CommandLine):
    bounds = ("--timeout-s", "2.5", "--memory-mb", "64")
    call = ("run", "length.py", "--data", "few.jsonl", *bounds, "--format", "json")

    document = workshop(*call).document

    assert document["limits"] == {"timeout_s": 2.5, "memory_mb": 64, "max_output_bytes": 8192}
    assert re.fullmatch(r"cpython \d+\.\d+\.\d+", document["evaluators"][0]["runner"]["engine"])


def test_every_key_of_the_report_is_documented(workshop: CommandLine):
    page = Path(__file__).parents[2] / "docs" / "reference" / "results.md"
    documented = set(re.findall("`([a-z_0-9]+)`", page.read_text(encoding="utf-8")))

    document = workshop("run", "length.py", "--data", "few.jsonl", "--format", "json").document

    (evaluator,), (summary,) = document["evaluators"], document["summary"]
    assert {*document, *evaluator, *evaluator["runner"], *summary} - documented == set()


def test_every_number_of_the_summary_comes_from_the_results(workshop: CommandLine):
    run = workshop(
        "run", "profile.py", "--data", "rows.jsonl", "--out", "r.jsonl", "--format", "json"
    )

    results, summary = workshop.results("r.jsonl"), run.summary
    status = [r["status"] for r in results]
    scores = [r["score"] for r in results if r["status"] == "scored" and not r["out_of_range"]]
    verdicts = [r["passed"] for r in results if r["passed"] is not None]
    metrics = summary["metrics"]
    assert summary["scored"] == status.count("scored")
    assert summary["skipped"] == status.count("skipped") > 0
    assert summary["failed"] == status.count("failed") > 0
    assert summary["out_of_range"] == sum(r["out_of_range"] for r in results) > 0
    assert summary["mean_score"] == pytest.approx(sum(scores) / len(scores))
    assert summary["mean_n"] == len(scores)
    assert summary["pass_rate"] == pytest.approx(verdicts.count(True) / len(verdicts))
    assert (
        summary["pass_rate_interval"][0] < summary["pass_rate"] < summary["pass_rate_interval"][1]
    )
    assert {name: metric["type"] for name, metric in metrics.items()} == {
        "big": "number",
        "deep.flag": "boolean",
        r"deep.with\.dot": "json",
        "deep.list": "json",
        "text": "string",
    }
    assert metrics["text"]["count"] == len(scores)


@pytest.mark.parametrize("form", ["table", "json"])
def test_what_is_odd_about_data_and_code_is_said_on_stderr(cli: CommandLine, form: str):
    cli.write("rows.csv", "outputs,\n1,\n0,\n")
    cli.write(
        "odd.py",
        "def evaluate(inputs, outputs, trace):\n    return 0\n\n"
        "def evaluate(inputs, outputs, trace):\n    return float(outputs) % 2\n",
    )

    run = cli("run", "odd.py", "--data", "rows.csv", "--format", form)

    of_data, of_code = run.stderr.splitlines()
    assert run.code == 0
    assert of_data.startswith("note: rows.csv: dropped ")
    assert of_code.startswith("note: odd.py, line 4: evaluate is defined again here")


def test_a_run_without_sandbox_says_so_everywhere(workshop: CommandLine):
    common = ("run", "length.py", "--data", "few.jsonl", "--runner", "local")

    table = workshop(*common, "--out", "r.jsonl")
    document = workshop(*common, "--format", "json").document

    assert (table.code, table.stderr) == (0, "")
    assert "NO SANDBOX" in table.stdout.splitlines()[0]
    assert "sandbox: " not in table.stdout
    assert "clock" not in table.stdout
    assert {r["runner"] for r in workshop.results("r.jsonl")} == {"local: no sandbox"}
    assert document["evaluators"][0]["runner"]["tier"] == "local"
    assert document["evaluators"][0]["runner"]["layers"] == []


def test_the_environment_can_choose_a_runner_but_not_do_without_a_sandbox(workshop: CommandLine):
    command = ("run", "length.py", "--data", "few.jsonl")

    jailed = workshop(*command, env={"SCOREWRIGHT_RUNNER": "jail"})
    refused = workshop(*command, env={"SCOREWRIGHT_RUNNER": "local"})

    assert jailed.code == 0
    assert "sandbox: jail" in jailed.stdout
    assert (refused.code, refused.stdout) == (2, "")
    assert "SCOREWRIGHT_RUNNER=local" in refused.stderr
    assert "--runner local" in refused.stderr


def test_a_table_without_rows_has_no_mean_and_is_fine(workshop: CommandLine):
    workshop.write("none.csv", "output,expected\n")

    run = workshop("run", "length.py", "--data", "none.csv", "--out", "r.jsonl", "--format", "json")
    table = workshop("run", "length.py", "--data", "none.csv")

    assert (run.code, table.code) == (0, 0)
    assert run.document["items"] == 0
    assert run.summary["scored"] == 0
    assert run.summary["mean_score"] is None
    assert run.summary["mean_interval"] is None
    assert run.summary["pass_rate"] is None
    assert workshop.results("r.jsonl") == []
    assert "no score" in table.stdout


# ── What can be said about a run ─────────────────────────────────────────────────────────────────


def test_evaluators_of_the_same_name_are_numbered_and_addressed_apart(cli: CommandLine):
    cli.write_rows("rows.jsonl", [{"output": "ab", "other": "abcd"}])
    for folder in ("one", "two"):
        (cli.folder / folder).mkdir()
        cli.write(f"{folder}/length.py", FINE)

    run = cli(
        *("run", "one/length.py", "two/length.py", "--data", "rows.jsonl", "--format", "json"),
        *("--map", "length-2.output=other", "--fail-under", "length-2=4"),
    )

    assert run.code == 0, run.stderr
    assert [(s["evaluator"], s["mean_score"]) for s in run.document["summary"]] == [
        ("length", 2.0),
        ("length-2", 4.0),
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("answer", "a column"),
        ("meta.tags[1]", "second"),
        ("meta.tags[-1]", "third"),
        ("a.b", "dotted column"),
        ('"a text"', "a text"),
        ("42", 42),
        ("null", None),
        ('{"a": [1]}', {"a": [1]}),
    ],
)
def test_a_variable_takes_a_column_a_path_or_a_constant(
    cli: CommandLine, field: str, value: object
):
    row = {
        "answer": "a column",
        "meta": {"tags": ["first", "second", "third"]},
        "a.b": "dotted column",
    }
    cli.write_rows("rows.jsonl", [row])
    cli.write(
        "echo.py", 'def evaluate(given):\n    return {"score": 1, "explanation": repr(given)}\n'
    )

    run = cli(
        "run", "echo.py", "--data", "rows.jsonl", "--out", "r.jsonl", "--map", f"given={field}"
    )

    (result,) = cli.results("r.jsonl")
    assert run.code == 0, run.stderr
    assert result["explanation"] == repr(value)


def test_a_config_param_is_typed_and_reaches_the_code(workshop: CommandLine):
    scores = [
        workshop("run", "faithful.py", "--data", "few.jsonl", "--format", "json", *extra).summary
        for extra in ([], ["--param", "least=8"], ["--param", "faithful.least=0"])
    ]
    refused = workshop("run", "faithful.py", "--data", "few.jsonl", "--param", "least=many")

    longer = [sum(len(row["output"]) >= n for row in ROWS[:20]) / 20 for n in (4, 8, 0)]
    assert [s["mean_score"] for s in scores] == pytest.approx(longer)
    assert refused.code == 2
    assert '"least"' in refused.stderr
    assert '"many"' in refused.stderr


def test_the_convention_can_be_named(cli: CommandLine):
    cli.write_rows("rows.jsonl", [{"outputs": 1}, {"outputs": 2}])
    cli.write(
        "older.py",
        "def evaluate(inputs, outputs, trace):\n"
        '    return True if outputs == 1 else {"score": 1.0}\n',
    )

    detected = cli("run", "older.py", "--data", "rows.jsonl", "--format", "json")
    named = cli(
        *("run", "older.py", "--data", "rows.jsonl", "--format", "json"),
        *("--convention", "legacy_score", "--out", "r.jsonl"),
    )

    boolean, dictionary = cli.results("r.jsonl")
    assert detected.document["evaluators"][0]["convention"] == "inputs_outputs_trace"
    assert named.document["evaluators"][0]["convention"] == "legacy_score"
    assert (boolean["status"], boolean["score"]) == ("scored", 1.0)
    assert dictionary["failure"]["code"] == "bad_return"


@pytest.mark.parametrize(("limit", "items"), [("0", 0), ("3", 3), ("20", 20), ("99", 20)])
def test_a_limit_takes_the_first_rows(workshop: CommandLine, limit: str, items: int):
    run = workshop(
        *("run", "length.py", "--data", "few.jsonl", "--limit", limit),
        *("--format", "json", "--out", "r.jsonl"),
    )

    assert run.document["items"] == items
    assert run.document["complete"] is True
    assert [r["item_id"] for r in workshop.results("r.jsonl")] == [
        str(n) for n in range(1, items + 1)
    ]


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet"])
@pytest.mark.parametrize("packed", ["", ".gz"], ids=["plain", "gzipped"])
def test_every_form_of_data_gives_the_same_results(workshop: CommandLine, form: str, packed: str):
    path = workshop.folder / f"data.{form}"
    frame = pl.DataFrame(ROWS[:20])
    match form:
        case "jsonl":
            frame.write_ndjson(path)
        case "json":
            frame.write_json(path)
        case "csv":
            frame.write_csv(path)
        case _:
            frame.write_parquet(path)
    if packed:
        path = path.with_name(path.name + packed)
        path.write_bytes(gzip.compress(path.with_suffix("").read_bytes()))

    run = workshop("run", "length.py", "--data", path.name, "--out", "r.jsonl")

    scores = [r["score"] for r in workshop.results("r.jsonl")]
    assert run.code == 0, run.stderr
    # An empty cell of CSV is an empty text.
    assert scores == [len(row["output"]) for row in ROWS[:20]]


def test_a_definition_sets_range_threshold_params_and_mapping(cli: CommandLine):
    rows = [
        {"reply": "x" * n, "points": points} for n, points in enumerate([0, 50, 49.5, 100, 120])
    ]
    cli.write_rows("rows.jsonl", rows)
    cli.write(
        "points.py",
        "def evaluate(output, given, bonus=0):\n"
        '    return {"score": given + bonus, "explanation": output, "bonus": bonus}\n',
    )
    cli.write(
        "points.yaml",
        "name: Points-of-100\n"
        "source: points.py\n"
        "score_range: [0, 100]\n"
        "threshold: 50\n"
        "params: [{key: bonus, type: integer, default: 0, min: 0, max: 10}]\n"
        "mapping: {output: reply, given: points}\n",
    )

    run = cli("run", "points.yaml", "--data", "rows.jsonl", "--out", "r.jsonl", "--format", "json")
    table = cli("run", "points.yaml", "--data", "rows.jsonl", "--param", "bonus=1")

    results, summary = cli.results("r.jsonl"), run.summary
    assert summary["evaluator"] == "Points-of-100"
    assert [(r["score"], r["normalised_score"], r["passed"]) for r in results] == [
        (0, 0.0, False),
        (50, 0.5, True),
        (49.5, 0.495, False),
        (100, 1.0, True),
        (120, None, None),
    ]
    assert (summary["scored"], summary["out_of_range"]) == (5, 1)
    assert summary["mean_score"] == pytest.approx(199.5 / 4)
    assert summary["mean_normalised"] == pytest.approx(1.995 / 4)
    assert (summary["pass_rate"], summary["pass_rate_n"]) == (0.5, 4)
    assert "3 of 5" in table.stdout
    assert "2 out of range" in table.stdout
