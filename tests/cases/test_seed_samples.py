"""Every Python sample of the three documents runs as it is printed there, and gives what its text promises."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from command_line import CommandLine, Finished
from seed_samples import SEEDS, agenta_samples, agentloop_sample, amp_sample, lines_of

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason="needs the seeds beside the repository")


def judge(
    cli: CommandLine, source: str, rows: list[dict[str, Any]], *options: str
) -> list[dict[str, Any]]:
    """Run a sample over rows and return its results."""
    cli.write_rows("rows.jsonl", rows)
    run = run_sample(cli, source, "--data", "rows.jsonl", *options)
    assert run.code == 0, run.stderr
    results = cli.results("results.jsonl")
    assert len(results) == len(rows)
    return results


def run_sample(cli: CommandLine, source: str, *options: str) -> Finished:
    cli.write("sample.py", source)
    return cli("run", "sample.py", "--out", "results.jsonl", "--format", "json", *options)


def variables_of(cli: CommandLine, source: str) -> dict[str, bool]:
    """Return which variables a sample has, and whether they are required."""
    cli.write("sample.py", source)
    (entry,) = cli("check", "sample.py", "--format", "json").document
    return {variable["name"]: variable["required"] for variable in entry["variables"]}


# ── Agenta ───────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def agenta(request: pytest.FixtureRequest) -> str:
    samples = agenta_samples()
    assert len(samples) == 4
    index: int = request.param
    return samples[index]


def agenta_trace(**units: dict[str, float]) -> dict[str, Any]:
    """A trace in the form that the page documents."""
    child: dict[str, Any] = {
        "name": "model call",
        "status_code": "OK",
        "attributes": {},
        "children": [],
    }
    root = {
        "name": "my_app",
        "start_time": "2025-01-15T10:30:00Z",
        "end_time": "2025-01-15T10:30:02.5Z",
        "status_code": "OK",
        "attributes": {"ag": {"data": {"outputs": "x"}, "metrics": {"unit": units}}},
        "children": [child],
    }
    return {"spans": {"a1": root, "b2": child}}


@pytest.mark.parametrize("agenta", [0], indirect=True)
def test_agenta_exact_match_reads_the_truth_from_the_testcase(cli: CommandLine, agenta: str):
    rows: list[dict[str, Any]] = [
        {"country": "France", "correct_answer": "Paris", "outputs": "Paris"},
        {"country": "France", "correct_answer": "Paris", "outputs": "paris"},
        {"country": "France", "correct_answer": {"city": "Paris"}, "outputs": {"city": "Paris"}},
        {"country": "Atlantis", "outputs": "nowhere"},
    ]

    results = judge(cli, agenta, rows)

    assert [(r["score"], r["passed"], r["metrics"]) for r in results] == [
        (1.0, True, {}),
        (0.0, False, {}),
        (1.0, True, {}),
        (0.0, False, {}),
    ]


@pytest.mark.parametrize("agenta", [1], indirect=True)
def test_agenta_multiple_metrics_are_columns_of_their_own(cli: CommandLine, agenta: str):
    rows: list[dict[str, Any]] = [
        {"outputs": "Agenta is here"},
        {"outputs": "x" * 281},
        {"outputs": {"text": "no brand"}},
    ]

    results = judge(cli, agenta, rows)

    assert [(r["status"], r["score"], r["passed"]) for r in results] == [("scored", None, None)] * 3
    assert [r["metrics"] for r in results] == [
        {"length_ok": True, "mentions_brand": True, "word_count": 3.0},
        {"length_ok": False, "mentions_brand": False, "word_count": 1.0},
        {"length_ok": True, "mentions_brand": False, "word_count": 3.0},
    ]
    assert {type(r["metrics"]["word_count"]) for r in results} == {float}


@pytest.mark.parametrize("agenta", [2], indirect=True)
@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
def test_agenta_latency_check_reads_seconds_of_the_first_span(
    cli: CommandLine,
    agenta: str,
    as_text: bool,  # noqa: FBT001 - a parameter of the test
):
    traces: list[Any] = [
        agenta_trace(duration={"total": 2.5}),
        agenta_trace(duration={"total": 5.0}),
        agenta_trace(duration={"total": 5.001}),
        agenta_trace(),
        {"spans": {}},
        None,
    ]
    rows: list[dict[str, Any]] = [
        {"outputs": "x", "trace": json.dumps(trace) if as_text and trace else trace}
        for trace in traces
    ]

    results = judge(cli, agenta, rows)

    assert [(r["score"], r["passed"]) for r in results] == [
        (1.0, True),
        (1.0, True),
        (0.0, False),
        (1.0, True),
        (0.0, False),
        (0.0, False),
    ]


@pytest.mark.parametrize("agenta", [3], indirect=True)
def test_agenta_token_budget_has_three_grades(cli: CommandLine, agenta: str):
    totals = (70, 500, 501, 750, 751)
    rows: list[dict[str, Any]] = [
        {"outputs": "x", "trace": agenta_trace(tokens={"prompt": 1, "total": total})}
        for total in totals
    ]

    results = judge(cli, agenta, [*rows, {"outputs": "x", "trace": None}])

    assert [(r["score"], r["passed"]) for r in results] == [
        (1.0, True),
        (1.0, True),
        (0.5, True),
        (0.5, True),
        (0.0, False),
        (0.5, True),
    ]


def agenta_legacy_signatures() -> tuple[str, str]:
    page = lines_of("agenta-custom-code-evaluator.txt")
    four, three = [line for line in page if re.fullmatch(r"def evaluate\(.*\) -> float:", line)]
    return four, three


def test_agenta_the_original_interface_keeps_working(cli: CommandLine):
    signature, _ = agenta_legacy_signatures()
    body = (
        "    assert app_params == {} and inputs['question']\n    return output == correct_answer\n"
    )
    rows = [
        {"question": "a?", "output": "a", "correct_answer": "a", "gold": "b"},
        {"question": "b?", "output": "b", "correct_answer": "a", "gold": "b"},
    ]

    results = judge(cli, f"{signature}\n{body}", rows)
    mapped = judge(cli, f"{signature}\n{body}", rows, "--map", "correct_answer=gold")

    assert [(r["status"], r["score"]) for r in results] == [("scored", 1.0), ("scored", 0.0)]
    assert [r["score"] for r in mapped] == [0.0, 1.0]


def test_agenta_the_float_only_interface_keeps_returning_one_score(cli: CommandLine):
    _, signature = agenta_legacy_signatures()
    body = "    return {'score': 1.0} if outputs == 'dict' else len(outputs) / 4\n"
    rows = [{"outputs": "ab"}, {"outputs": "dict"}]

    number, dictionary = judge(cli, f"{signature}\n{body}", rows, "--convention", "legacy_score")

    assert (number["score"], number["passed"], number["metrics"]) == (0.5, True, {})
    assert dictionary["failure"]["code"] == "bad_return"
    assert "single score" in dictionary["failure"]["message"]


# ── AgentLoop ────────────────────────────────────────────────────────────────────────────────────


def scores_and_reasons(results: list[dict[str, Any]]) -> list[tuple[float, str]]:
    assert {r["status"] for r in results} == {"scored"}
    # Where the range is up to the code, there is neither a verdict nor a normalised score.
    assert {(r["passed"], r["normalised_score"]) for r in results} == {(None, None)}
    return [(r["score"], r["explanation"]) for r in results]


def test_agentloop_default_template(cli: CommandLine):
    sample = agentloop_sample("default template")

    results = judge(cli, sample, [{"input": "q", "output": "a"}, {"input": "", "output": None}])

    assert scores_and_reasons(results) == [(0, "Describe why this score was assigned")] * 2
    assert variables_of(cli, sample) == {"input": True, "output": True, "context": False}


def test_agentloop_format_validation(cli: CommandLine):
    outputs: list[Any] = [
        '{"title": "t", "items": [1, 2]}',
        {"title": "ü", "items": [1]},
        "{",
        "[]",
        '{"title": "t"}',
        "{}",
        '{"title": "t", "items": []}',
        '{"title": "t", "items": "ab"}',
    ]

    results = judge(
        cli,
        agentloop_sample("format validation"),
        [{"input": "q", "output": output} for output in outputs],
    )

    found = scores_and_reasons(results)
    assert found[2][0] == 0
    assert found[2][1].startswith("Output is not valid JSON: ")
    del found[2]
    assert found == [
        (1, "JSON is valid and contains title and 2 items"),
        (1, "JSON is valid and contains title and 1 items"),
        (0, "The top level of the output JSON is not an object"),
        (0, "Missing required fields: items"),
        (0, "Missing required fields: title, items"),
        (0, "items is not an array, or it is an empty array"),
        (0, "items is not an array, or it is an empty array"),
    ]


NUMERIC_ROWS = [
    {"output": "It is 1,000.5 USD", "truth": "1000"},
    {"output": 100, "truth": 100.09},
    {"output": "about 110", "truth": "100"},
    {"output": "-3", "truth": "3"},
    {"output": "many", "truth": 3},
    {"output": "3", "truth": "n/a"},
    {"output": "0.0005", "truth": 0},
]


def test_agentloop_numeric_tolerance_uses_the_code_s_default(cli: CommandLine):
    sample = agentloop_sample("numeric tolerance")

    results = judge(cli, sample, NUMERIC_ROWS, "--map", "expected=truth")

    assert scores_and_reasons(results) == [
        (1, "Numbers match: expected 1000, actual 1000.5"),
        (1, "Numbers match: expected 100.09, actual 100"),
        (0, "Deviation exceeds the limit: expected 100, actual 110, relative error 10.00%"),
        (0, "Deviation exceeds the limit: expected 3, actual -3, relative error 200.00%"),
        (0, "No number found in the model output"),
        (0, "No number found in the ground truth"),
        (1, "Numbers match: expected 0, actual 0.0005"),
    ]
    assert variables_of(cli, sample) == {"output": True, "expected": True, "tolerance": False}


def test_agentloop_numeric_tolerance_can_be_mapped(cli: CommandLine):
    sample = agentloop_sample("numeric tolerance")
    options = ("--map", "expected=truth", "--map", "tolerance=0.1")

    results = judge(cli, sample, NUMERIC_ROWS, *options)

    assert [r["score"] for r in results] == [1, 1, 1, 0, 0, 0, 1]


def test_agentloop_a_required_variable_that_is_unmapped_blocks_the_run(cli: CommandLine):
    cli.write_rows("rows.jsonl", NUMERIC_ROWS)

    run = run_sample(cli, agentloop_sample("numeric tolerance"), "--data", "rows.jsonl")

    assert run.code == 2
    assert '"expected" is required but unmapped' in run.stderr
    assert not (cli.folder / "results.jsonl").exists()


TOOL_ROWS: list[dict[str, Any]] = [
    {"output": "x", "trace": {"tool_context": [{"name": "search"}, {"name": "summarize"}]}},
    {"output": "x", "trace": {"tool_context": "search then nothing"}},
    {"output": "x", "trace": {"tool_context": [{"name": "mail", "arguments": "search"}]}},
    {"output": "x", "trace": {"tool_context": []}},
    {"output": "x", "trace": {"tool_context": None}},
    {"output": "x", "trace": {}},
]


def test_agentloop_tool_calling_reads_the_tool_context_of_a_trace(cli: CommandLine):
    sample = agentloop_sample("tool calling")

    results = judge(cli, sample, TOOL_ROWS, "--map", "context=trace.tool_context")

    none = (0.0, "Missing tool calls: search, summarize (0 of 2 matched)")
    half = (0.5, "Missing tool calls: summarize (1 of 2 matched)")
    assert scores_and_reasons(results) == [
        (1, "All required tools were called: search, summarize"),
        half,
        half,
        none,
        none,
        none,
    ]
    assert variables_of(cli, sample) == {"output": True, "context": False, "required_tools": False}


@pytest.mark.parametrize(
    ("tools", "score", "reason"),
    [
        (
            '" search , mail,translate"',
            0.33,
            "Missing tool calls: mail, translate (1 of 3 matched)",
        ),
        ('""', 1, "No required tools declared, so the record passes by default"),
    ],
)
def test_agentloop_tool_calling_takes_other_tools(
    cli: CommandLine, tools: str, score: float, reason: str
):
    options = ("--map", "context=trace.tool_context", "--map", f"required_tools={tools}")

    results = judge(cli, agentloop_sample("tool calling"), TOOL_ROWS[:1], *options)

    assert scores_and_reasons(results) == [(score, reason)]


def test_agentloop_the_same_data_give_the_same_results(cli: CommandLine):
    sample = agentloop_sample("format validation")
    rows = [
        {"input": n, "output": json.dumps({"title": n, "items": [n] * (n % 3)})} for n in range(50)
    ]

    first, second = judge(cli, sample, rows), judge(cli, sample, rows, "--workers", "1")

    for result in (*first, *second):
        del result["duration_ms"]
    assert first == second


# ── AMP ──────────────────────────────────────────────────────────────────────────────────────────


def test_amp_the_example_scores_json_and_skips_what_is_not_there(cli: CommandLine):
    rows: list[dict[str, Any]] = [
        {"input": "q", "output": '{"a": [1, 2]}'},
        {"input": "q", "output": "{'a': 1}"},
        {"input": "q", "output": {"structured": True}},
        {"input": "q", "output": ""},
        {"input": "q", "output": None},
        {"input": "q"},
    ]
    cli.write_rows("rows.jsonl", rows)

    run = run_sample(cli, amp_sample(), "--data", "rows.jsonl")

    results = cli.results("results.jsonl")
    assert run.code == 0, run.stderr
    assert run.document["evaluators"][0]["convention"] == "trace_object"
    assert [(r["status"], r["score"], r["passed"]) for r in results] == [
        ("scored", 1.0, True),
        ("scored", 0.0, False),
        ("scored", 1.0, True),
        *[("skipped", None, None)] * 3,
    ]
    assert [r["explanation"] for r in results[:3:2]] == ["Output is valid JSON"] * 2
    assert results[1]["explanation"].startswith("Invalid JSON: Expecting ")
    assert {r["reason"] for r in results[3:]} == {"No output to evaluate"}
    assert (run.summary["scored"], run.summary["skipped"]) == (3, 3)
    assert run.summary["mean_score"] == pytest.approx(2 / 3)


def test_amp_config_params_are_keyword_arguments_of_the_signature(cli: CommandLine):
    sample = amp_sample().replace("(trace: Trace)", "(trace: Trace, threshold: float = 0.5)")
    cli.write("sample.py", sample)
    cli.write_rows("rows.jsonl", [{"output": "{}"}])

    (entry,) = cli("check", "sample.py", "--format", "json").document
    refused = run_sample(cli, sample, "--data", "rows.jsonl", "--param", "threshold=high")

    assert [(p["key"], p["type"], p["default"]) for p in entry["params"]] == [
        ("threshold", "float", 0.5)
    ]
    assert refused.code == 2
    assert '"threshold"' in refused.stderr
