"""Real evaluators and reported bugs about how evaluators are read, with what is right about them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from scorewright.domain.binding import compile_binder
from scorewright.domain.check import check_evaluator
from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import Definition
from scorewright.domain.errors import EvaluatorError, ParamError
from scorewright.domain.evaluator import (
    Evaluator,
    SourceError,
    build_evaluator,
    evaluator_from_source,
    load_evaluator,
)
from scorewright.domain.evaluator_name import check_name
from scorewright.domain.item_shape import row_shape
from scorewright.domain.mapping import plan_arguments
from scorewright.domain.param import ConfigParam, coerce_value, settle_values
from scorewright.domain.result import Failed, FailureCode, Scored
from scorewright.domain.returned import Reading, make_interpreter

SHARED = Path(__file__).parents[2].parent / "shared"
CASES = SHARED / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="needs the cases beside the repository")

THREE = ["inputs", "outputs", "trace"]


def case(number: int) -> Any:
    return json.loads((CASES / f"case_{number}.json").read_text(encoding="utf-8"))


def loaded(number: int) -> Evaluator:
    return load_evaluator(CASES / f"case_{number}.py")


@pytest.mark.parametrize(
    ("number", "convention", "level", "variables", "params"),
    [
        (201, "legacy_correct_answer", "record", ["inputs", "output", "correct_answer"], []),
        (203, "inputs_outputs_trace", "record", THREE, []),
        (204, "variables", "record", ["output", "expected", "tolerance"], []),
        (206, "trace_object", "trace", ["trace"], ["required_key", "min_items"]),
        (209, "trace_object", "llm", ["llm_span"], []),
        (210, "inputs_outputs_trace", "record", THREE, []),
        (213, "inputs_outputs_trace", "record", THREE, []),
        (215, "inputs_outputs_trace", "record", THREE, []),
        (217, "inputs_outputs_trace", "record", THREE, []),
        (219, "inputs_outputs_trace", "record", THREE, []),
        (221, "inputs_outputs_trace", "record", THREE, []),
        (223, "inputs_outputs_trace", "record", THREE, []),
        (225, "variables", "record", ["run", "example"], []),
    ],
)
def test_a_real_evaluator_is_read_as_its_author_meant_it(
    number: int, convention: str, level: str, variables: list[str], params: list[str]
):
    found = loaded(number)

    assert (found.convention, found.level) == (Convention(convention), Level(level))
    assert [v.name for v in found.variables] == variables
    assert [p.key for p in found.params] == params
    assert found.warnings == ()


def bindable_calls() -> list[tuple[int, dict[str, Any]]]:
    calls: list[tuple[int, dict[str, Any]]] = []
    for path in sorted(CASES.glob("case_2*.expect.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        if facts["files"][0].endswith(".py"):
            number = int(facts["id"].removeprefix("case_"))
            kwargs: list[Any] = [call["kwargs"] for call in facts["calls"]]
            rows = [cast("dict[str, Any]", row) for row in kwargs if isinstance(row, dict)]
            calls.extend((number, row) for row in rows)
    return calls


@pytest.mark.parametrize(("number", "row"), bindable_calls())
def test_a_real_evaluator_gets_the_arguments_of_its_calls(number: int, row: dict[str, Any]):
    found = loaded(number)
    whole = {"outputs": None, "trace": None, **row} if "output" not in row else row

    plan = plan_arguments(found, shape=row_shape(list(whole)))

    positional, named = compile_binder(plan)(json.dumps(whole).encode())
    names = [argument.name for argument in plan if not argument.keyword]
    arguments = {**dict(zip(names, positional, strict=True)), **named}
    # A null stands for "not given" where the code has a default of its own.
    assert arguments == {name: value for name, value in row.items() if name != "tolerance"}


def test_tolerance_is_optional_with_the_code_s_own_default():
    tolerance = loaded(204).variables[2]

    assert (tolerance.name, tolerance.required, tolerance.default) == ("tolerance", False, 0.001)


def test_a_trace_evaluator_s_further_parameters_are_config_params():
    found = loaded(206)

    assert [(p.key, p.type, p.default) for p in found.params] == [
        ("required_key", "string", "title"),
        ("min_items", "integer", 1),
    ]
    plan = plan_arguments(found, shape=row_shape(["output"]), params={"min_items": "3"})
    assert [(a.name, a.how, a.value) for a in plan] == [
        ("trace", "trace_object", None),
        ("min_items", "constant", 3),
    ]


def test_a_foreign_function_name_is_found_before_anything_runs():
    with pytest.raises(SourceError, match=r'no function named "evaluate" \(found: get_assert\)'):
        loaded(211)

    document = check_evaluator(CASES / "case_211.py")
    assert (document["language"], document["convention"]) == ("python", None)


def test_an_async_evaluator_is_one():
    assert loaded(213).signature.is_async


def test_the_standard_library_may_be_imported():
    imported = {i.module for i in loaded(223).signature.imports}

    assert {"zoneinfo", "urllib", "decimal", "unicodedata"} <= imported


def test_foreign_parameters_are_variables_to_be_mapped():
    plan = plan_arguments(
        loaded(225), shape=row_shape(["a", "b"]), mapping={"run": "a", "example": "b"}
    )

    assert [(a.name, a.paths) for a in plan] == [("run", (("a",),)), ("example", (("b",),))]


def test_case_314_an_evaluator_without_a_version_gets_the_newest_contract():
    three = "def evaluate(inputs, outputs, trace): return {'a': 1}"
    four = "def evaluate(app_params, inputs, output, correct_answer): return 0.5"

    newest = evaluator_from_source(three, name="newest")
    first = evaluator_from_source(four, name="first")
    second = evaluator_from_source(three, name="second", convention=Convention.LEGACY_SCORE)

    assert newest.convention is Convention.INPUTS_OUTPUTS_TRACE
    assert first.convention is Convention.LEGACY_CORRECT_ANSWER
    assert second.convention is Convention.LEGACY_SCORE
    read = make_interpreter(Reading(second.convention, second.score_range, second.threshold))
    outcome = read({"a": 1})
    assert isinstance(outcome, Failed)
    assert outcome.code is FailureCode.BAD_RETURN


def with_threshold(given: dict[str, Any]) -> Evaluator:
    definition = Definition(name="abc", threshold=given.get("threshold"))
    source = "def evaluate(inputs, outputs, trace): return 1"
    return build_evaluator(source, definition, origin="abc.py")


def test_case_315_zero_is_a_threshold_and_a_missing_one_is_the_middle():
    given = case(315)["input"]["cases"][:6]
    scores = [g.get("score", 0.1 + 0.2) for g in given]

    verdicts: list[bool | None] = []
    for item, score in zip(given, scores, strict=True):
        found = with_threshold(item)
        outcome = make_interpreter(Reading(found.convention, found.score_range, found.threshold))(
            score
        )
        assert isinstance(outcome, Scored)
        verdicts.append(outcome.passed)

    assert verdicts == [True, True, False, True, False, True]


@pytest.mark.parametrize("threshold", ["0.5", float("nan")])
def test_case_315_a_threshold_that_is_no_finite_number_is_refused(threshold: Any):
    with pytest.raises(EvaluatorError, match="is no finite number"):
        with_threshold({"threshold": threshold})


def test_case_356_text_that_looks_like_json_stays_text():
    found = evaluator_from_source("def evaluate(output, expected): return 1", name="abc")
    plan = plan_arguments(found, shape=row_shape(["output", "x"]), mapping={"expected": "x"})
    bind = compile_binder(plan)

    for text in case(356)["input"]["texts"]:
        assert bind(json.dumps({"output": text, "x": text}).encode()) == ((text, text), {})


def test_case_357_an_unmapped_absent_or_null_optional_keeps_the_code_s_default():
    given = case(357)["input"]
    found = evaluator_from_source(given["code"], name="abc")
    rows = [
        {"trace": {"output": "x"}},
        {"trace": {"output": "x", "metadata": given["trace_metadata"]}},
    ]

    for mapping in given["mapping"]:
        bind = compile_binder(plan_arguments(found, shape=row_shape(["trace"]), mapping=mapping))
        for row in rows:
            assert bind(json.dumps(row).encode()) == (("x",), {})


def params_of_359() -> list[ConfigParam]:
    declared = case(359)["input"]["params"]
    return [msgspec.convert(p, ConfigParam) for p in declared if p["key"] != "class"]


def test_case_359_a_keyword_is_no_key():
    (declared,) = [p for p in case(359)["input"]["params"] if p["key"] == "class"]

    with pytest.raises(ParamError, match="Python keyword"):
        msgspec.convert(declared, ConfigParam)


def test_case_359_every_value_fits_in_its_type_or_is_refused():
    known = {param.key: param for param in params_of_359()}

    outcomes: list[object] = []
    for given in case(359)["input"]["values"][:-1]:
        ((key, value),) = given.items()
        try:
            outcomes.append(coerce_value(known[key], value))
        except ParamError as error:
            outcomes.append(str(error).rpartition("; give ")[2])

    bounds = "a whole number from 1 to 5"
    assert outcomes == [
        3,
        3,
        bounds,
        bounds,
        bounds,
        "a finite number",
        "a finite number",
        False,
        "true or false",
        'one of "a", "b"',
        "b",
        ["a", "b"],
        ["a", 1],
    ]


def test_case_359_an_unknown_key_is_refused_by_name():
    with pytest.raises(ParamError, match='param "unknown" is unknown'):
        settle_values(params_of_359(), case(359)["input"]["values"][-1])


def test_case_359_every_row_gets_a_list_of_its_own():
    declared = tuple(p for p in params_of_359() if p.key == "words")
    found = build_evaluator(
        "def evaluate(output, words=None): return 1",
        Definition(name="abc", params=declared),
        origin="abc.py",
    )
    bind = compile_binder(plan_arguments(found, shape=row_shape(["output"])))

    first = bind(b'{"output": 1}')[1]["words"]
    first.append("changed")

    assert bind(b'{"output": 1}')[1]["words"] == []


def allowed(names: list[str]) -> list[str]:
    fitting: list[str] = []
    for name in names:
        try:
            check_name(name)
        except EvaluatorError:
            continue
        fitting.append(name)
    return fitting


def test_case_360_names_are_what_both_seeds_can_live_with():
    given = case(360)["input"]

    # Shorter than three characters is refused, as is longer than 128; letter case is kept.
    assert allowed(given["agentloop_names"]) == ["A-1_b"]
    assert [n if len(n) < 100 else len(n) for n in allowed(given["amp_identifiers"])] == [
        "abc",
        "abc-def",
        "Abc",
        "abc_def",
        "abc-",
        "a--b",
        128,
    ]


def test_case_398_a_broken_source_is_refused_before_it_is_stored():
    found: list[tuple[str, int, str]] = []
    for source in case(398)["input"]["sources"]:
        with pytest.raises(SourceError) as caught:
            evaluator_from_source(source, name="abc")
        (problem,) = caught.value.diagnostics
        found.append((problem.code, problem.line, problem.message))

    assert [(code, line) for code, line, _ in found] == [
        ("syntax_error", 1),
        ("no_evaluate", 1),
        ("empty_source", 1),
        ("empty_source", 1),
        ("no_evaluate", 1),
        ("missing_module", 1),
        ("syntax_error", 3),
    ]
    assert 'did you mean "evalute"?' in found[1][2]
    assert '"notthere" is not available' in found[5][2]
    assert "mixes tabs and spaces" in found[6][2]


def samples(seed: str) -> list[str]:
    """The Python samples of a seed that have a body."""
    text = (SHARED / "seeds" / seed).read_text(encoding="utf-8")
    found = re.findall(
        r"^def evaluate\([^)]*\)[^\n]*:\n(?:[ ]+[^\n]*\n|\n(?=[ \n]))+", text, re.MULTILINE
    )
    assert found, seed
    return found


def test_the_samples_of_the_agenta_seed_are_its_convention():
    found = samples("agenta-custom-code-evaluator.txt")

    read = [evaluator_from_source(f"from typing import Dict, Any\n{s}", name="abc") for s in found]
    assert [(e.convention, e.warnings) for e in read] == [
        (Convention.INPUTS_OUTPUTS_TRACE, ()),
    ] * 4


def test_the_sample_of_the_amp_seed_is_its_convention():
    (sample,) = samples("amp-custom-evaluators.txt")

    found = evaluator_from_source(sample, name="abc")

    assert (found.convention, found.level) == (Convention.TRACE_OBJECT, Level.TRACE)


def test_the_signatures_of_the_agentloop_seed_have_the_variables_its_text_names():
    text = (SHARED / "seeds/agentloop-code-evaluator.txt").read_text(encoding="utf-8")
    signatures = re.findall(r"^def evaluate\(.*\):$", text, re.MULTILINE)

    found = [evaluator_from_source(f"{s}\n    return 1\n", name="abc") for s in signatures]

    assert {e.convention for e in found} == {Convention.VARIABLES}
    assert [[v.name + "?" * (not v.required) for v in e.variables] for e in found] == [
        ["input", "output", "context?"],
        ["input", "output", "context?"],
        ["output", "expected", "tolerance?"],
        ["output", "context?", "required_tools?"],
    ]
