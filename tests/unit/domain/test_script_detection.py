"""How evaluators in JavaScript and TypeScript are called, and made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from script_sources import signature

from scorewright.domain.check import check_evaluator
from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import Definition
from scorewright.domain.detection import choose_convention, detect
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.evaluator import (
    Evaluator,
    SourceError,
    build_evaluator,
    evaluator_from_source,
    load_evaluator,
)
from scorewright.domain.item_shape import row_shape
from scorewright.domain.mapping import plan_arguments
from scorewright.domain.param import ConfigParam
from scorewright.domain.source_language import Language

SOURCE = (
    "function evaluate(input, output, context = null) { return { score: 1, explanation: '' } }\n"
)
TYPED = "export function evaluate(input: string, output?: string) { return 1 }\n"
LIMIT = ConfigParam(key="limit", type="integer", default=3)


def made(parameters: str, *, language: Language = "javascript", **decided: Any) -> Evaluator:
    definition = msgspec.structs.replace(Definition(name="abc", language=language), **decided)
    return build_evaluator(f"function evaluate({parameters}) {{}}", definition, origin="abc.js")


@pytest.mark.parametrize(
    ("parameters", "convention"),
    [
        ("inputs, outputs, trace", "inputs_outputs_trace"),
        ("inputs, outputs", "inputs_outputs_trace"),
        ("inputs", "inputs_outputs_trace"),
        ("inputs, outputs, trace = null", "inputs_outputs_trace"),
        ("inputs, outputs, ...rest", "inputs_outputs_trace"),
        ("outputs", "variables"),
        ("outputs, trace", "variables"),
        ("inputs, trace", "variables"),
        ("inputs, outputs, trace, limit = 3", "variables"),
        ("inputs, outputs, expected", "variables"),
        ("input, output, context", "variables"),
        ("trace", "variables"),
        ("llm_span, limit = 3", "variables"),
        ("{ a } = {}, outputs, trace", "variables"),
        ("app_params, inputs, output, correct_answer", "legacy_correct_answer"),
        ("", "variables"),
    ],
)
def test_the_convention_of_a_script_is_detected(parameters: str, convention: str):
    assert detect(signature(f"function evaluate({parameters}) {{}}")) == convention


def test_a_type_of_ours_does_not_make_a_trace_object_of_a_script():
    found = signature("function evaluate(trace: Trace) {}", language="typescript")

    assert detect(found) is Convention.VARIABLES


@pytest.mark.parametrize(
    ("parameters", "convention"),
    [
        ("inputs, outputs, trace, limit", "inputs_outputs_trace"),
        ("inputs, outputs, limit", "variables"),
    ],
)
def test_a_config_param_does_not_take_the_place_of_a_left_out_parameter(
    parameters: str, convention: str
):
    found = made(parameters, params=(LIMIT,))

    assert found.convention == convention
    assert [p.key for p in found.params] == ["limit"]


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("a, b, c", Convention.INPUTS_OUTPUTS_TRACE),
        ("a", Convention.INPUTS_OUTPUTS_TRACE),
        ("inputs, outputs", Convention.LEGACY_SCORE),
        ("a, b, c, d = 1", Convention.LEGACY_SCORE),
        ("{ question } = {}, outputs", Convention.INPUTS_OUTPUTS_TRACE),
        ("a, b, c, d", Convention.LEGACY_CORRECT_ANSWER),
        ("inputs, outputs, trace", Convention.VARIABLES),
    ],
)
def test_the_author_s_choice_goes_before_detection(parameters: str, wanted: Convention):
    assert choose_convention(signature(f"function evaluate({parameters}) {{}}"), wanted) is wanted


@pytest.mark.parametrize(
    ("parameters", "wanted", "said"),
    [
        ("trace", Convention.TRACE_OBJECT, "for Python only, and this is JavaScript"),
        ("a, b, c, d", Convention.LEGACY_SCORE, "needs 1 to 3 positional parameters"),
        ("", Convention.INPUTS_OUTPUTS_TRACE, "needs 1 to 3 positional parameters"),
    ],
)
def test_a_choice_that_a_script_does_not_fit_is_refused(
    parameters: str, wanted: Convention, said: str
):
    with pytest.raises(EvaluatorError, match=said):
        choose_convention(signature(f"function evaluate({parameters}) {{}}"), wanted)


def test_a_level_other_than_a_record_is_refused_at_its_place():
    with pytest.raises(SourceError, match=r"^abc\.js:1:1: level llm needs") as caught:
        made("inputs", level=Level.LLM)

    assert caught.value.language == "javascript"


def test_a_pattern_with_a_default_is_no_variable():
    found = made("output, { a } = {}, expected = 'x'")

    assert [v.name for v in found.variables] == ["output", "expected"]
    assert [(w.code, w.line, w.column) for w in found.warnings] == [("keeps_default", 1, 27)]
    assert "take it apart" in found.warnings[0].message


def test_a_pattern_with_a_default_is_left_out_of_the_call():
    plan = plan_arguments(
        made("output, { a } = {}, expected"), shape=row_shape(["output", "expected"])
    )

    assert [argument.name for argument in plan] == ["output", "expected"]


def test_leading_parameters_get_what_their_places_mean():
    found = made("row, answer", convention=Convention.INPUTS_OUTPUTS_TRACE)

    plan = plan_arguments(found, shape=row_shape(["question", "output"]))

    assert [(a.name, a.how, a.paths) for a in plan] == [
        ("row", "inputs", ()),
        ("answer", "field", (("output",),)),
    ]


@pytest.mark.parametrize(
    ("name", "source", "language"),
    [
        ("rule.js", SOURCE, "javascript"),
        ("rule.mjs", "export default (input, output) => 1", "javascript"),
        ("rule.cjs", "exports.evaluate = (input, output) => 1", "javascript"),
        ("rule.ts", TYPED, "typescript"),
        ("RULE.MTS", TYPED, "typescript"),
    ],
)
def test_a_file_s_ending_says_its_language(tmp_path: Path, name: str, source: str, language: str):
    (tmp_path / name).write_text(source)

    found = load_evaluator(tmp_path / name)

    assert (found.language, found.name) == (language, "rule")
    assert [v.name for v in found.variables][:2] == ["input", "output"]


@pytest.mark.parametrize("name", ["rule.jsx", "rule.tsx"])
def test_a_file_of_jsx_is_refused(tmp_path: Path, name: str):
    with pytest.raises(EvaluatorError, match="JSX is not supported"):
        load_evaluator(tmp_path / name)


def test_a_definition_names_a_script_with_or_without_its_language(tmp_path: Path):
    (tmp_path / "rule.ts").write_text(TYPED)
    (tmp_path / "with.yaml").write_text("source: rule.ts\nlanguage: typescript\n")
    (tmp_path / "without.yaml").write_text("source: rule.ts\n")

    assert load_evaluator(tmp_path / "with.yaml").language == "typescript"
    assert load_evaluator(tmp_path / "without.yaml").language == "typescript"


def test_a_definition_whose_language_is_another_than_its_file_s_is_refused(tmp_path: Path):
    (tmp_path / "rule.ts").write_text(TYPED)
    (tmp_path / "rule.yaml").write_text("source: rule.ts\nlanguage: javascript\n")

    with pytest.raises(EvaluatorError) as caught:
        load_evaluator(tmp_path / "rule.yaml")

    assert str(caught.value).endswith(
        'definition: source "rule.ts" is TypeScript, not javascript; '
        "change the language, or leave it out"
    )


def test_a_source_alone_needs_its_language():
    found = evaluator_from_source(TYPED, name="abc", language="typescript")

    assert (found.language, found.signature.language) == ("typescript", "typescript")
    with pytest.raises(SourceError, match="this is TypeScript"):
        evaluator_from_source(TYPED, name="abc", language="javascript")


def test_the_language_is_part_of_the_digest():
    source = "export function evaluate(input) {}"

    digests = {
        evaluator_from_source(source, name="abc", language=language).digest
        for language in ("javascript", "typescript")
    }

    assert len(digests) == 2


def test_modules_are_missing_without_a_sandbox_too():
    with pytest.raises(SourceError, match='"fs" is not available'):
        evaluator_from_source(
            "require('fs'); function evaluate(a) {}",
            name="abc",
            language="javascript",
            any_import=True,
        )


def test_the_check_of_a_script_says_its_language(tmp_path: Path):
    good, bad = tmp_path / "good.js", tmp_path / "bad.ts"
    good.write_text(SOURCE)
    bad.write_text("import fs from 'fs'\nexport const evaluate = (a: string) => 1\n")

    documents = [check_evaluator(good), check_evaluator(bad)]

    assert [document["language"] for document in documents] == ["javascript", "typescript"]
    assert documents[0]["convention"] == "variables"
    assert documents[0]["variables"] == [
        {"name": "input", "required": True, "default": None, "annotation": None},
        {"name": "output", "required": True, "default": None, "annotation": None},
        {"name": "context", "required": False, "default": None, "annotation": None},
    ]
    assert documents[1]["convention"] is None
    assert documents[1]["diagnostics"] == [
        {
            "severity": "error",
            "code": "missing_module",
            "message": 'module "fs" is not available: there are no modules, not even those of Node; '
            "use the standard language only, or put the code into this file",
            "line": 1,
            "column": 1,
        }
    ]


def test_only_scripts_load_their_parser():
    code = (
        "import sys; from scorewright.domain.evaluator import evaluator_from_source as read; "
        "read('def evaluate(a): return 1', name='abc'); "
        "assert not [m for m in sys.modules if m.startswith('tree_sitter')]; "
        "read('function evaluate(a) {}', name='abc', language='javascript'); "
        "assert 'tree_sitter_javascript' in sys.modules; "
        "assert 'tree_sitter_typescript' not in sys.modules"
    )

    subprocess.run([sys.executable, "-c", code], check=True)
