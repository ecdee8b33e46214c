"""Field paths, from text to steps and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.binding import Path
from scorewright.domain.errors import MappingError
from scorewright.domain.field_path import parse_path, print_path


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("output", ("output",)),
        ("trace.output.items[0].price", ("trace", "output", "items", 0, "price")),
        ("$.trace.output", ("trace", "output")),
        ('$["unit price"].amount', ("unit price", "amount")),
        ("a[-1][0]", ("a", -1, 0)),
        ('a["b.c"]["\\"q\\" \\u00e9"]', ("a", "b.c", '"q" é')),
        ("unit price.amount", ("unit price", "amount")),
        ("größe.日本", ("größe", "日本")),
        ("a.0", ("a", "0")),
        ("$price", ("$price",)),
        ("a.x-y_z", ("a", "x-y_z")),
    ],
)
def test_a_path_is_read(text: str, path: Path):
    assert parse_path(text) == path


@pytest.mark.parametrize(
    ("text", "columns", "path"),
    [
        ("trace.output", ["trace", "trace.output"], ("trace.output",)),
        ("trace.output[0].x", ["trace", "trace.output"], ("trace.output", 0, "x")),
        ("trace.outputs", ["trace", "trace.output"], ("trace", "outputs")),
        ("a[*]", ["a[*]"], ("a[*]",)),
        ("$.a", ["$.a", "a"], ("$.a",)),
    ],
)
def test_a_known_column_is_taken_whole_dots_and_all(text: str, columns: list[str], path: Path):
    assert parse_path(text, fields={c: (c,) for c in columns}) == path


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("a[*].b", 2, "wildcards are not supported"),
        ("a.*", 3, "wildcards are not supported"),
        ("*", 1, "wildcards are not supported"),
        ("a[0:2]", 2, "slices are not supported"),
        ("a[:-1]", 2, "slices are not supported"),
        ("a..b", 3, "any depth"),
        ("a[?(@.x)]", 2, "filters are not supported"),
        ("a[01]", 2, "a whole number"),
        ("a[1.5]", 2, "a whole number"),
        ("a[12345678901]", 2, "a whole number"),
        ("a['x']", 2, "double quotes"),
        ("a[", 2, "a whole number"),
        ('a["\\x"]', 2, "no JSON text"),
        ("", 1, "a name is missing"),
        ("a.", 3, "a name is missing"),
        ("a.b.", 5, "a name is missing"),
        ("a[0]b", 5, "cannot stand like this"),
        (" a", 1, "cannot stand like this"),
        ("[0]", 1, "start with a name"),
    ],
)
def test_what_is_no_path_is_refused_at_its_column(text: str, column: int, said: str):
    with pytest.raises(MappingError) as caught:
        parse_path(text)

    assert f"column {column}: " in str(caught.value)
    assert said in str(caught.value)


def test_a_path_is_bounded():
    with pytest.raises(MappingError, match="too long"):
        parse_path("a" * 2000)


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(names, st.lists(names | st.integers(-999_999_999, 999_999_999), max_size=5))
def test_a_printed_path_reads_back_as_it_was(first: str, rest: list[str | int]):
    path = (first, *rest)

    assert parse_path(print_path(path)) == path


@given(st.text(alphabet='ab.[]"\\0-1:*?$ ', max_size=15))
def test_a_text_is_a_path_or_refused_by_name(text: str):
    try:
        path = parse_path(text)
    except MappingError:
        return

    assert parse_path(print_path(path)) == path
