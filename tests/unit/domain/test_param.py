"""Config params: schemas that make sense, and values that fit them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.errors import ParamError
from scorewright.domain.param import ConfigParam, coerce_value, settle_values

COUNT = ConfigParam(key="n", type="integer", min=1, max=5)
RATIO = ConfigParam(key="x", type="float", min=0)
FLAG = ConfigParam(key="flag", type="boolean", default=False)
MODE = ConfigParam(key="mode", type="enum", values=("a", "b", 3))
WORDS = ConfigParam(key="words", type="array", default=[])
TEXT = ConfigParam(key="text", type="string")


@pytest.mark.parametrize(
    ("param", "given_value", "value"),
    [
        (COUNT, 3, 3),
        (COUNT, "3", 3),
        (COUNT, " +3 ", 3),
        (COUNT, 3.0, 3),
        (COUNT, "3.0", 3),
        (COUNT, "3e0", 3),
        (COUNT, 1, 1),
        (COUNT, 5, 5),
        (RATIO, 0, 0.0),
        (RATIO, "0.5", 0.5),
        (RATIO, ".5e1", 5.0),
        (RATIO, 2, 2.0),
        (FLAG, True, True),
        (FLAG, "false", False),
        (FLAG, "False", False),
        (FLAG, " TRUE ", True),
        (MODE, "b", "b"),
        (MODE, "3", 3),
        (MODE, 3, 3),
        (WORDS, ["a", 1], ["a", 1]),
        (WORDS, '["a, b", 1]', ["a, b", 1]),
        (WORDS, "a, b", ["a", "b"]),
        (WORDS, "", []),
        (TEXT, "3", "3"),
        (TEXT, "", ""),
    ],
)
def test_a_value_that_fits_gets_the_param_s_type(
    param: ConfigParam, given_value: Any, value: object
):
    found = coerce_value(param, given_value)

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("param", "given_value", "wanted"),
    [
        (COUNT, "3.5", "a whole number from 1 to 5"),
        (COUNT, 0, "a whole number from 1 to 5"),
        (COUNT, 6, "a whole number from 1 to 5"),
        (COUNT, True, "a whole number from 1 to 5"),
        (COUNT, "1_0", "a whole number from 1 to 5"),
        (COUNT, "\N{ARABIC-INDIC DIGIT THREE}", "a whole number from 1 to 5"),
        (COUNT, None, "a whole number from 1 to 5"),
        (COUNT, "9" * 10_000, "a whole number from 1 to 5"),
        (RATIO, "nan", "a finite number of at least 0"),
        (RATIO, "1e400", "a finite number of at least 0"),
        (RATIO, float("inf"), "a finite number of at least 0"),
        (RATIO, 10**400, "a finite number of at least 0"),
        pytest.param(RATIO, 10**5000, "a finite number of at least 0", id="5000 digits"),
        (RATIO, object(), "a finite number of at least 0"),
        (RATIO, -0.1, "a finite number of at least 0"),
        (RATIO, "0x10", "a finite number of at least 0"),
        (RATIO, False, "a finite number of at least 0"),
        (FLAG, 0, "true or false"),
        (FLAG, "0", "true or false"),
        (FLAG, "no", "true or false"),
        (MODE, "A", 'one of "a", "b", "3"'),
        (MODE, True, 'one of "a", "b", "3"'),
        (MODE, ["a"], 'one of "a", "b", "3"'),
        (WORDS, "[1,", "a list"),
        (WORDS, "[NaN]", "a list"),
        (WORDS, "[" * 100_000, "a list"),
        (WORDS, {"a": 1}, "a list"),
        (WORDS, [float("nan")], "a list"),
        (TEXT, 3, "a text"),
        (TEXT, None, "a text"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_with_what_would(
    param: ConfigParam, given_value: Any, wanted: str
):
    with pytest.raises(ParamError, match=f'param "{param.key}"') as caught:
        coerce_value(param, given_value)

    assert f"give {wanted}" in str(caught.value)
    assert len(str(caught.value)) < 300


def test_whole_numbers_of_64_bits_and_no_more():
    wide = ConfigParam(key="n", type="integer")

    assert coerce_value(wide, str(2**63 - 1)) == 2**63 - 1
    with pytest.raises(ParamError):
        coerce_value(wide, str(2**63))
    with pytest.raises(ParamError):
        coerce_value(wide, 1e18)


def test_an_upper_bound_alone_is_named():
    with pytest.raises(ParamError, match="of at most 2"):
        coerce_value(ConfigParam(key="x", type="float", max=2), 3)


def test_null_is_a_value_only_where_it_is_the_default():
    nullable = ConfigParam(key="n", type="integer", default=None)

    assert coerce_value(nullable, None) is None
    assert coerce_value(nullable, "4") == 4


def test_a_default_is_kept_in_the_param_s_own_type():
    assert ConfigParam(key="n", type="integer", default="3").default == 3
    assert isinstance(ConfigParam(key="x", type="float", default=1).default, float)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"key": "class", "type": "string"}, "a Python keyword"),
        ({"key": "a-b", "type": "string"}, "not a Python identifier"),
        ({"key": "", "type": "string"}, "not a Python identifier"),
        ({"key": "a" * 129, "type": "string"}, "128 characters"),
        ({"key": "a", "type": "int"}, 'did you mean "integer"'),
        ({"key": "a", "type": "integer", "min": 5, "max": 1}, "min 5 is above max 1"),
        ({"key": "a", "type": "float", "min": float("nan")}, "finite"),
        ({"key": "a", "type": "float", "max": True}, "finite"),
        ({"key": "a", "type": "string", "max": 3}, "go with a number"),
        ({"key": "a", "type": "string", "values": ("x",)}, "go with type enum"),
        ({"key": "a", "type": "enum"}, "needs values"),
        ({"key": "a", "type": "enum", "values": ("x", "x")}, "the same"),
        ({"key": "a", "type": "enum", "values": (1, "1")}, "the same"),
        ({"key": "a", "type": "enum", "values": ("x",), "default": "y"}, 'one of "x"'),
        ({"key": "a", "type": "integer", "max": 3, "default": 4}, "at most 3"),
        ({"key": "a", "type": "integer", "default": "x"}, "a whole number"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(fields: dict[str, Any], said: str):
    with pytest.raises(ParamError, match="param ") as caught:
        ConfigParam(**fields)

    assert said in str(caught.value)


def test_a_param_read_from_json_is_checked_just_the_same():
    with pytest.raises(ParamError):
        msgspec.json.decode('{"key":"a","type":"integer","min":2,"default":1}', type=ConfigParam)


def test_values_given_go_before_defaults_and_the_rest_is_left_to_the_code():
    settled = settle_values((COUNT, FLAG, WORDS), {"words": "a"})

    assert settled == {"flag": False, "words": ["a"]}


def test_an_unknown_key_is_refused_by_name_with_the_nearest():
    with pytest.raises(ParamError) as caught:
        settle_values((FLAG, MODE), {"flg": True})

    assert 'param "flg" is unknown (did you mean "flag"?); there are: "flag", "mode"' in str(
        caught.value
    )


def test_required_params_without_a_value_are_all_named():
    params = [ConfigParam(key=key, type="string", required=True) for key in ("a", "b")]

    with pytest.raises(ParamError, match=r'"a", "b" is required.*--param a=VALUE'):
        settle_values(params, {})


def test_a_required_param_with_a_default_needs_no_value():
    param = ConfigParam(key="a", type="string", required=True, default="x")

    assert settle_values([param], {}) == {"a": "x"}


@given(st.integers(-(2**63), 2**63 - 1))
def test_a_whole_number_survives_being_written_as_text(number: int):
    assert coerce_value(ConfigParam(key="n", type="integer"), str(number)) == number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives_being_written_as_text(number: float):
    assert coerce_value(ConfigParam(key="x", type="float"), repr(number)) == number


@given(
    st.sampled_from([COUNT, RATIO, FLAG, MODE, WORDS, TEXT]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ),
)
def test_a_value_fits_or_is_refused_and_what_fits_fits_again(param: ConfigParam, value: Any):
    try:
        found = coerce_value(param, value)
    except ParamError:
        return

    assert coerce_value(param, found) == found
