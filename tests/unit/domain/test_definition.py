"""Evaluator definitions in YAML."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import Definition, parse_definition
from scorewright.domain.errors import EvaluatorError, ParamError
from scorewright.domain.param import ConfigParam

FULL = """
name: polite-reply
display_name: Polite reply
description: Counts friendly words.
tags: [tone, format, tone]
type: code
level: record
convention: variables
language: python
params:
  - {key: words, type: array, default: [please, thanks]}
  - key: least
    type: integer
    description: how many
    default: 1
    min: 0
    max: 10
  - {key: mode, type: enum, values: [any, all], required: true}
score_range: [0, 100]
threshold: 80
source: polite_reply.py
mapping:
  answer: trace.output
  tolerance: 0.5
  expected: null
correct_answer_key: ground_truth
"""


def test_every_key_is_read():
    assert parse_definition(FULL) == Definition(
        name="polite-reply",
        display_name="Polite reply",
        description="Counts friendly words.",
        tags=("tone", "format"),
        convention=Convention.VARIABLES,
        level=Level.RECORD,
        params=(
            ConfigParam(key="words", type="array", default=["please", "thanks"]),
            ConfigParam(
                key="least", type="integer", description="how many", default=1, min=0, max=10
            ),
            ConfigParam(key="mode", type="enum", values=("any", "all"), required=True),
        ),
        score_range=[0, 100],
        threshold=80,
        source="polite_reply.py",
        language="python",
        mapping={"answer": "trace.output", "tolerance": 0.5, "expected": None},
        correct_answer_key="ground_truth",
    )


@pytest.mark.parametrize("language", ["python", "javascript", "typescript"])
def test_a_definition_may_name_its_language(language: str):
    assert parse_definition(f"language: {language}").language == language


def test_a_key_without_a_value_counts_as_absent():
    assert parse_definition("name: abc\nthreshold:\nscore_range: null\ntags:\n") == Definition(
        name="abc"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nane: abc", 'unknown key "nane" (did you mean "name"?)'),
        ("type: cod", 'no type "cod" (did you mean "code"?)'),
        ("type: agent_judge", "type agent_judge is not supported by this version yet"),
        ("prompt: Is it good?", "prompt does not go with type code"),
        ("language: pyton", 'no language "pyton" (did you mean "python"?)'),
        ("language: [python]", "no language"),
        ("convention: variable", 'no convention "variable" (did you mean "variables"?)'),
        ("level: traces", 'no level "traces" (did you mean "trace"?)'),
        ("convention: [variables]", "no convention"),
        ("name: 3", "name must be a text"),
        ("source: ' '", "source must be a text"),
        (f"display_name: {'x' * 129}", "shorten it to 128"),
        (f"description: {'x' * 513}", "shorten it to 512"),
        ("tags: tone", "tags must be a list of texts"),
        ("tags: [tone, 3]", "tags must be a list of texts"),
        ("tags: ['']", "tags must be a list of texts"),
        ("mapping: [a]", "mapping must be an object"),
        ("params: {a: 1}", "params must be a list"),
        ("params: [a]", "params[0] must be an object"),
        ("params: [{key: a}]", "params[0]: "),
        ("params: [{key: a, type: int}]", 'no type "int" (did you mean "integer"?)'),
        ("params: [{key: a, type: [x]}]", "params[0]: "),
        ("params: [{key: a, type: string, typ: x}]", 'unknown key "typ" (did you mean "type"?)'),
        ("params: [{key: a, type: float, min: low}]", "$.min"),
        ("params: [{key: a, type: string}, {key: a, type: float}]", '"a" is declared twice'),
    ],
)
def test_what_does_not_fit_is_refused_by_name(text: str, said: str):
    with pytest.raises(EvaluatorError, match=r"^definition: ") as caught:
        parse_definition(text)

    assert said in str(caught.value)


def test_a_param_that_contradicts_itself_is_refused_as_such():
    with pytest.raises(ParamError, match="min 5 is above max 1"):
        parse_definition("params: [{key: a, type: integer, min: 5, max: 1}]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "must be an object"),
        ("- a", "must be an object"),
        ("just text", "must be an object"),
        ("a: [1,", "line 2, column 1"),
        ("name: abc\n\tx: 1", "line 2, column 1"),
        ("name: abc\nname: xyz", 'line 2, column 1: key "name" is given twice'),
        ("mapping: {a: x, a: y}", 'key "a" is given twice'),
        ("tags: &t [x]\nparams: *t", "line 2, column 9: aliases are not taken"),
        ("threshold: 2026-01-01", "threshold: a date is no JSON value"),
        ("threshold: .nan", "threshold: the number is too large, or not finite"),
        (f"threshold: {10**30}", "threshold: the number is too large, or not finite"),
        ("mapping: {1: x}", "mapping: the key 1 is no text"),
        ("? [a]\n: x", "line 1, column 3: a key is no text"),
        ("x: !!python/object/apply:os.getcwd []", "correct the YAML"),
        ("a: 1\n---\nb: 2", "correct the YAML"),
        ("a: \x07", "correct the YAML"),
        ("x: " + "[" * 40 + "]" * 40, "nested more than 32 deep"),
        ("x: " + "[" * 100_000, "correct the YAML"),
    ],
)
def test_yaml_that_surprises_is_refused_with_its_place(text: str, said: str):
    with pytest.raises(EvaluatorError, match=r"^definition: ") as caught:
        parse_definition(text)

    assert said in str(caught.value)


@given(st.text(alphabet="name: abc\n-[]{}&*!|>'\"%@`?,#paramskeytype01.", max_size=60))
def test_no_text_makes_the_reader_fail_in_another_way(text: str):
    with contextlib.suppress(EvaluatorError, ParamError):
        assert isinstance(parse_definition(text), Definition)
