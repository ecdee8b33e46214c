"""What the documentation says is so: its links, its code, its commands, its words."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import CommandLine, Finished, environment

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"))
)
COMMANDS = (
    "run",
    "check",
    "new",
    "datasets inspect",
    "traces inspect",
    "runner check",
    "serve",
    "worker",
    "demo",
    "migrate",
)


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    fences = re.findall(r"^```(.*)\n([\s\S]*?)^```$", text, re.MULTILINE)
    return [block for name, block in fences if name == language]


def without_code(text: str) -> str:
    return re.sub(r"^```.*\n[\s\S]*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE)


# ── Links ────────────────────────────────────────────────────────────────────────────────────────


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_every_link_between_pages_leads_somewhere(name: str):
    targets = re.findall(r"\]\(([^)\s]+)\)", page(name))

    dead: list[str] = []
    for target in (one for one in targets if not re.match(r"https?:|mailto:", one)):
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        if not file.exists() or (anchor and anchor not in anchors(file.read_text("utf-8"))):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("docs/")])
def test_every_page_can_be_reached_from_the_readme(name: str):
    reached = {"README.md"}
    found = list(reached)
    while found:
        here = found.pop()
        for target in re.findall(r"\]\(([^)#\s]+\.md)", page(here)):
            file = ((ROOT / here).parent / target).resolve()
            there = file.relative_to(ROOT.resolve()).as_posix()
            if file.exists() and there not in reached:
                reached.add(there)
                found.append(there)

    assert name in reached


# ── Code and commands ────────────────────────────────────────────────────────────────────────────


def run_lines(cli: CommandLine, block: str) -> list[Finished]:
    """Run the scorewright commands of a block, comments left out."""
    lines = [shlex.split(line, comments=True) for line in block.splitlines()]
    return [cli(*words[1:]) for words in lines if words and Path(words[0]).name == "scorewright"]


def test_the_evaluator_of_the_readme_does_what_its_commands_say(cli: CommandLine):
    source, _ = blocks(page("README.md"), "python")
    cli.write("exact.py", source)
    cli.write_rows(
        "answers.jsonl",
        [{"output": "Yes", "answer": "yes"}, {"output": "No", "answer": "yes"}],
    )
    (commands,) = [block for block in blocks(page("README.md"), "") if "exact.py" in block]

    check, run, gated = run_lines(cli, commands)

    assert (check.code, run.code, gated.code) == (0, 0, 1), (check, run, gated)
    assert "missed: exact mean score 0.5" in gated.stderr
    assert [r["score"] for r in cli.results("results.jsonl")] == [1, 0]


def test_the_python_of_the_readme_runs(cli: CommandLine):
    _, program = blocks(page("README.md"), "python")
    cli.write("program.py", program)

    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=cli.folder,
        env=environment(),
        capture_output=True,
        check=False,
        encoding="utf-8",
    )

    assert done.returncode == 0, done.stderr
    assert "'evaluator': 'polite'" in done.stdout
    assert "'mean_score': 0.5" in done.stdout


def test_the_tutorial_works_step_by_step(cli: CommandLine):
    text = page("docs/tutorial.md")
    (source,) = blocks(text, "python")
    (data,) = blocks(text, "json")
    check, look_and_run, message, gate = blocks(text, "")
    cli.write("cites_order.py", source)
    cli.write("answers.jsonl", data)

    (checked,) = run_lines(cli, check)
    looked, run = run_lines(cli, look_and_run)
    (gated,) = run_lines(cli, gate)
    cli.write("cites_order.py", broken(source, text))
    _, failed = run_lines(cli, look_and_run)
    cli.write("cites_order.py", source)
    (resumed,) = run_lines(cli, f"{gate.strip()} --resume")

    assert (checked.code, looked.code, run.code, failed.code) == (0, 0, 0, 0)
    for name in ("output  required", "expected  optional"):
        assert name in checked.stdout
    assert "2 rows, 2 columns" in looked.stdout
    assert "2 of 2" in run.stdout
    assert message.strip() in " ".join(failed.stdout.split())
    assert (gated.code, resumed.code) == (1, 1)
    assert "2 results kept" in resumed.stdout


def broken(source: str, text: str) -> str:
    """Put the tutorial's bad line first into its function."""
    line = re.search(r"^Put `([^`]+)` into the function", text, re.MULTILINE)
    assert line
    head, colon, body = source.partition("):\n")
    return f"{head}{colon}    {line[1]}\n{body}"


