"""Sorting parameters into variables and config params."""

from __future__ import annotations

import msgspec
import pytest

from scorewright.domain.convention import Convention
from scorewright.domain.detection import choose_convention
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.param import ConfigParam
from scorewright.domain.signature import parse_python
from scorewright.domain.variable import Roles, assign_roles

LIMIT = ConfigParam(key="limit", type="integer", default=3, min=1, description="how many")


def roles(
    parameters: str,
    *declared: ConfigParam,
    convention: Convention | None = None,
) -> Roles:
    signature = parse_python(f"def evaluate({parameters}): return 1").signature
    assert signature is not None
    keys = {param.key: param for param in declared}
    return assign_roles(signature, choose_convention(signature, convention, declared=keys), keys)


def only_param(parameters: str, *declared: ConfigParam) -> ConfigParam:
    found = roles(parameters, *declared)
    assert found.diagnostics == ()
    assert len(found.params) == 1
    return found.params[0]


def test_a_variable_is_required_when_it_has_no_default():
    found = roles("output, expected: str, tolerance=0.001, metadata=DEFAULT")

    assert [(v.name, v.required, v.default, v.annotation) for v in found.variables] == [
        ("output", True, None, None),
        ("expected", True, None, "str"),
        ("tolerance", False, 0.001, None),
        ("metadata", False, None, None),
    ]
    assert found.params == ()


def test_the_empty_app_params_of_the_oldest_form_are_no_variable():
    found = roles("app_params, inputs, output, correct_answer")

    assert [v.name for v in found.variables] == ["inputs", "output", "correct_answer"]


@pytest.mark.parametrize(
    ("parameter", "kind"),
    [
        ("p: str = 'a'", "string"),
        ("p: int = 1", "integer"),
        ("p: float = 1", "float"),
        ("p: bool = True", "boolean"),
        ("p: list = []", "array"),
        ("p: list[str] = []", "array"),
        ("p: typing.List[int] = [1]", "array"),
        ("p: tuple[str, ...] = ('a',)", "array"),
        ("p: 'Optional[int]' = None", "integer"),
        ("p: float | None = 0.5", "float"),
        ("p: Any = 2", "integer"),
        ("p: int | str = 'a'", "string"),
        ("p='a'", "string"),
        ("p=1", "integer"),
        ("p=1.0", "float"),
        ("p=False", "boolean"),
        ("p=('a', 'b')", "array"),
        ("p: Literal['a', 'b'] = 'a'", "enum"),
        ("p: int", "integer"),
    ],
)
def test_the_type_comes_from_the_annotation_or_else_from_the_default(parameter: str, kind: str):
    assert only_param(f"trace: Trace, {parameter}").type == kind


def test_a_literal_annotation_lists_the_allowed_values():
    assert only_param("trace: Trace, p: Literal['a', 2, True, None] = 2").values == ("a", 2)


def test_a_further_parameter_without_a_default_must_be_set():
    assert only_param("trace: Trace, p: int").required
    assert not only_param("trace: Trace, p: int = 1").required


def test_param_calls_carry_constraints():
    call = "Param(0.5, 'least share', min=0, max=1)"

    found = only_param(f"trace: Trace, p: float = {call}")

    assert (found.type, found.default, found.description) == ("float", 0.5, "least share")
    assert (found.min, found.max, found.required) == (0, 1, False)


@pytest.mark.parametrize(
    ("call", "default", "required"),
    [
        ("Param()", msgspec.UNSET, True),
        ("Param(description='d')", msgspec.UNSET, True),
        ("Param(required=False)", None, False),
        ("Param(None)", None, False),
        ("Param('x', required=True)", "x", True),
    ],
)
def test_a_param_call_without_a_default_is_required_unless_it_says_otherwise(
    call: str, default: object, *, required: bool
):
    found = only_param(f"trace: Trace, p: str = {call}")

    assert found.default == default
    assert found.required is required


def test_a_param_call_is_a_config_param_in_every_convention():
    found = roles("output, mode=Param('a', enum=['a', 'b'])")

    assert [v.name for v in found.variables] == ["output"]
    assert [(p.key, p.type, p.values) for p in found.params] == [("mode", "enum", ("a", "b"))]


