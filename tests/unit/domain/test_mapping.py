"""Where each argument comes from: by name, by the author's mapping, by the caller's."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from scorewright.domain.binding import Argument, Plan, compile_binder
from scorewright.domain.convention import Convention
from scorewright.domain.definition import Definition
from scorewright.domain.errors import MappingError, ParamError
from scorewright.domain.evaluator import Evaluator, build_evaluator
from scorewright.domain.item_shape import row_shape
from scorewright.domain.mapping import (
    Assignment,
    parse_map_option,
    parse_param_option,
    plan_arguments,
    share_assignments,
)
from scorewright.domain.param import ConfigParam


def evaluator(parameters: str, name: str = "abc", **decided: Any) -> Evaluator:
    definition = msgspec.structs.replace(Definition(name=name), **decided)
    return build_evaluator(f"def evaluate({parameters}): return 1", definition, origin="abc.py")


def plan(parameters: str, columns: list[str] | None, **options: Any) -> Plan:
    return plan_arguments(evaluator(parameters), shape=row_shape(columns), **options)


def shown(found: Plan) -> dict[str, object]:
    """Each argument by name: its paths, its constant, or how else it comes about."""
    kinds: dict[str, object] = {}
    for argument in found:
        paths = [".".join(map(str, path)) for path in argument.paths]
        constant = {"is": argument.value} if argument.how == "constant" else argument.how
        kinds[argument.name] = paths if argument.how == "field" else constant
    return kinds


def bound(found: Plan, row: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The positional and keyword arguments of a call."""
    return compile_binder(found)(json.dumps(row).encode())


@pytest.mark.parametrize(
    ("parameters", "columns", "expected"),
    [
        ("output, expected", ["output", "expected"], {"output": ["output"], "expected": ["expected"]}),
        ("input", ["input"], {"input": ["input"]}),
        ("input", ["inputs"], {"input": ["inputs"]}),
        ("input", ["inputs", "input"], {"input": ["input", "inputs"]}),
        ("output", ["outputs"], {"output": ["outputs"]}),
        ("outputs", ["output"], {"outputs": ["output"]}),
        ("outputs", ["output", "outputs"], {"outputs": ["outputs", "output"]}),
        ("inputs", ["question"], {"inputs": "inputs"}),
        ("inputs, x", ["x"], {"inputs": "inputs", "x": ["x"]}),
        ("trace, x", ["x"], {"trace": "trace", "x": ["x"]}),
        ("output, context=None", ["output"], {"output": ["output"]}),
        ("output, context=None", ["output", "context"], {"output": ["output"], "context": ["context"]}),
        ("reference, correct_answer", ["reference", "correct_answer"],
         {"reference": ["reference"], "correct_answer": ["correct_answer"]}),
        ("app_params", ["app_params"], {"app_params": ["app_params"]}),
        ("output, expected", None, {"output": ["output", "outputs"], "expected": ["expected"]}),
        ("", ["x"], {}),
    ],
)  # fmt: skip
def test_variables_find_their_fields_by_name(
    parameters: str, columns: list[str] | None, expected: dict[str, object]
):
    assert shown(plan(parameters, columns)) == expected


@pytest.mark.parametrize("names", ["inputs, outputs, trace", "a, b, c"])
def test_the_three_of_a_row_go_by_position_whatever_their_names(names: str):
    found = plan_arguments(
        evaluator(names, convention=Convention.INPUTS_OUTPUTS_TRACE),
        shape=row_shape(["q", "output"]),
    )

    assert [(a.how, a.paths, a.keyword, a.required) for a in found] == [
        ("inputs", (), False, True),
        ("field", (("output",),), False, True),
        ("trace", (), False, True),
    ]
    assert bound(found, {"q": 1, "output": "x"}) == (({"q": 1, "output": "x"}, "x", None), {})


def test_the_oldest_form_gets_empty_app_params_and_its_column():
    legacy = evaluator(
        "app_params, inputs, output, correct_answer", correct_answer_key="ground.truth"
    )

    found = plan_arguments(legacy, shape=row_shape(["outputs", "ground.truth"]))

    row = {"outputs": "x", "ground.truth": "y"}
    assert bound(found, row) == (({}, row, "x", "y"), {})


def test_a_trace_object_comes_by_position_and_its_params_by_keyword():
    found = plan(
        "trace: Trace, task, n=3, words=Param(['a'])",
        ["output"],
        params={"n": "4"},
    )

    assert [(a.name, a.how, a.value, a.keyword) for a in found] == [
        ("trace", "trace_object", None, False),
        ("task", "testcase", None, False),
        ("n", "constant", 4, True),
        ("words", "constant", ["a"], True),
    ]


def test_a_parameter_that_takes_no_position_goes_by_keyword():
    assert plan("*, trace: Trace", None) == (
        Argument(name="trace", how="trace_object", required=True, keyword=True),
    )


def test_what_has_no_default_goes_by_position_and_the_rest_by_keyword():
    found = plan("a, /, b, c=1, *, d, e=2", ["a", "b", "c", "d", "e"])

    row = {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}
    assert bound(found, row) == ((1, 2), {"c": 3, "d": 4, "e": 5})