@pytest.mark.parametrize("name", PAGES)
def test_every_command_a_page_names_is_one(name: str):
    quoted = re.findall(
        r"^(?:\S*/)?scorewright ((?:[a-z]+ ?)+)|`scorewright ((?:[a-z]+ ?)+)",
        page(name),
        re.MULTILINE,
    )
    named = {(line or word).strip() for line, word in quoted}

    assert [
        one for one in named if not f"{one} ".startswith(tuple(f"{c} " for c in COMMANDS))
    ] == []


# ── The command line's reference ─────────────────────────────────────────────────────────────────


def options_in(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))


def sections() -> dict[str, str]:
    """Return the reference's text by command; what stands above the first is under no name."""
    intro, *parts = re.split(r"^## ", page("docs/reference/cli.md"), flags=re.MULTILINE)
    found = {"": intro}
    for part in parts:
        heading = re.match(r"`scorewright ((?:[a-z]+ ?)+)", part)
        assert heading, part
        found[heading[1].strip()] = part
    return found


def test_every_command_has_a_section_and_every_section_a_command():
    assert set(sections()) == {"", *COMMANDS}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented_and_every_documented_option_exists(
    cli: CommandLine, command: str
):
    told = sections()

    offered = options_in(cli(*command.split(), "--help").stdout)

    everywhere = {"--help", "--format", "--version"}
    assert offered - options_in(told[command]) - everywhere == set()
    assert options_in(told[command]) - offered == set()
    assert everywhere <= options_in(told[""])


def test_the_commands_offered_are_the_ones_documented(cli: CommandLine):
    top = cli("--help").stdout
    groups = {name.partition(" ")[0] for name in COMMANDS}

    offered = set(re.findall(r"^    ([a-z]+) ", top, re.MULTILINE))

    assert offered == groups
    for command in (name.split() for name in COMMANDS if " " in name):
        assert f"    {command[1]} " in cli(command[0], "--help").stdout


def test_defaults_in_the_reference_are_those_of_the_code(cli: CommandLine):
    text = " ".join(cli("run", "--help").stdout.split())
    table = sections()["run"]

    assert "(default: 10)" in text
    assert "(default: 256)" in text
    assert "(default: 0.05)" in text
    assert "| 10, 256 |" in table
    assert "| 0.05 |" in table


def test_every_environment_variable_is_documented():
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    read = {name for text in sources for name in re.findall(r'"(SCOREWRIGHT_[A-Z_]+)"', text)}

    pages = page("docs/reference/cli.md") + page("docs/how-to/operate.md")
    told = set(re.findall(r"SCOREWRIGHT_[A-Z_]+", pages))

    assert read
    assert told == read


def test_the_result_line_of_the_reference_has_the_keys_of_a_result(cli: CommandLine):
    (sample,) = blocks(page("docs/reference/cli.md"), "json")
    cli.write(
        "exact.py", 'def evaluate(output):\n    return {"score": 1, "explanation": "same text"}\n'
    )
    cli.write_rows("rows.jsonl", [{"output": "a"}])

    cli("run", "exact.py", "--data", "rows.jsonl", "--out", "r.jsonl")

    (result,) = cli.results("r.jsonl")
    assert list(json.loads(sample)) == list(result)


# ── Words ────────────────────────────────────────────────────────────────────────────────────────

WORDS = (
    "evaluator, evaluator version, calling convention, level, variable, config param, field, "
    "field mapping, item, dataset, column, filter, sample rate, trace, span, run, result, score, score range, normalised score, passed, "
    "threshold, metric, explanation, skipped, failed, summary, runner, sandbox, harness, layer, author, "
    "operator, reader"
).split(", ")
#: Words for the same ideas that others use, and this project does not.
NOT_OUR_WORDS = ("testset", "scorer", "grader", "test case", "rationale", "column binding")


def test_the_glossary_has_every_word():
    rows = re.findall(r"^\| ([^|]+) \|", page("docs/glossary.md"), re.MULTILINE)
    defined = {word.strip() for row in rows for word in row.split(",")}

    assert [word for word in WORDS if word not in defined] == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_uses_the_words_of_the_glossary(name: str):
    text = without_code(page(name)).lower()

    assert [word for word in NOT_OUR_WORDS if re.search(rf"\b{word}s?\b", text)] == []
