"""Telling from a signature how `evaluate` is called, and what it sees."""

from __future__ import annotations

import pytest

from scorewright.domain.convention import Convention, Level
from scorewright.domain.detection import choose_convention, choose_level, detect
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.signature import Signature, parse_python


def signature(parameters: str) -> Signature:
    found = parse_python(f"def evaluate({parameters}): return 1").signature
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("parameters", "convention"),
    [
        ("app_params, inputs, output, correct_answer", "legacy_correct_answer"),
        ("app_params, inputs, output, correct_answer=None", "legacy_correct_answer"),
        ("inputs, app_params, output, correct_answer", "variables"),
        ("app_params, inputs, output, *, correct_answer", "variables"),
        ("app_params, inputs, output, expected", "variables"),
        ("app_params: Trace, inputs, output, correct_answer", "legacy_correct_answer"),
        ("trace: Trace", "trace_object"),
        ("t: 'amp.AgentTrace'", "trace_object"),
        ("span: LLMSpan | None = None", "trace_object"),
        ("trace: Trace, task", "trace_object"),
        ("trace: Trace, min_words: int = 3", "trace_object"),
        ("*, trace: Trace", "trace_object"),
        ("trace", "trace_object"),
        ("agent_trace, limit=3", "trace_object"),
        ("llm_span, *, limit=3", "trace_object"),
        ("trace, expected", "variables"),
        ("trace=None", "variables"),
        ("trace: dict", "variables"),
        ("trace: list[Trace]", "variables"),
        ("output, trace: Trace", "variables"),
        ("inputs, outputs, trace", "inputs_outputs_trace"),
        ("inputs: dict, outputs: object, trace: dict = None", "inputs_outputs_trace"),
        ("inputs, outputs, trace, /", "inputs_outputs_trace"),
        ("inputs, outputs, *, trace", "variables"),
        ("inputs, trace, outputs", "variables"),
        ("inputs, outputs", "variables"),
        ("inputs, outputs, trace, threshold=0.5", "variables"),
        ("inputs, outputs, trace, threshold=Param(0.5)", "inputs_outputs_trace"),
        ("app_params, inputs, output, correct_answer, n=Param(1)", "legacy_correct_answer"),
        ("run, example", "variables"),
        ("input, output, context=None", "variables"),
        ("", "variables"),
    ],
)
def test_the_convention_is_detected(parameters: str, convention: str):
    assert detect(signature(parameters)) == convention


def test_declared_config_params_take_no_part_in_the_decision():
    found = signature("inputs, outputs, trace, threshold=0.5")

    assert detect(found, declared=("threshold",)) is Convention.INPUTS_OUTPUTS_TRACE


def test_a_required_config_param_leaves_the_trace_the_only_required_one():
    found = signature("trace, min_words")

    assert detect(found, declared=("min_words",)) is Convention.TRACE_OBJECT


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("a, b, c", Convention.INPUTS_OUTPUTS_TRACE),
        ("a, b, c, d=1, *, e=2", Convention.LEGACY_SCORE),
        ("inputs, outputs, trace", Convention.LEGACY_SCORE),
        ("a, b, c, d", Convention.LEGACY_CORRECT_ANSWER),
        ("anything", Convention.TRACE_OBJECT),
        ("*, anything", Convention.TRACE_OBJECT),
        ("trace: Trace", Convention.VARIABLES),
        ("inputs, outputs, trace", Convention.VARIABLES),
        ("", Convention.VARIABLES),
    ],
)
def test_the_author_s_choice_goes_before_detection(parameters: str, wanted: Convention):
    assert choose_convention(signature(parameters), wanted) is wanted


def test_without_a_choice_the_convention_is_detected():
    assert choose_convention(signature("run, example"), None) is Convention.VARIABLES


@pytest.mark.parametrize(
    ("parameters", "wanted"),
    [
        ("run, example", Convention.INPUTS_OUTPUTS_TRACE),
        ("a, b, *, c", Convention.INPUTS_OUTPUTS_TRACE),
        ("a, b, c, d", Convention.LEGACY_SCORE),
        ("a, b, c, *, d", Convention.INPUTS_OUTPUTS_TRACE),
        ("a, b, c", Convention.LEGACY_CORRECT_ANSWER),
        ("", Convention.TRACE_OBJECT),
    ],
)
def test_a_choice_that_the_signature_does_not_fit_is_refused(parameters: str, wanted: Convention):
    with pytest.raises(EvaluatorError, match=f"convention {wanted.value} calls evaluate"):
        choose_convention(signature(parameters), wanted)


def test_the_refusal_says_what_is_needed_and_what_there_is():
    with pytest.raises(EvaluatorError) as caught:
        choose_convention(signature("run, example"), Convention.INPUTS_OUTPUTS_TRACE)

    assert "evaluate(inputs, outputs, trace)" in str(caught.value)
    assert "needs 3 positional parameters" in str(caught.value)
    assert '"run", "example"' in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "wanted", "level"),
    [
        ("trace: Trace", None, Level.TRACE),
        ("trace: AgentTrace", None, Level.AGENT),
        ("x: Optional[LLMSpan]", None, Level.LLM),
        ("agent_trace", None, Level.AGENT),
        ("llm_span", None, Level.LLM),
        ("whatever", None, Level.TRACE),
        ("whatever", Level.LLM, Level.LLM),
        ("trace", Level.AGENT, Level.AGENT),
        ("x: AgentTrace", Level.AGENT, Level.AGENT),
    ],
)
def test_the_level_comes_from_the_type_then_the_name(
    parameters: str, wanted: Level | None, level: Level
):
    assert choose_level(signature(parameters), Convention.TRACE_OBJECT, wanted) is level


@pytest.mark.parametrize("wanted", [None, Level.RECORD])
def test_every_other_convention_sees_records(wanted: Level | None):
    assert choose_level(signature("output"), Convention.VARIABLES, wanted) is Level.RECORD


@pytest.mark.parametrize(
    ("parameters", "convention", "wanted"),
    [
        ("output", Convention.VARIABLES, Level.TRACE),
        ("inputs, outputs, trace", Convention.INPUTS_OUTPUTS_TRACE, Level.LLM),
        ("trace: Trace", Convention.TRACE_OBJECT, Level.AGENT),
        ("trace", Convention.TRACE_OBJECT, Level.RECORD),
    ],
)
def test_a_level_the_evaluator_is_not_written_for_is_refused(
    parameters: str, convention: Convention, wanted: Level
):
    with pytest.raises(EvaluatorError, match=f"level {wanted.value}"):
        choose_level(signature(parameters), convention, wanted)
