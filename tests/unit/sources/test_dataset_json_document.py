"""JSON documents: where their rows are, and how a document differs from JSON Lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset import Column, open_dataset

Write = Callable[[str, str | bytes], Path]


def test_a_list_of_objects_is_rows(write: Write):
    dataset = open_dataset(write("d.json", '\n [ {"a": 1},\r\n  {"a":\n 2.5,\n"b":"x\\ny"} ]\n'))

    assert dataset.format == "json"
    assert dataset.rows == 2
    assert dataset.columns == (Column("a", "number", 0), Column("b", "string", 1))
    assert list(dataset.items()) == [b'{"a": 1}', b'{"a": 2.5,"b":"x\\ny"}']


def test_an_empty_list_is_a_dataset_without_rows(write: Write):
    dataset = open_dataset(write("d.json", "[]"))

    assert (dataset.rows, dataset.columns, list(dataset.items())) == (0, (), [])


@pytest.mark.parametrize("member", ["data", "rows", "items", "examples", "records", "testcases"])
def test_an_object_may_hold_its_rows_in_one_list(write: Write, member: str):
    text = f'{{"version": [1], "{member}": [{{"a": 1}}, {{"a": 2}}]}}'

    dataset = open_dataset(write("d.json", text))

    assert dataset.sample(5) == [{"a": 1}, {"a": 2}]
    (notice,) = dataset.notices
    assert notice.message == f'the rows are the list "{member}"; not read: "version"'


def test_two_lists_of_rows_are_refused_rather_than_chosen_from(write: Write):
    with pytest.raises(DatasetError, match='"data" and "rows" are lists of objects; keep the one'):
        open_dataset(write("d.json", '{"rows": [{"a": 1}], "data": [{"a": 2}]}'))


def test_an_object_without_a_list_of_rows_is_one_row(write: Write):
    text = '{\n "messages": [{"role": "user"}],\n "data": [1, 2]\n}'

    dataset = open_dataset(write("d.json", text))

    assert dataset.sample(5) == [{"messages": [{"role": "user"}], "data": [1, 2]}]
    assert "read as a single row" in dataset.notices[0].message


def test_items_that_are_no_objects_are_named_with_their_lines(write: Write):
    with pytest.raises(DatasetError) as caught:
        open_dataset(write("d.json", '[\n{"a": 1},\n[1],\n  "x", 3,\n{"a": 1e400}\n]'))

    said = str(caught.value)
    assert "4 bad items, 1 good row" in said
    assert "item 2 (line 3): not an object but a list" in said
    assert "item 3 (line 4): not an object but a text" in said
    assert "item 4 (line 4): not an object but a number" in said
    assert "item 5 (line 5): a number out of range" in said


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[{"a": 1},\n {"a": }]', "line 2: not JSON: invalid character .column 8."),
        ('[{"a": 1},\n {"a": NaN}]', "line 2: NaN is not JSON"),
        ('[{"a": 1},\n {"a": 2}\n', "line 2: not JSON: it ends inside a value"),
        ('[{"a": 1}]\n[{"a": 2}]', "line 2: not JSON: trailing .*JSON Lines"),
        ('{\n"a": 1\n}\n{\n"a": 2\n}', "line 4: not JSON: trailing .*JSON Lines"),
    ],
)
def test_a_broken_document_is_refused_with_the_line(write: Write, text: str, reason: str):
    with pytest.raises(DatasetError, match=reason):
        open_dataset(write("d.json", text))


def test_a_wrong_encoding_inside_of_a_text_is_found(write: Write):
    data = '[{"a": "ok"},\n {"a": "é'.encode() + b'\x93"}]'

    with pytest.raises(DatasetError, match="not UTF-8: byte 0x93 at line 2, column 10"):
        open_dataset(write("d.json", data))


def test_halves_of_surrogate_pairs_are_mended_and_named_by_item(write: Write):
    dataset = open_dataset(write("d.json", '[{"a": "ok"},\n{"a": "\\uD83D"}]'))

    assert dataset.sample(5) == [{"a": "ok"}, {"a": "\ufffd"}]
    assert dataset.notices[0].message.startswith("item 2: half of a surrogate pair")


@pytest.mark.parametrize("name", ["d.json", "d.jsonl", "d.csv", "d.txt", "d"])
def test_json_lines_are_known_by_their_content(write: Write, name: str):
    dataset = open_dataset(write(name, '{"a": {"b": 1}}\n\n{"a": 2}\n'))

    assert (dataset.format, dataset.rows) == ("jsonl", 2)


def test_a_format_that_the_name_does_not_promise_is_told(write: Write):
    plain = open_dataset(write("d.jsonl", '{"a": 1}\n{"a": 2}\n'))
    odd = open_dataset(write("d.json", '{"a": 1}\n{"a": 2}\n'))
    packed = open_dataset(write("d.csv.gz", '[{"a": 1}]'))

    assert plain.notices == ()
    assert "JSON Lines by its content, though not by its name" in odd.notices[0].message
    assert "JSON by its content" in packed.notices[0].message


@pytest.mark.parametrize("name", ["d.json", "d.jsonl"])
def test_a_document_over_several_lines_is_none_of_json_lines(write: Write, name: str):
    dataset = open_dataset(write(name, '{\n"data": [\n{"a": 1},\n{"a": 2}\n]}'))

    assert dataset.sample(5) == [{"a": 1}, {"a": 2}]


def test_one_object_on_one_line_follows_the_name(write: Write):
    text = '{"data": [{"a": 1}, {"a": 2}]}'

    lines = open_dataset(write("d.jsonl", text))
    document = open_dataset(write("d.json", text))

    assert lines.sample(5) == [{"data": [{"a": 1}, {"a": 2}]}]
    assert document.sample(5) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "first", ['{"a": 1,}', '{"a": 1', '{"a": 1},', "{'a': 1}", "[1, 2]", '"x"']
)
def test_a_broken_first_line_of_json_lines_is_named_as_a_line(write: Write, first: str):
    with pytest.raises(DatasetError, match=r"1 bad line, 1 good row.*\n  line 1: "):
        open_dataset(write("d.jsonl", f'{first}\n{{"a": 2}}\n'))
