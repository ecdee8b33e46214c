"""Reading a type out of an annotation's text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.annotation import literal_values, read_type


@pytest.mark.parametrize(
    "text",
    [
        "Trace",
        "amp.Trace",
        "a.b.Trace",
        "'Trace'",
        '"amp.Trace"',
        "Trace | None",
        "None | Trace",
        "'Trace' | None",
        "'Trace | None'",
        "Optional[Trace]",
        "typing.Optional['Trace']",
        "\"Optional['Trace']\"",
        "Union[Trace, None]",
        "Union[None, 'amp.Trace']",
        "Annotated[Trace, 'a | b, c']",
        "Annotated[Optional[Trace], Doc(']')]",
        " Trace ",
    ],
)
def test_a_type_is_found_under_what_stands_around_it(text: str):
    found = read_type(text)

    assert found is not None
    assert (found.name, found.inner) == ("Trace", "")


@pytest.mark.parametrize(
    ("text", "name", "inner"),
    [
        ("list[Trace]", "list", "Trace"),
        ("dict[str, Trace] | None", "dict", "str, Trace"),
        ("Literal['a', 'b|c']", "Literal", "'a', 'b|c'"),
        ("t.Literal[\n 'a'\n]", "Literal", "'a'"),
    ],
)
def test_what_is_between_the_brackets_belongs_to_the_type(text: str, name: str, inner: str):
    assert read_type(text) == (name, inner)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "Trace | AgentTrace",
        "Union[Trace, dict]",
        "f(x)",
        "x if y else z",
        "1",
        "None",
        "'",
    ],
)
def test_no_type_or_several_are_none(text: str | None):
    assert read_type(text) is None


@pytest.mark.parametrize(
    ("inner", "values"),
    [("'a', \"b\"", ("a", "b")), ("1, -2", (1, -2)), ("A.B", ()), ("", ()), ("'a'] + [1", ())],
)
def test_literal_values_are_read_without_running_anything(inner: str, values: tuple[object, ...]):
    assert literal_values(inner) == values


@given(st.text(alphabet="Tra ce|[],.'\"Optional(Union)None", max_size=40))
def test_no_annotation_is_an_error(text: str):
    found = read_type(text)

    assert found is None or found.name.isidentifier()
