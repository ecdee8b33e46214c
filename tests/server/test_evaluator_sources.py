"""Sources over the interface: refused with a place, read as the command line reads them, kept to the letter."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from command_line import CommandLine
from evaluator_calls import EVALUATORS, SOURCE, create, edit, pointers, saved
from scorewright.domain.convention import Convention, Level
from scorewright.domain.evaluator import evaluator_from_source, load_evaluator
from scorewright.services.copilot_prompt import copilot_prompt
from scorewright.services.evaluator_templates import EvaluatorTemplate, templates
from scorewright.services.saved_evaluators import get
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id

TEMPLATES = list(templates())


def named(template: EvaluatorTemplate) -> str:
    return f"{template.convention}-{template.language}"


@pytest.mark.parametrize(
    ("fields", "pointer", "said"),
    [
        ({"source": "x = 1\n\ndef evaluate(a:\n"}, "/source", "draft-1:3:"),
        ({"source": "def evaluate(*a): return 1"}, "/source", "draft-1:1:15: "),
        ({"source": "import numpy\ndef evaluate(a): return 1"}, "/source", "draft-1:1:1: "),
        ({"source": ""}, "/source", "empty"),
        ({"source": "def evaluate(a): '\0'"}, "/source", "draft-1:1:19: the source holds a NUL"),
        ({"source": "a\ud800"}, "/source", "half of a character"),
        ({"source": "function evaluate(", "language": "javascript"}, "/source", "draft-1:1:"),
        ({"language": "perl"}, "/language", "python"),
        ({"convention": "trace_object", "source": "def evaluate(): 1"}, "/source", "trace_object"),
        ({"level": "agent"}, "/source", "trace_object"),
        ({"name": ""}, "/name", "1 character"),
        ({"name": None}, "/name", "display name"),
        ({"type": "llm_judge"}, "/type", "code"),
        ({"display_name": "x" * 129}, "/display_name", "128"),
        ({"description": "x" * 513}, "/description", "512"),
        ({"tags": ["a", " "]}, "/tags/1", "1 character"),
        ({"tags": ["a"] * 51}, "/tags", "50"),
        ({"tags": "a"}, "/tags", "list"),
        ({"threshold": "0.5"}, "/threshold", "finite number"),
        ({"threshold": True}, "/threshold", "finite number"),
        ({"threshold": 2, "score_range": [0, 1]}, "/threshold", "outside"),
        ({"score_range": [1, 0]}, "/score_range", "smaller"),
        ({"score_range": 1}, "/score_range", "range"),
        ({"mapping": {"outptu": "x"}}, "/mapping", 'did you mean "output"'),
        ({"mapping": {"output": "\ud800"}}, "/mapping", "half of a character"),
        ({"params": [{"key": "expected", "type": "int"}]}, "/params/0/type", "integer"),
        ({"params": [{"key": "expected", "type": "integer", "min": "1"}]}, "/params/0", "min"),
        ({"params": [{"key": "expected", "type": "string"}] * 2}, "/params/1", "twice"),
        ({"params": [{"key": "expected"}]}, "/params/0/type", "required"),
        ({"params": [{"key": "no", "type": "string"}]}, "/source", '"no"'),
        ({"colour": 1}, "/colour", "not permitted"),
    ],
)
def test_what_is_wrong_is_refused_and_pointed_at(
    fields: dict[str, Any], pointer: str, said: str, client: TestClient
):
    body = json.dumps({"source": SOURCE, "name": "draft-1", **fields})

    answer = client.post(EVALUATORS, content=body, headers={"Content-Type": "application/json"})

    assert (answer.status_code, pointers(answer)) == (422, [pointer])
    assert said in answer.json()["errors"][0]["detail"]
    assert client.get(f"{EVALUATORS}/draft-1").status_code == 404


@pytest.mark.parametrize(
    "name",
    [
        "ab",
        "1abc",
        "a b c",
        "../../etc",
        "a" * 129,
        "näme",
        "abc\n",
        "abc\x00",
        "templates",
        "<b>bold",
        "Copilot-Prompt",
        "'; drop table evaluators; --",
    ],
)
def test_hostile_names_are_refused_and_shown_without_harm(name: str, client: TestClient):
    answer = create(client, name)

    assert (answer.status_code, pointers(answer)) == (422, ["/name"])
    assert "\n" not in answer.json()["detail"]
    assert len(answer.json()["detail"]) < 300


def test_a_source_may_have_a_mebibyte_and_not_a_byte_more(client: TestClient):
    full = SOURCE + "#" * ((1 << 20) - len(SOURCE))

    assert saved(client, "full", source=full)["version"]["source"] == full
    answer = create(client, "more", source=full + "#")

    assert (answer.status_code, pointers(answer)) == (422, ["/source"])
    assert "1 MiB" in answer.json()["detail"]


@pytest.mark.parametrize(
    "value",
    ["[" * 5_000 + "]" * 5_000, "9" * 5_000, "1e999", "NaN", '"' + "\\u0000" * 9 + '"', "[[]]"],
)
def test_no_value_of_a_mapping_breaks_the_server(value: str, client: TestClient):
    body = f'{{"source": {json.dumps(SOURCE)}, "name": "abc", "mapping": {{"output": {value}}}}}'

    for path in ("", "/check"):
        headers = {"Content-Type": "application/json"}
        answer = client.post(EVALUATORS + path, content=body, headers=headers)
        assert answer.status_code in (200, 201, 400, 422)


@pytest.mark.parametrize(
    "default",
    [
        '"\\ud800"',
        '"\\0"',
        "Param('x', '\\ud800')",
        "1e999",
        "float('inf')",
        "['\\ud800']",
        "b'x'",
        "9" * 30,
        "Param(1, enum=['\\ud800'])",
        "{'\\ud800': 1}",
        "0.1",
        "[1, [2.0]]",
        "Param(True)",
    ],
)
def test_a_version_is_read_back_as_it_was_made(
    default: str, client: TestClient, database: Database
):
    source = f"def evaluate(trace: Trace, a={default}):\n    return 1\n"
    answer = create(client, "defaults", source=source)
    if answer.status_code == 422:
        assert pointers(answer) == ["/source"]
        return

    kept = get(database, project_id(database, "default"), "defaults")

    assert kept.version.evaluator == evaluator_from_source(source, name="defaults")


def test_the_digest_is_the_one_of_the_command_line(client: TestClient, tmp_path: Path):
    source = "def evaluate(output, least=3, mode='any', *, ratio=0.5):\r\n    return 1\r\n"
    params: list[dict[str, Any]] = [
        {"key": "least", "type": "integer", "min": 1, "max": 9, "default": "4"},
        {"key": "mode", "type": "enum", "values": ["any", "all", 1, 1.5], "description": "how"},
        {"key": "ratio", "type": "float", "min": 0, "max": 1.0},
    ]
    fields: dict[str, Any] = {"params": params, "score_range": [0, 10], "threshold": 7}
    (tmp_path / "it.py").write_text(source, newline="")
    (tmp_path / "it.yaml").write_text(json.dumps({"source": "it.py", "name": "other", **fields}))

    plain = saved(client, "plain", source=source)["version"]
    declared = saved(client, "declared", source=source, **fields)["version"]

    assert plain["digest"] == load_evaluator(tmp_path / "it.py").digest
    assert declared["digest"] == load_evaluator(tmp_path / "it.yaml").digest
    again = edit(client, "declared", 1, description="new").json()["version"]
    assert again == declared
    kept = [{**param, "default": 4} if "default" in param else param for param in params]
    assert declared["declared"] == {**fields, "params": kept}


def test_a_run_of_the_command_line_has_the_digest_of_the_saved_version(
    client: TestClient, cli: CommandLine, tmp_path: Path
):
    (tmp_path / "exact.py").write_text(SOURCE)
    (tmp_path / "data.jsonl").write_text('{"output": "a"}\n')
    cli("run", "exact.py", "--data", "data.jsonl", "--out", "out.jsonl")

    record = json.loads((tmp_path / "out.jsonl").read_text())

    assert record["digest"] == saved(client)["version"]["digest"]


@pytest.mark.parametrize(
    ("source", "language", "suffix"),
    [
        (SOURCE, "python", "py"),
        ("import socket\ndef evaluate(trace: AgentTrace, n: int = 1): return n", "python", "py"),
        ("def evaluate(a", "python", "py"),
        ("const evaluate = ({ a }) => 1", "javascript", "js"),
        ("export function evaluate(inputs: string, n?: number) { return 1 }", "typescript", "ts"),
    ],
)
def test_check_and_parse_say_what_the_command_says(
    source: str, language: str, suffix: str, client: TestClient, cli: CommandLine
):
    (cli.folder / f"it.{suffix}").write_text(source)
    said = cli("check", f"it.{suffix}", "--format", "json").document[0]

    checked = client.post(f"{EVALUATORS}/check", json={"source": source, "language": language})
    parsed = client.post(f"{EVALUATORS}/parse", json={"source": source, "language": language})

    assert checked.json() == {**said, "path": "draft"}
    shared = ("language", "convention", "variables", "params", "diagnostics")
    assert {key: parsed.json()[key] for key in shared} == {key: said[key] for key in shared}
    assert client.get(EVALUATORS).json()["items"] == []


def test_parse_says_level_range_and_threshold(client: TestClient):
    path = f"{EVALUATORS}/parse"

    trace = client.post(path, json={"source": "def evaluate(span: LLMSpan): return 1"}).json()
    legacy = client.post(
        path,
        json={
            "source": "def evaluate(inputs, outputs, trace): return 1",
            "convention": "legacy_score",
        },
    ).json()
    broken = client.post(path, json={"source": "def"}).json()

    assert (trace["level"], trace["score_range"], trace["threshold"]) == ("llm", [0, 1], 0.5)
    assert (legacy["convention"], legacy["level"]) == ("legacy_score", "record")
    assert (broken["convention"], broken["level"], broken["variables"]) == (None, None, [])


def test_check_finds_what_is_wrong_beside_the_source(client: TestClient):
    for fields, code in (
        ({"threshold": "x"}, "bad_definition"),
        ({"mapping": {"x": 1}}, "bad_mapping"),
        ({"params": [{"key": "output", "type": "string", "min": 1}]}, "bad_param"),
        ({"name": "a b"}, "bad_definition"),
    ):
        answer = client.post(f"{EVALUATORS}/check", json={"source": SOURCE, **fields})
        assert answer.status_code == 200
        assert [found["code"] for found in answer.json()["diagnostics"]] == [code]


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_each_template_is_an_evaluator_of_its_convention(template: EvaluatorTemplate):
    evaluator = evaluator_from_source(
        template.source, name="from-template", language=template.language
    )

    detected = {Convention.LEGACY_SCORE: Convention.INPUTS_OUTPUTS_TRACE}
    assert evaluator.convention is detected.get(template.convention, template.convention)


def test_templates_are_listed_by_convention_and_language(client: TestClient):
    path = f"{EVALUATORS}/templates"

    every = client.get(path).json()["items"]
    one = client.get(path, params={"convention": "variables", "language": "typescript"}).json()
    none = client.get(path, params={"convention": "trace_object", "language": "javascript"}).json()

    assert len(every) == len(TEMPLATES) == 13
    assert [(each["convention"], each["language"]) for each in one["items"]] == [
        ("variables", "typescript")
    ]
    assert none["items"] == []


@pytest.mark.parametrize("template", TEMPLATES, ids=named)
def test_the_text_for_an_assistant_has_a_working_example(template: EvaluatorTemplate):
    is_object = template.convention is Convention.TRACE_OBJECT
    levels = (Level.TRACE, Level.AGENT, Level.LLM) if is_object else (Level.RECORD,)
    for level in levels:
        text = copilot_prompt(template.convention, template.language, level)
        example = text.split("## An example\n")[1].split("```")[1].partition("\n")[2]
        evaluator = evaluator_from_source(
            example,
            name="example",
            language=template.language,
            convention=template.convention,
        )
        assert evaluator.level is level


@pytest.mark.parametrize("level", [Level.TRACE, Level.AGENT, Level.LLM])
def test_the_text_for_an_assistant_tells_all_that_the_objects_have(level: Level):
    text = copilot_prompt(Convention.TRACE_OBJECT, "python", level)

    classes = ast.parse(text.split("```python\n")[1].split("```")[0])
    told = {each.name: ast.unparse(each) for each in classes.body if isinstance(each, ast.ClassDef)}
    first = next(iter(told.values()))
    wanted = {
        Level.TRACE: ("spans: list[Span]", "def get_tool_steps", "session_id: str | None"),
        Level.AGENT: ("steps: list[Step]", "def get_sub_agents", "output: str | None"),
        Level.LLM: ("input: list[Message]", "def get_system_messages", "temperature"),
    }
    assert all(part in first for part in wanted[level])
    assert "has_errors" in told.get("TraceMetrics", "has_errors")


def test_the_text_for_an_assistant_is_served(client: TestClient):
    path = f"{EVALUATORS}/copilot-prompt"

    text = client.get(path, params={"convention": "trace_object", "level": "agent"}).json()["text"]
    wrong = client.get(path, params={"convention": "trace_object", "language": "javascript"})
    level = client.get(path, params={"convention": "variables", "level": "llm"})

    assert "agent_trace: AgentTrace" in text
    assert wrong.status_code == 422
    assert (level.status_code, pointers(level)) == (422, ["level"])
    assert client.get(path, params={"convention": "nothing"}).status_code == 422
