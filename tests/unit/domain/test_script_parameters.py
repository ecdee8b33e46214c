"""Parameters of scripts: which are required, and what their defaults, types and places are."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from script_sources import diagnostics, names, place, problem, signature

from scorewright.domain.signature import Parameter
from scorewright.domain.source_limits import MAX_PARAMETERS


def parameter(text: str, *, typed: bool = False) -> Parameter:
    source = f"function evaluate({text}) {{}}"
    (found,) = signature(source, language="typescript" if typed else "javascript").parameters
    return found


def test_without_a_default_every_parameter_is_required():
    found = signature("function evaluate(input, output, context) {}").parameters

    assert [(p.name, p.required) for p in found] == [
        ("input", True),
        ("output", True),
        ("context", True),
    ]


def test_a_default_makes_a_parameter_optional():
    found = parameter("context = null")

    assert found == Parameter(
        name="context",
        kind="positional_or_keyword",
        required=False,
        default=None,
        default_text="null",
        line=1,
        column=19,
    )


def test_a_parameter_with_a_default_may_stand_before_one_without():
    found = signature("function evaluate(a = 1, b) {}").parameters

    assert [(p.name, p.required) for p in found] == [("a", False), ("b", True)]


@pytest.mark.parametrize(
    ("text", "required", "annotation"),
    [
        ("a: string", True, "string"),
        ("a?: string", False, "string"),
        ("a?", False, None),
        ("a: Record<string, any> | null", True, "Record<string, any> | null"),
        ("a: number = 3", False, "number"),
        ("a: string | undefined", True, "string | undefined"),
    ],
)
def test_a_type_is_kept_and_a_question_mark_makes_optional(
    text: str, annotation: str | None, *, required: bool
):
    found = parameter(text, typed=True)

    assert (found.name, found.required, found.annotation) == ("a", required, annotation)


def test_a_question_mark_gives_no_default():
    found = parameter("a?: number", typed=True)

    assert (found.default, found.default_text) == (msgspec.UNSET, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("1.50", 1.5),
        ("2.0", 2),
        (".5", 0.5),
        ("5.", 5),
        ("1e3", 1000),
        ("-1.5e-3", -0.0015),
        ("+7", 7),
        ("0x1F", 31),
        ("0b101", 5),
        ("0o17", 15),
        ("1_000", 1000),
        ("true", True),
        ("false", False),
        ("null", None),
        ("''", ""),
        (r"'a\n\x41\u00e9\u{1F600}\q\''", "a\nAé😀q'"),
        (r"'\ud83d\ude00'", "😀"),
        ("'a\\\nb'", "ab"),
        ("`text`", "text"),
        ("[]", []),
        ("[1, 'a', [null],]", [1, "a", [None]]),
        ("{}", {}),
        ("{a: 1, 'b c': {d: false}, 3: []}", {"a": 1, "b c": {"d": False}, "3": []}),
        ("(1)", 1),
        ("[/* none */]", []),
    ],
)
def test_a_literal_default_is_read_as_json(text: str, value: object):
    found = parameter(f"a = {text}")

    assert found.default == value
    assert isinstance(found.default, type(value))
    assert found.default_text == text


@pytest.mark.parametrize(
    "text",
    [
        *("undefined", "NaN", "Infinity", "10n", "1e400", "010", "089", "!0", "-x", "a.b", "f()"),
        *("/x/", "`${x}`", "'\\ud83d'", r"'\07'", "[1, , 2]", "[, 1]", "[...x]", "{...x}", "{x}"),
        *("{[x]: 1}", "{f() {}}", "{__proto__: 1}", "{a: b}", "() => 1", "[" * 40 + "]" * 40),
        *("new Date()", "1 + 1", "{10n: 1}", "'a' + 'b'", "- -1", r"{\u0061: 1}"),
    ],
)
def test_any_other_default_is_kept_as_text(text: str):
    found = parameter(f"a = {text}")

    assert found.default is msgspec.UNSET
    assert (found.required, found.default_text) == (False, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[] as string[]", []),
        ("{} as const", {}),
        ("{a: 1} satisfies Shape", {"a": 1}),
        ("<Shape>{}", {}),
    ],
)
def test_a_type_assertion_does_not_hide_a_default(text: str, value: object):
    assert parameter(f"a = {text}", typed=True).default == value


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_every_json_text_is_read_as_the_value_it_stands_for(value: object):
    found = parameter(f"a = {json.dumps(value)}")

    assert found.default == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_number_is_read_exactly(number: float):
    assert parameter(f"a = {number!r}").default == number


def test_columns_are_counted_in_characters():
    found = signature("function evaluate(größe, 数值 = '😀', last) {}").parameters

    assert [(p.name, p.line, p.column) for p in found] == [
        ("größe", 1, 19),
        ("数值", 1, 26),
        ("last", 1, 36),
    ]


def test_parameters_may_be_spread_over_lines_with_comments_between():
    source = "function evaluate(\n  a, // first\n  /* second */ b = 1,\n) {}\r\n"

    found = signature(source).parameters

    assert [(p.name, p.line, p.column) for p in found] == [("a", 2, 3), ("b", 3, 16)]


def test_the_type_of_this_is_no_parameter():
    source = "function evaluate(this: Window, a: string) {}"

    assert names(source, language="typescript") == ["a"]


@pytest.mark.parametrize("pattern", ["{ question, answer }", "[first]", "{ a: { b } }"])
def test_a_pattern_without_a_default_is_an_error(pattern: str):
    source = f"function evaluate(x, {pattern}) {{}}"

    assert place(source) == ("error", "destructured_parameter", 1, 22)
    assert f'"{pattern}"' in problem(source).message


def test_a_pattern_with_a_default_keeps_its_place():
    found = signature("function evaluate({ a } = {}, b) {}").parameters

    assert [(p.name, p.kind, p.required) for p in found] == [
        ("{ a }", "destructured", False),
        ("b", "positional_or_keyword", True),
    ]


@pytest.mark.parametrize(
    ("source", "column"),
    [("function evaluate(a, ...rest) {}", 22), ("const evaluate = (a, ...[b, c]) => 1", 22)],
)
def test_a_rest_parameter_stays_empty_with_a_warning(source: str, column: int):
    assert names(source) == ["a"]
    assert place(source) == ("warning", "keeps_default", 1, column)


def test_a_typed_rest_parameter_is_one_too():
    source = "function evaluate(a: string, ...rest: any[]) {}"

    assert names(source, language="typescript") == ["a"]
    assert problem(source, language="typescript").code == "keeps_default"


def test_two_parameters_of_one_name_are_an_error():
    assert place("function evaluate(a, b, a) {}") == ("error", "syntax_error", 1, 25)


@pytest.mark.parametrize(
    ("count", "codes"), [(MAX_PARAMETERS, []), (MAX_PARAMETERS + 1, ["too_complex"])]
)
def test_the_number_of_parameters_is_bounded(count: int, codes: list[str]):
    listed = ", ".join(f"p{i}" for i in range(count))

    assert [d.code for d in diagnostics(f"function evaluate({listed}) {{}}")] == codes


def test_a_long_pattern_is_cut_where_it_is_named():
    source = f"function evaluate({{{', '.join(f'name{i}' for i in range(50))}}}) {{}}"

    assert "…" in problem(source).message
    assert len(problem(source).message) < 250