def test_positional_arguments_keep_the_signature_s_order():
    declared = (ConfigParam(key="d", type="integer", default=4),)
    legacy = evaluator("a, b, c, d, *, e=1", convention=Convention.LEGACY_SCORE, params=declared)

    found = plan_arguments(legacy, shape=row_shape(["output", "e"]))

    row = {"output": 2, "e": 5}
    assert bound(found, row) == ((row, 2, None, 4), {"e": 5})


def test_what_the_code_has_as_its_default_is_left_to_the_code():
    found = plan("trace: Trace, words=('a',), limit: float = 1, mode=MODE", None)

    assert [a.name for a in found] == ["trace"]


def test_a_parameter_that_nobody_can_set_is_left_to_the_code():
    assert [a.name for a in plan("trace: Trace, weights={'a': 1}", ["weights"])] == ["trace"]


def test_a_value_equal_to_the_code_s_default_need_not_be_passed():
    assert [a.name for a in plan("trace: Trace, n=3", None, params={"n": 3})] == ["trace"]


def test_a_declared_default_goes_before_the_code_s():
    declared = (ConfigParam(key="n", type="integer", default=5),)

    found = plan_arguments(evaluator("output, n=3", params=declared), shape=row_shape(None))

    assert shown(found)["n"] == {"is": 5}


def test_a_default_before_the_slash_is_never_passed():
    assert shown(plan("output, limit=3, /", ["output", "limit"])) == {"output": ["output"]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("answer", ["answer"]),
        ("trace.output", ["trace.output"]),
        ("trace.x[0].y", ["trace.x.0.y"]),
        ("5", ["5"]),
        ("6", {"is": 6}),
        ("0.5", {"is": 0.5}),
        ("true", {"is": True}),
        ("null", {"is": None}),
        ('"Paris"', {"is": "Paris"}),
        ('["a", 1]', {"is": ["a", 1]}),
        ('{"a": 1}', {"is": {"a": 1}}),
        (0.5, {"is": 0.5}),
        (None, {"is": None}),
        (["a"], {"is": ["a"]}),
    ],
)
def test_a_mapping_is_a_column_first_then_a_constant_then_a_path(value: Any, expected: object):
    columns = ["answer", "trace.output", "trace", "5"]

    assert shown(plan("x", columns, mapping={"x": value}))["x"] == expected


def test_a_column_with_dots_in_its_name_is_one_step():
    found = plan("x", ["trace.output"], mapping={"x": "trace.output"})

    assert found[0].paths == (("trace.output",),)


def test_without_known_columns_a_path_is_taken_as_it_stands():
    assert shown(plan("x", None, mapping={"x": "trace.output"}))["x"] == ["trace.output"]


def test_the_caller_s_mapping_goes_before_the_definition_s_and_both_before_names():
    mapped = evaluator("output, expected", mapping={"output": "b", "expected": "c"})

    found = plan_arguments(
        mapped, shape=row_shape(["a", "b", "c", "output"]), mapping={"expected": "a"}
    )

    assert shown(found) == {"output": ["b"], "expected": ["a"]}


def test_an_optional_variable_may_be_mapped():
    found = plan("output, limit=3", ["output", "l"], mapping={"limit": "l"})

    assert bound(found, {"output": 1, "l": 2}) == ((1,), {"limit": 2})
    assert bound(found, {"output": 1, "l": None}) == ((1,), {})
    assert bound(found, {"output": 1}) == ((1,), {})


def test_the_item_s_own_parameters_may_be_mapped_by_the_author_s_names():
    renamed = evaluator("facts, answer, t", convention=Convention.INPUTS_OUTPUTS_TRACE)

    found = plan_arguments(renamed, shape=row_shape(["reply"]), mapping={"answer": "reply"})

    assert [(a.name, a.how, a.keyword) for a in found] == [
        ("facts", "inputs", False),
        ("answer", "field", False),
        ("t", "trace", False),
    ]
    assert found[1].paths == (("reply",),)


def test_every_unmapped_variable_is_named_with_the_columns_and_the_way_out():
    with pytest.raises(MappingError) as caught:
        plan("output, expected_answer, tolerance=1", ["answer", "expectd_answer"])

    assert str(caught.value) == (
        'mapping: variables "output", "expected_answer" are required but unmapped in abc '
        '(columns: "answer", "expectd_answer"); '
        "map a field (--map output=COLUMN --map expected_answer=expectd_answer) "
        "or give it a default"
    )


def test_one_unmapped_variable_reads_in_the_singular():
    with pytest.raises(
        MappingError, match=r'^mapping: variable "expected" is required but unmapped'
    ):
        plan("expected", [])


def test_an_unmapped_error_stays_short_whatever_there_is():
    parameters = ", ".join(f"variable_{i}" for i in range(90))

    with pytest.raises(MappingError) as caught:
        plan(parameters, [f"column {i} " + "x" * 500 for i in range(2000)])

    assert len(str(caught.value)) < 2500
    assert "and 78 more" in str(caught.value)


