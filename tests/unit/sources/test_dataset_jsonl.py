"""JSON Lines: what is a row, what is refused, what is handed on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset import Column, open_dataset

Write = Callable[[str, str | bytes], Path]


def test_clean_lines_are_handed_on_byte_for_byte(write: Write):
    lines = ['{"a": 1.0,  "b": "é\\u00e9"}', '{"a":1e5,"b":"x"}']

    dataset = open_dataset(write("d.jsonl", "\n".join(lines)))

    assert list(dataset.items()) == [line.encode() for line in lines]
    assert list(dataset.items()) == [line.encode() for line in lines]


def test_only_a_line_feed_ends_a_line(write: Write):
    text = '{"a":"one\u2028two\u0085three\u2029"}\r\n{"a":"b"}'

    dataset = open_dataset(write("d.jsonl", text))

    assert dataset.sample(9) == [{"a": "one\u2028two\u0085three\u2029"}, {"a": "b"}]
    assert not any(b"\r" in item for item in dataset.items())


def test_blank_lines_and_a_byte_order_mark_are_no_rows(write: Write):
    dataset = open_dataset(write("d.jsonl", '\ufeff\n{"a":1}\n\n \t\r\n{"a":2}\n\n'))

    assert dataset.rows == 2
    assert list(dataset.items()) == [b'{"a":1}', b'{"a":2}']


def test_columns_are_the_union_and_absent_keys_stay_absent(write: Write):
    dataset = open_dataset(write("d.jsonl", '{"q":"a"}\n{"z":1,"q":"b"}\n{"q":null,"c":[]}\n'))

    assert dataset.columns == (
        Column("q", "string", 1),
        Column("z", "integer", 2),
        Column("c", "json", 2),
    )
    assert dataset.sample(1) == [{"q": "a"}]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "2"], "integer"),
        (["1", "2.5"], "number"),
        (["1.5", "null"], "number"),
        (["true", "false"], "boolean"),
        (["true", "1"], "mixed"),
        (['"a"', '"b"'], "string"),
        (['"a"', "1"], "mixed"),
        (["{}", "[]"], "json"),
        (["null", "null"], "null"),
        (["18446744073709551616", "1"], "integer"),
    ],
)
def test_a_column_has_the_type_of_its_values(write: Write, values: list[str], expected: str):
    text = "\n".join(f'{{"a":{value}}}' for value in values)

    (column,) = open_dataset(write("d.jsonl", text)).columns

    assert column.type == expected


def test_integers_beyond_64_bits_stay_exact(write: Write):
    number = 2**200 + 1

    dataset = open_dataset(write("d.jsonl", f'{{"a":{number}}}\n'))

    assert dataset.sample(1) == [{"a": number}]


def test_every_bad_line_is_named_with_its_reason(write: Write):
    lines = ['{"a":1}', '{"a":1,}', "[1]", '"x"', "7", "null", "true", '{"a":', "{'a':1}", "", "{}"]

    with pytest.raises(DatasetError) as caught:
        open_dataset(write("d.jsonl", "\n".join(lines)))

    said = str(caught.value)
    assert "8 bad lines, 2 good rows" in said
    for expected in (
        "line 2: not JSON: trailing comma in object (column 8)",
        "line 3: not an object but a list",
        "line 4: not an object but a text",
        "line 5: not an object but a number",
        "line 6: not an object but null",
        "line 7: not an object but true or false",
        "line 8: not JSON: it ends inside a value",
        "line 9: not JSON: object keys must be strings (column 2)",
    ):
        assert expected in said


def test_a_long_list_of_bad_lines_is_cut_and_counted(write: Write):
    with pytest.raises(DatasetError) as caught:
        open_dataset(write("d.jsonl", '{"a":1}\n' + "broken\n" * 5_000))

    said = str(caught.value)
    assert "5000 bad lines, 1 good row;" in said
    assert "and 4980 more" in said
    assert len(said) < 2_000


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("NaN", "NaN is not JSON"),
        ("Infinity", "Infinity is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("[1, NaN]", "NaN is not JSON"),
        ("1e400", "a number out of range"),
        ("-1e400", "a number out of range"),
        ("01", "invalid number"),
        ('"\t"', "invalid character"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(write: Write, value: str, reason: str):
    with pytest.raises(DatasetError, match="line 2: .*" + reason.replace("-", "\\-")):
        open_dataset(write("d.jsonl", f'{{"a":-0.0}}\n{{"a":{value}}}\n'))


def test_half_a_surrogate_pair_becomes_a_stand_in_and_nothing_else_changes(write: Write):
    lines = [
        '{"q":"a\\u0000b"}',
        '{"q":"cut \\ud83d","n":1.0}',
        '{"q":"ok \\uD83D\\uDE00"}',
        '{"q":"\\\\ud83d and \\ude00\\ud83d\\u0041","\\udead":10000000000000000000000}',
    ]

    dataset = open_dataset(write("d.jsonl", "\n".join(lines)))

    assert [json.loads(item) for item in dataset.items()] == [
        {"q": "a\0b"},
        {"q": "cut \ufffd", "n": 1.0},
        {"q": "ok \U0001f600"},
        {"q": "\\ud83d and \ufffd\ufffdA", "\ufffd": 10**22},
    ]
    assert list(dataset.items())[1] == b'{"q":"cut \\ufffd","n":1.0}'
    (notice,) = dataset.notices
    assert notice.line == 2
    assert notice.message.startswith("lines 2, 4: half of a surrogate pair")


def test_half_a_surrogate_pair_does_not_hide_another_fault(write: Write):
    with pytest.raises(DatasetError, match="line 1: NaN is not JSON"):
        open_dataset(write("d.jsonl", '{"q":"\\ud83d","n":NaN}\n{"q":"b"}\n'))


def test_of_two_equal_keys_the_last_one_counts(write: Write):
    dataset = open_dataset(write("d.jsonl", '{"a":1,"a":"x"}\n'))

    assert dataset.columns == (Column("a", "string", 0),)
    assert dataset.sample(1) == [{"a": "x"}]


def test_keys_used_as_data_are_refused_before_they_fill_the_memory(write: Write):
    text = "".join(f'{{"k{number}":1}}\n' for number in range(10_001))

    with pytest.raises(DatasetError, match="more than 10,000 different columns"):
        open_dataset(write("d.jsonl", text))


def test_lines_across_chunks_stay_whole(write: Write):
    rows = [{"n": number, "t": "ä" * (number * 37 % 9_000)} for number in range(400)]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)

    dataset = open_dataset(write("d.jsonl", text))

    assert [json.loads(item) for item in dataset.items()] == rows
