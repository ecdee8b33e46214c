"""Real evaluators in JavaScript and TypeScript, and the samples of the seeds, read as their authors meant them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scorewright.domain.convention import Convention
from scorewright.domain.evaluator import SourceError, evaluator_from_source, load_evaluator

SHARED = Path(__file__).parents[2].parent / "shared"
CASES = SHARED / "cases"
SEEDS = SHARED / "seeds"

pytestmark = pytest.mark.skipif(
    not (CASES.is_dir() and SEEDS.is_dir()),
    reason="needs the cases and seeds beside the repository",
)

THREE = ["inputs", "outputs", "trace"]


@pytest.mark.parametrize(
    ("file", "language", "convention", "variables", "is_async"),
    [
        ("case_230.js", "javascript", "variables", ["input", "output", "context?"], False),
        ("case_232.mjs", "javascript", "inputs_outputs_trace", THREE, True),
        (
            "case_233.ts",
            "typescript",
            "inputs_outputs_trace",
            ["inputs", "outputs", "trace?"],
            False,
        ),
        ("case_235.js", "javascript", "inputs_outputs_trace", ["inputs"], False),
        ("case_237.js", "javascript", "inputs_outputs_trace", THREE, False),
    ],
)
def test_a_real_script_is_read_as_its_author_meant_it(
    file: str, language: str, convention: str, variables: list[str], *, is_async: bool
):
    found = load_evaluator(CASES / file)

    assert (found.language, found.convention) == (language, Convention(convention))
    assert [v.name + "?" * (not v.required) for v in found.variables] == variables
    assert found.signature.is_async is is_async
    assert found.warnings == ()


def test_case_239_every_missing_module_is_named_before_anything_runs():
    with pytest.raises(SourceError) as caught:
        load_evaluator(CASES / "case_239.js")

    assert [(d.code, d.line, d.message.split('"')[1]) for d in caught.value.diagnostics] == [
        ("missing_module", 1, "node:assert"),
        ("missing_module", 2, "lodash"),
        ("missing_module", 3, "fs"),
    ]


def test_the_javascript_of_the_agentloop_seed_has_the_variables_its_text_names():
    text = (SEEDS / "agentloop-code-evaluator.txt").read_text(encoding="utf-8")
    sources = re.findall(
        r"^(function evaluate\(.*?^module\.exports = evaluate)", text, re.MULTILINE | re.DOTALL
    )

    found = [evaluator_from_source(s, name="abc", language="javascript") for s in sources]

    assert [[v.name + "?" * (not v.required) for v in e.variables] for e in found] == [
        ["input", "output", "context"],
        ["input", "output", "context?"],
    ]
    assert {e.convention for e in found} == {Convention.VARIABLES}
    assert found[1].variables[2].default is None


def test_the_scripts_of_the_agenta_seed_are_its_convention():
    text = (SEEDS / "agenta-custom-code-evaluator.txt").read_text(encoding="utf-8")
    javascript, typescript = re.findall(
        r"^function evaluate\(.*?^\}$", text, re.MULTILINE | re.DOTALL
    )

    found = [
        evaluator_from_source(javascript, name="abc", language="javascript"),
        evaluator_from_source(typescript, name="abc", language="typescript"),
    ]

    assert [e.convention for e in found] == [Convention.INPUTS_OUTPUTS_TRACE] * 2
    assert [[v.name for v in e.variables] for e in found] == [THREE, THREE]
    assert [v.annotation for v in found[1].variables] == [
        "Record<string, any>",
        "any",
        "Record<string, any>",
    ]
