"""Real data sets with the facts that were written down beside them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from scorewright.domain.errors import DatasetError
from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset import Dataset, inspect, open_dataset

CASES = Path(__file__).parents[2].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="needs the cases beside the repository")

READ = [101, 102, 105, 106, 109, 111, 112, 113, 118, 124, 127, 129, 133, 135]
REFUSED = [116, 119, 123]


def facts(number: int) -> dict[str, Any]:
    return json.loads((CASES / f"case_{number}.expect.json").read_text(encoding="utf-8"))


def data_of(number: int) -> Path:
    return CASES / facts(number)["files"][0]


def opened(number: int) -> Dataset:
    return open_dataset(data_of(number))


def rows_of(number: int) -> list[JsonObject]:
    return strict_rows(opened(number))


def strict_rows(dataset: Dataset) -> list[JsonObject]:
    def refuse(token: str) -> float:
        raise AssertionError(f"{token} is not JSON")

    return [json.loads(item.decode(), parse_constant=refuse) for item in dataset.items()]


def refusal(number: int) -> str:
    with pytest.raises(DatasetError) as caught:
        opened(number)
    return str(caught.value)


def test_every_dataset_case_is_tested():
    kinds = {
        path.name[5:8]
        for path in CASES.glob("case_*.expect.json")
        if json.loads(path.read_text(encoding="utf-8")).get("kind") == "dataset"
    }

    assert kinds == {str(number) for number in (*READ, *REFUSED)}


@pytest.mark.parametrize("number", READ)
def test_rows_and_columns_are_those_of_the_facts(number: int):
    known = facts(number)["facts"]

    dataset = opened(number)

    named = [name for name in known.get("columns", []) if name]
    assert dataset.rows == known["rows"] == len(strict_rows(dataset))
    assert [column.name for column in dataset.columns][: len(named)] == named


@pytest.mark.parametrize("number", READ)
def test_a_packed_case_is_the_same_dataset(number: int, tmp_path: Path):
    packed = tmp_path / data_of(number).name
    packed.write_bytes(gzip.compress(data_of(number).read_bytes()))

    assert inspect(open_dataset(packed)) == inspect(opened(number))


@pytest.mark.parametrize("number", READ)
def test_what_inspect_says_is_json(number: int):
    said = inspect(opened(number))

    assert list(said) == ["rows", "columns", "sample", "notices"]
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_101_keeps_line_breaks_and_drops_the_nameless_empty_column():
    dataset = opened(101)

    assert [column.name for column in dataset.columns] == ["question", "expected_answer"]
    assert dataset.sample(1)[0]["question"] == facts(101)["facts"]["cell_0_0"]
    assert "dropped column 3" in dataset.notices[0].message


def test_102_doubled_quotes_are_single_ones():
    assert 'customers = "Ada North"' in str(rows_of(102)[0]["SQL"])


def test_105_golden_answers_can_be_cut_out():
    gold = [str(row["answer"]).rsplit("####", 1)[1].strip() for row in rows_of(105)]

    assert gold == facts(105)["facts"]["gold"]


def test_106_is_known_as_json_lines_by_its_content():
    dataset = opened(106)

    question = cast("Any", dataset.sample(1)[0]["question"])
    assert question[0][0]["content"].startswith("请问北京")
    assert (dataset.format, len(dataset.notices)) == ("jsonl", 1)


def test_109_an_absent_key_is_absent():
    assert rows_of(109)[0] == {"question": "What is 2+2?", "answer": "4"}


def test_111_joined_lists_stay_text_and_json_is_decoded():
    row = rows_of(111)[0]

    assert str(row["success_criteria"]).count("|") == 2
    assert row["metadata"] == {"category": "policy-inquiry", "difficulty": "easy"}


def test_112_and_411_a_byte_order_mark_is_no_part_of_a_name():
    assert rows_of(112) == [
        {"question": "What is 2+2?", "correct_answer": "4"},
        {"question": "Capital of France?", "correct_answer": "Paris"},
    ]
    assert rows_of(118)[0] == {"q": "one"}


def test_113_a_decimal_comma_is_text():
    assert list(rows_of(113)[0].values()) == facts(113)["facts"]["r0"]


def test_116_names_every_line_with_a_number_that_json_has_not():
    said = refusal(116)

    assert re.findall(r"line (\d+):", said) == ["1", "2", "3", "4"]
    assert "1 good row;" in said


def test_118_only_a_line_feed_ends_a_line():
    assert [row["q"] for row in rows_of(118)] == ["one", "two\u2028still two", "three"]


def test_119_names_every_broken_line():
    said = refusal(119)

    assert re.findall(r"line (\d+):", said) == ["3", "4", "5"]
    assert said.count("not an object") == 2
    assert "3 good rows;" in said


def test_123_names_the_byte_that_is_no_utf_8():
    assert "not UTF-8: byte 0x93 at line 2, column 1" in refusal(123)


def test_124_tabs_separate_under_any_name():
    assert rows_of(124)[0] == {"q": "Open?", "a": "yes, but only on Sundays"}


def test_127_parquet_values_have_a_json_form():
    rows = cast("list[dict[str, Any]]", rows_of(127))

    assert [row["score"] for row in rows] == [0.0, None, None]
    assert rows[0]["big"] == 9007199254740993
    assert rows[2]["flag"] is None
    assert rows[0]["messages"][0]["content"] == "hi"
    assert rows[1]["messages"] == []
    assert rows[0]["raw"] == "AP8="
    assert rows[0]["when"] == "2026-03-29T03:30:00+02:00"
    assert any("NaN" in notice.message for notice in opened(127).notices)


def test_129_a_header_alone_has_columns_and_no_rows():
    dataset = opened(129)

    assert list(dataset.items()) == []
    assert [column.name for column in dataset.columns] == ["question", "correct_answer"]


def test_133_columns_may_be_called_like_parameters():
    (row,) = rows_of(133)

    assert row["outputs"] == "col"
    assert list(row) == ["inputs", "outputs", "trace", "context", "score", "self", "class"]


def test_135_a_list_in_a_cell_is_not_split():
    (row,) = cast("list[dict[str, Any]]", rows_of(135))

    (call,) = row["tools_called"]
    assert call["input_parameters"]["note"] == "window; not aisle, please"


@pytest.fixture
def bug() -> Callable[[int], dict[str, Any]]:
    def read(number: int) -> dict[str, Any]:
        return json.loads((CASES / f"case_{number}.json").read_text(encoding="utf-8"))

    return read


def test_356_a_text_that_looks_like_json_stays_text(
    bug: Callable[[int], dict[str, Any]], tmp_path: Path
):
    texts = bug(356)["input"]["texts"]
    table = io.StringIO()
    csv.writer(table).writerows([["q", "note"], *(["x", text] for text in texts)])
    path = tmp_path / "d.csv"
    path.write_text(table.getvalue(), encoding="utf-8")

    assert [row["note"] for row in strict_rows(open_dataset(path))] == texts


def test_382_half_an_emoji_costs_no_row(bug: Callable[[int], dict[str, Any]], tmp_path: Path):
    path = tmp_path / "d.jsonl"
    path.write_text("\n".join(bug(382)["input"]["json_lines"]), encoding="utf-8")

    dataset = open_dataset(path)

    assert [row["q"] for row in strict_rows(dataset)] == ["a\0b", "cut \ufffd", "ok \U0001f600"]
    assert all(item.decode() for item in dataset.items())
    assert [notice.line for notice in dataset.notices] == [2]