def test_a_declared_param_is_a_config_param_in_every_convention():
    found = roles("output, expected, limit=5", LIMIT)

    assert [v.name for v in found.variables] == ["output", "expected"]
    assert found.params == (LIMIT,)


def test_a_declared_param_without_a_default_takes_the_code_s():
    declared = ConfigParam(key="limit", type="integer", max=9)

    assert only_param("output, limit=5", declared).default == 5


def test_a_declared_param_that_the_code_has_no_default_for_is_required():
    declared = ConfigParam(key="limit", type="integer")

    assert only_param("output, limit", declared).required


def test_the_second_required_parameter_task_is_the_testcase_and_no_config_param():
    found = roles("trace: Trace, task, limit=3")

    assert [v.name for v in found.variables] == ["trace", "task"]
    assert [p.key for p in found.params] == ["limit"]


def test_a_task_with_a_default_is_a_config_param_like_any_other():
    assert [p.key for p in roles("trace: Trace, task='x'").params] == ["task"]


@pytest.mark.parametrize("parameter", ["p=None", "p=DEFAULT", "p", "p: int | str = None"])
def test_a_type_that_cannot_be_told_is_text_and_the_author_is_told(parameter: str):
    found = roles(f"trace: Trace, {parameter}")

    assert [p.type for p in found.params] == ["string"]
    assert [(d.severity, d.code, d.column) for d in found.diagnostics] == [
        ("warning", "param_type_unknown", 28)
    ]


@pytest.mark.parametrize("parameter", ["p={'a': 1}", "p: dict = None", "p: Mode = Mode.STRICT"])
def test_a_type_no_config_param_has_keeps_its_default(parameter: str):
    found = roles(f"trace: Trace, {parameter}")

    assert found.params == ()
    assert [v.name for v in found.variables] == ["trace"]
    assert [(d.severity, d.code) for d in found.diagnostics] == [("warning", "keeps_default")]


@pytest.mark.parametrize(
    "parameter",
    [
        "p: dict",
        "p: int = 'a'",
        "p: Literal['a'] = 'b'",
        "p: int = Param(5, max=3)",
        "p=Param('a', min=1)",
        "p: Literal[MODE] = 1",
    ],
)
def test_a_config_param_that_contradicts_itself_is_an_error_at_its_place(parameter: str):
    found = roles(f"trace: Trace, {parameter}")

    assert [(d.severity, d.code, d.column) for d in found.diagnostics] == [
        ("error", "bad_param", 28)
    ]


@pytest.mark.parametrize("parameters", ["p=Param(1)", "trace: Trace = Param(1)"])
def test_the_first_parameter_is_no_config_param(parameters: str):
    found = roles(parameters)

    assert [(d.severity, d.code) for d in found.diagnostics] == [("error", "bad_param")]
    assert "filled from the item" in found.diagnostics[0].message


def test_a_default_before_the_slash_is_kept():
    found = roles("output, limit=3, /, other=1", LIMIT)

    assert [v.name for v in found.variables] == ["output", "other"]
    assert found.params == ()
    assert [(d.severity, d.code) for d in found.diagnostics] == [("warning", "keeps_default")]


def test_a_default_before_the_slash_matters_not_where_the_item_fills_the_parameter():
    found = roles("inputs, outputs, trace=None, /")

    assert [v.name for v in found.variables] == ["inputs", "outputs", "trace"]
    assert found.diagnostics == ()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ("output, limits=3", 'no parameter "limit" (did you mean "limits"?)'),
        ("limit, output", '"limit" is filled from the item'),
    ],
)
def test_a_declared_param_that_cannot_be_set_is_refused(parameters: str, said: str):
    with pytest.raises(EvaluatorError) as caught:
        roles(parameters, LIMIT)

    assert said in str(caught.value)


def test_the_item_s_own_parameters_cannot_be_declared():
    declared = ConfigParam(key="outputs", type="string")

    with pytest.raises(EvaluatorError, match="filled from the item"):
        roles("inputs, outputs, trace", declared, convention=Convention.INPUTS_OUTPUTS_TRACE)
