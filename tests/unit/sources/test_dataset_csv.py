"""CSV: separators, quotes, headers, ragged rows, and which cells are text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset import Column, open_dataset
from scorewright.sources.source import Notice

Write = Callable[[str, str | bytes], Path]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["d.csv", "d.tsv", "d.txt"])
def test_the_separator_is_found_by_content(write: Write, separator: str, name: str):
    lines = [("q", "a", "price"), ('"x,;\t|y"', "b", "1.234"), ("c", '"d\n,;|"', "2")]

    dataset = open_dataset(write(name, "\n".join(map(separator.join, lines))))

    assert dataset.sample(5) == [
        {"q": "x,;\t|y", "a": "b", "price": "1.234"},
        {"q": "c", "a": "d\n,;|", "price": "2"},
    ]


def test_among_separators_of_the_header_the_one_that_fits_the_rows_wins(write: Write):
    text = "Frage, kurz;Antwort\nWas, wie, wo?;1,50\nUnd?;ja\n"

    dataset = open_dataset(write("d.csv", text))

    assert dataset.sample(1) == [{"Frage, kurz": "Was, wie, wo?", "Antwort": "1,50"}]


def test_without_a_separator_in_the_header_a_line_is_one_cell(write: Write):
    dataset = open_dataset(write("d.csv", 'question\nWhat, when; where?\n"two\nlines"\n\n" "\n'))

    assert dataset.sample(5) == [
        {"question": "What, when; where?"},
        {"question": "two\nlines"},
        {"question": " "},
    ]


def test_byte_order_mark_and_carriage_returns_are_no_text(write: Write):
    dataset = open_dataset(write("d.csv", "\ufeffq,a\r\nx,1\r\ny,2"))

    assert dataset.sample(5) == [{"q": "x", "a": "1"}, {"q": "y", "a": "2"}]


def test_a_byte_order_mark_may_stand_before_a_quoted_name(write: Write):
    dataset = open_dataset(write("d.csv", '\ufeff"q","a"\nx,1\n'))

    assert dataset.sample(1) == [{"q": "x", "a": "1"}]


def test_cells_are_text_whatever_they_look_like(write: Write):
    cells = [
        "007",
        "1.234,50",
        "true",
        "null",
        "NaN",
        "1e5",
        " x ",
        "",
        "[Sun 20:58] hi",
        '"',
        "{a",
    ]
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    header = ",".join(f"c{index}" for index in range(len(cells)))

    dataset = open_dataset(write("d.csv", f"{header}\n{quoted}\n"))

    (row,) = dataset.sample(5)
    assert list(row.values()) == cells
    assert {column.type for column in dataset.columns} == {"string"}
    assert dataset.notices == ()


def test_a_column_whose_cells_are_all_json_is_decoded(write: Write):
    text = 'q,meta\na,"{""k"": [1, 2.50]}"\nb,\nc," [18446744073709551617]"\nd,"  "\n'

    dataset = open_dataset(write("d.csv", text))

    assert [row["meta"] for row in dataset.sample(9)] == [
        {"k": [1, 2.5]},
        None,
        [18446744073709551617],
        None,
    ]
    assert dataset.columns[1] == Column("meta", "json", 2)
    assert dataset.notices == (Notice(None, 'column "meta" holds JSON: read as such, not as text'),)


def test_one_cell_that_is_no_json_makes_the_column_text_throughout(write: Write):
    text = 'q,meta\na,"{""k"": 1}"\nb,\nc,"[NaN]"\n'

    dataset = open_dataset(write("d.csv", text))

    assert [row["meta"] for row in dataset.sample(9)] == ['{"k": 1}', "", "[NaN]"]
    assert dataset.columns[1] == Column("meta", "string", 0)
    (notice,) = dataset.notices
    assert (notice.line, notice.message[:25]) == (4, 'column "meta" stays text:')


@pytest.mark.parametrize("name", ["output", "outputs", "expected", "correct_answer", "input"])
def test_texts_of_the_application_are_never_decoded(write: Write, name: str):
    dataset = open_dataset(write("d.csv", f'q,{name}\na,"{{""k"": 1}}"\n'))

    assert dataset.sample(1) == [{"q": "a", name: '{"k": 1}'}]
    assert dataset.notices == ()


def test_a_column_can_be_declared_text(write: Write):
    path = write("d.csv", 'q,meta\na,"[1]"\n')

    dataset = open_dataset(path, text_columns=frozenset({"meta"}))

    assert dataset.sample(1) == [{"q": "a", "meta": "[1]"}]


@pytest.mark.parametrize("name", ["trace", "inputs"])
def test_traces_and_inputs_are_objects(write: Write, name: str):
    dataset = open_dataset(write("d.csv", f'q,{name}\na,"{{""k"": 1}}"\n'))

    assert dataset.sample(1) == [{"q": "a", name: {"k": 1}}]


def test_half_a_surrogate_pair_in_a_json_cell_becomes_a_stand_in(write: Write):
    dataset = open_dataset(write("d.csv", 'q,meta\na,"[""\\ud83d""]"\n'))

    assert dataset.sample(1) == [{"q": "a", "meta": ["\ufffd"]}]


def test_repeated_names_are_numbered_and_told(write: Write):
    dataset = open_dataset(write("d.csv", "a,b,a,a_2, a \n1,2,3,4,5\n"))

    assert dataset.sample(1) == [{"a": "1", "b": "2", "a_3": "3", "a_2": "4", "a_4": "5"}]
    assert dataset.notices == (
        Notice(1, 'column 3 is called "a_3": "a" stands before it'),
        Notice(1, 'column 5 is called "a_4": "a" stands before it'),
    )


def test_a_column_without_a_name_gets_one_or_goes_when_it_is_empty(write: Write):
    dataset = open_dataset(write("d.csv", "q,,column_2,,\na,,x,1,\nb, ,y,,\n"))

    assert dataset.sample(5) == [
        {"q": "a", "column_2": "x", "column_4": "1"},
        {"q": "b", "column_2": "y", "column_4": ""},
    ]
    assert [column.name for column in dataset.columns] == ["q", "column_2", "column_4"]
    assert [notice.message for notice in dataset.notices] == [
        "dropped columns 2, 5: neither a name nor a value",
        'column 4 has no name in the file: called "column_4"',
    ]


def test_cells_missing_at_the_end_of_a_row_are_absent_and_told(write: Write):
    dataset = open_dataset(write("d.csv", "a,b,c\n1,2,3\n4\n5,6\n"))

    assert dataset.sample(5) == [{"a": "1", "b": "2", "c": "3"}, {"a": "4"}, {"a": "5", "b": "6"}]
    assert [column.nulls for column in dataset.columns] == [0, 1, 2]
    assert dataset.notices == (
        Notice(3, "lines 3, 4: fewer cells than the header; the missing ones are absent"),
    )


def test_cells_beyond_the_header_are_refused_by_line(write: Write):
    with pytest.raises(DatasetError) as caught:
        open_dataset(write("d.csv", 'a,b\n1,2\n"x\ny",2,3\n4,5\n6,7,8,9\n'))

    said = str(caught.value)
    assert "2 bad lines, 2 good rows" in said
    assert "line 3: 3 cells, the header has 2" in said
    assert "line 6: 4 cells, the header has 2" in said


def test_empty_cells_beyond_the_header_are_no_data(write: Write):
    dataset = open_dataset(write("d.csv", "a,b\n1,2,\n3,4\n"))

    assert dataset.sample(5) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert dataset.notices == (Notice(2, "line 2: more cells than the header, all empty; dropped"),)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('a,b\n1,2\n3,"x\ny,z\n', 3),
        ('a,b\n"1\n1",2\n"x""\n\n",3\n"4",""\n5,"""z"" \n\n', 8),
        ('a,b\n"1\n\n1","2\n', 4),
        ('a,"b\n1,2\n', 1),
        ('a,b\n"1\n1","z"" y\n', 3),
    ],
)
def test_an_unclosed_quote_is_named_where_it_opens(write: Write, text: str, line: int):
    with pytest.raises(DatasetError, match=f"line {line}: the quote that opens a cell here"):
        open_dataset(write("d.csv", text))