def test_the_second_of_three_needs_a_field_too():
    with pytest.raises(MappingError, match='"outputs" is required but unmapped'):
        plan("inputs, outputs, trace", ["question", "reference"])


def test_the_oldest_form_needs_the_right_answer():
    with pytest.raises(MappingError, match='"correct_answer" is required but unmapped'):
        plan("app_params, inputs, output, correct_answer", ["output"])


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ({"expectd": "a"}, 'no variable "expectd" to map (did you mean "expected"?)'),
        ({"limit": "a"}, "--param limit=VALUE"),
        ({"expected": "Paris"}, "--map 'expected=\"Paris\"'"),
        ({"expected": "anser.x"}, '"anser" (did you mean "answer"?)'),
        ({"expected": "answer[*]"}, "column 7: wildcards are not supported"),
        ({"expected": ""}, "a name is missing"),
        ({"expected": "\udc80"}, "there is no column"),
        ({"expected": "[" * 5000}, 'variable "expected"'),
    ],
)
def test_a_mapping_that_leads_nowhere_is_refused(mapping: dict[str, Any], said: str):
    with pytest.raises(MappingError) as caught:
        plan("expected, limit=Param(1)", ["answer"], mapping=mapping)

    assert said in str(caught.value)


def test_the_trace_object_itself_cannot_be_mapped():
    with pytest.raises(MappingError, match='no variable "trace" to map'):
        plan("trace: Trace", ["t"], mapping={"trace": "t"})


def test_config_params_are_checked_before_anything_runs():
    with pytest.raises(ParamError, match="a whole number"):
        plan("trace: Trace, n=3", None, params={"n": "x"})
    with pytest.raises(ParamError, match='"n" is required'):
        plan("trace: Trace, n: int", None)


NAMES = ["abc", "x-y"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("expected=answer", Assignment("--map", None, "expected", "answer")),
        ("x-y.expected=answer", Assignment("--map", "x-y", "expected", "answer")),
        ("expected=a=b", Assignment("--map", None, "expected", "a=b")),
        ("expected=", Assignment("--map", None, "expected", "")),
        (" expected = a b", Assignment("--map", None, "expected", " a b")),
        ("expected=trace.output", Assignment("--map", None, "expected", "trace.output")),
    ],
)
def test_a_map_option_is_read(text: str, expected: Assignment):
    assert parse_map_option(text, NAMES) == expected


@pytest.mark.parametrize("text", ["", "expected", "=answer", "a b=c", "abc.=c", "1x=c"])
def test_an_option_of_another_form_is_refused(text: str):
    with pytest.raises(MappingError, match="VARIABLE=FIELD"):
        parse_map_option(text, NAMES)
    with pytest.raises(ParamError, match="KEY=VALUE"):
        parse_param_option(text, NAMES)


def test_an_option_for_an_unknown_evaluator_is_refused_with_the_nearest():
    with pytest.raises(MappingError, match=r'no evaluator "abd".*did you mean "abc"'):
        parse_map_option("abd.expected=answer", NAMES)


FIRST = evaluator("output, expected, limit=Param(1)", "first-one")
SECOND = evaluator("output, reference, limit=Param(1), other=Param(2)", "second-one")


def shared(option: str, *texts: str) -> dict[str, dict[str, Any]]:
    read = parse_map_option if option == "--map" else parse_param_option
    assignments = [read(text, ["first-one", "second-one"]) for text in texts]
    return share_assignments(assignments, [FIRST, SECOND])


def test_an_option_without_an_evaluator_goes_to_all_that_have_such_a_variable():
    assert shared("--map", "output=a", "expected=b") == {
        "first-one": {"output": "a", "expected": "b"},
        "second-one": {"output": "a"},
    }
    assert shared("--param", "limit=3", "other=4") == {
        "first-one": {"limit": "3"},
        "second-one": {"limit": "3", "other": "4"},
    }


@pytest.mark.parametrize(
    "texts", [("output=a", "first-one.output=b"), ("first-one.output=b", "output=a")]
)
def test_an_option_for_one_evaluator_goes_before_one_for_all(texts: tuple[str, str]):
    assert shared("--map", *texts) == {"first-one": {"output": "b"}, "second-one": {"output": "a"}}


def test_without_options_nothing_is_assigned():
    assert shared("--map") == {"first-one": {}, "second-one": {}}


def test_an_option_that_no_evaluator_has_is_refused_with_the_nearest():
    with pytest.raises(MappingError, match=r'no evaluator has a variable "outptu".*"output"'):
        shared("--map", "outptu=a")
    with pytest.raises(ParamError, match='no evaluator has a config param "output"'):
        shared("--param", "output=a")


@pytest.mark.parametrize("texts", [("output=a", "output=b"), ("first-one.output=a",) * 2])
def test_an_option_given_twice_is_refused(texts: tuple[str, str]):
    with pytest.raises(MappingError, match='"output" is given twice'):
        shared("--map", *texts)
