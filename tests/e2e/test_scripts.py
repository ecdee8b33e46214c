"""JavaScript and TypeScript through the command line, and the samples of the documents in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import CommandLine

SHARED = Path(__file__).parents[2].parent / "shared"
ECHO = 'function evaluate(x) { return {score: x, explanation: "here"}; }'


# ---- through the command line ----------------------------------------------------------------------------


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_both_languages_run_side_by_side_and_agree(cli: CommandLine):
    cli.write(
        "same.js",
        "function evaluate(output, expected) { return {score: output === expected ? 1 : 0, explanation: ''}; }",
    )
    cli.write(
        "same.py",
        "def evaluate(output, expected):\n    return {'score': float(output == expected), 'explanation': ''}\n",
    )
    cli.write_rows("rows.jsonl", [{"output": n % 3, "expected": 1} for n in range(50)])

    done = cli(
        "run",
        "same.js",
        "same.py",
        "--data",
        "rows.jsonl",
        "--out",
        "out.jsonl",
        "--format",
        "json",
    )

    assert done.code == 0, done.stderr
    results = cli.results("out.jsonl")
    assert [r["score"] for r in results[::2]] == [r["score"] for r in results[1::2]]
    assert {r["runner"] for r in results} == {"deno", "jail"}
    tiers = [each["runner"]["tier"] for each in done.document["evaluators"]]
    assert tiers == ["deno", "jail"]


@pytest.mark.parametrize(
    ("file", "runner", "text"),
    [
        ("x.js", "jail", "it runs Python alone"),
        ("x.py", "deno", "it runs JavaScript and TypeScript alone"),
        ("x.ts", "jail", "it runs Python alone"),
        ("x.js", "local", "it runs Python alone, and this is JavaScript; use runner deno"),
    ],
)
def test_a_runner_refuses_a_language_that_it_does_not_take(
    cli: CommandLine, file: str, runner: str, text: str
):
    cli.write("x.js", ECHO)
    cli.write("x.ts", ECHO)
    cli.write("x.py", "def evaluate(x):\n    return {'score': 1, 'explanation': ''}\n")
    cli.write_rows("rows.jsonl", [{"x": 1}])

    done = cli("run", file, "--data", "rows.jsonl", "--runner", runner)

    assert done.code == 2
    assert text in done.stderr


# ---- the samples of the documents ---------------------------------------------------------------------------


def seed_sample(seed: str, start: str, end: str) -> str:
    """Cut a sample out of a page, from the line that starts it to the one that ends it."""
    path = SHARED / "seeds" / seed
    if not path.is_file():
        pytest.skip("needs the seeds beside the repository")
    lines = path.read_text(encoding="utf-8").split("\n")
    first = next(at for at, line in enumerate(lines) if line.startswith(start))
    last = next(at for at, line in enumerate(lines[first:], first) if line.startswith(end))
    tail = "module.exports = evaluate"
    kept = lines[first : last + 1]
    return "\n".join(tail if line.startswith(tail) else line for line in kept)


@pytest.mark.parametrize(
    "start",
    [
        "function evaluate(input, output, context) {",
        "function evaluate(input, output, context = null) {",
    ],
)
def test_the_javascript_samples_of_agentloop_run(cli: CommandLine, start: str):
    source = seed_sample("agentloop-code-evaluator.txt", start, "module.exports")
    cli.write("sample.js", source)
    cli.write_rows("rows.jsonl", [{"input": "q", "output": "an answer", "context": "c"}])

    done = cli("run", "sample.js", "--data", "rows.jsonl", "--out", "out.jsonl", "--format", "json")

    assert done.code == 0, done.stderr
    (result,) = cli.results("out.jsonl")
    assert result["status"] == "scored", result
    assert isinstance(result["explanation"], str)


def test_the_javascript_sample_of_agenta_runs(cli: CommandLine):
    source = seed_sample(
        "agenta-custom-code-evaluator.txt", "function evaluate(inputs, outputs, trace) {", "}"
    )
    cli.write("sample.js", source)
    cli.write_rows(
        "rows.jsonl", [{"inputs": {"correct_answer": "a"}, "outputs": "a", "trace": None}]
    )

    done = cli("run", "sample.js", "--data", "rows.jsonl", "--out", "out.jsonl", "--format", "json")

    assert done.code == 0, done.stderr
    (result,) = cli.results("out.jsonl")
    assert result["status"] == "scored", result


def test_the_typescript_sample_of_agenta_runs(cli: CommandLine):
    path = SHARED / "seeds" / "agenta-custom-code-evaluator.txt"
    if not path.is_file():
        pytest.skip("needs the seeds beside the repository")
    text = path.read_text(encoding="utf-8")
    start = text.index("function evaluate(\n")
    source = text[start : text.index("\n}\n", start) + 3]
    cli.write("sample.ts", source)
    cli.write_rows("rows.jsonl", [{"inputs": {"correct_answer": "a"}, "outputs": "b"}])

    done = cli("run", "sample.ts", "--data", "rows.jsonl", "--out", "out.jsonl", "--format", "json")

    assert done.code == 0, done.stderr
    (result,) = cli.results("out.jsonl")
    assert (result["score"], result["passed"]) == (0.0, False)


@pytest.mark.parametrize("layer", ["empty_root", "own_root"])
def test_a_root_of_its_own_can_be_insisted_on_by_either_name(cli: CommandLine, layer: str):
    cli.write("x.js", "function evaluate(x) { return {score: x, explanation: ''}; }")
    cli.write("y.py", "def evaluate(x):\n    return {'score': x, 'explanation': ''}\n")
    cli.write_rows("rows.jsonl", [{"x": 1}])
    call = ("run", "x.js", "y.py", "--data", "rows.jsonl", "--format", "json")
    tiers = {e["runner"]["tier"]: e["runner"]["layers"] for e in cli(*call).document["evaluators"]}
    if not ("own_root" in tiers["deno"] and "empty_root" in tiers["jail"]):
        pytest.skip("this machine gives no root of its own")

    run = cli(*call, env={"SCOREWRIGHT_RUNNER_REQUIRE": layer})

    assert run.code == 0, run.stderr


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("x.js", "evaluate = (x) => ({score: x, explanation: ''});"),
        ("x.js", "var evaluate;\nevaluate = function (x) { return {score: x, explanation: ''}; }"),
        ("x.js", "let evaluate;\nevaluate = (x) => ({score: x, explanation: ''});"),
        ("x.ts", "import { type Bar } from 'npm:bar';\nexport function evaluate(x: Bar) { return {score: x, explanation: ''}; }"),
        ("x.ts", "import type { Bar } from 'npm:bar';\nexport function evaluate(x: Bar) { return {score: x, explanation: ''}; }"),
        ("x.ts", "export { type Bar } from 'npm:bar';\nexport function evaluate(x: number) { return {score: x, explanation: ''}; }"),
    ],
)  # fmt: skip
def test_what_is_checked_well_runs_well(cli: CommandLine, name: str, source: str):
    cli.write(name, source)
    cli.write_rows("rows.jsonl", [{"x": 1}, {"x": 2}])

    checked = cli("check", name)
    run = cli("run", name, "--data", "rows.jsonl", "--format", "json")

    assert checked.code == 0, checked.stdout
    assert run.summary["mean_score"] == 1.5, run.summary


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("@dec class A {}", "decorators"),
        ("class A { @dec m() {} }", "decorators"),
        ("class A { accessor z = 1 }", "accessor"),
    ],
)
def test_what_the_engine_does_not_know_is_found_by_the_check(
    cli: CommandLine, line: str, said: str
):
    cli.write(
        "x.ts",
        f"const dec: any = () => {{}};\n{line}\nexport function evaluate(x: number) {{ return x; }}",
    )

    (document,) = cli("check", "x.ts", "--format", "json").document

    problem = document["diagnostics"][0]
    assert (problem["severity"], problem["line"]) == ("error", 2)
    assert said in problem["message"]