def test_text_behind_a_closing_quote_is_refused_not_glued(write: Write):
    with pytest.raises(DatasetError) as caught:
        open_dataset(write("d.csv", 'a,b\n1,2\n"x,1\n"y",2\n3,4\n'))

    said = str(caught.value)
    assert "1 bad line, 1 good row" in said
    assert "line 4: something stands behind a closing quote" in said
    assert "its row starts at line 3" in said
    assert "reading stopped there" in said


def test_a_bare_carriage_return_is_refused_outside_of_quotes_only(write: Write):
    quoted = open_dataset(write("d.csv", 'a,b\n"x\ry",1\n'))

    assert quoted.sample(1) == [{"a": "x\ry", "b": "1"}]
    with pytest.raises(DatasetError, match="line 2: a bare carriage return"):
        open_dataset(write("e.csv", "a,b\nx\ry,1\n"))


def test_blank_lines_are_no_rows_but_rows_of_empty_cells_are(write: Write):
    dataset = open_dataset(write("d.csv", "\n  \na,b\n\n  \n,\n\n1,2\n"))

    assert dataset.sample(5) == [{"a": "", "b": ""}, {"a": "1", "b": "2"}]
    assert dataset.rows == 2


def test_a_header_alone_is_a_dataset_without_rows(write: Write):
    dataset = open_dataset(write("d.csv", "question,correct_answer\n"))

    assert dataset.rows == 0
    assert list(dataset.items()) == []
    assert [column.name for column in dataset.columns] == ["question", "correct_answer"]


def test_a_nul_byte_far_inside_is_refused_by_line(write: Write):
    text = "a,b\n" + "x,y\n" * 40_000 + "x,\0\n"

    with pytest.raises(DatasetError, match="line 40002 holds a NUL byte"):
        open_dataset(write("d.csv", text))


def test_text_in_braces_is_csv_unless_it_can_be_json(write: Write):
    dataset = open_dataset(write("d.csv", "[id],{name}\n1,x\n"))

    assert dataset.sample(1) == [{"[id]": "1", "{name}": "x"}]
    assert dataset.format == "csv"


def test_items_are_json_on_one_line(write: Write):
    dataset = open_dataset(write("d.csv", 'a,trace\n"x\ny\u2028","{\n""k"": 1}"\n'))

    (item,) = dataset.items()

    assert b"\n" not in item
    assert json.loads(item) == {"a": "x\ny\u2028", "trace": {"k": 1}}
