"""What holds for all data: what was written is what is read, in every format."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from scorewright.domain.json_text import mend_surrogates
from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset import Dataset, from_rows, open_dataset

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
NAMES = st.text("abcdefgh", min_size=1, max_size=4)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
# With "\n" as the end of lines the library leaves a bare "\r" unquoted, which is no CSV.
FORMS: list[tuple[str, Literal[0, 1]]] = [("\n", csv.QUOTE_ALL), ("\r\n", csv.QUOTE_MINIMAL)]
ROWS = st.lists(st.dictionaries(TEXT, VALUES, max_size=5), min_size=1, max_size=6)


def read(data: bytes, name: str) -> tuple[Dataset, list[JsonObject]]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, name)
        path.write_bytes(data)
        dataset = open_dataset(path)
        return dataset, [json.loads(item) for item in dataset.items()]


@given(rows=ROWS, ascii_only=st.booleans(), end=st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_json_lines_read_back_equal(rows: list[JsonObject], ascii_only: bool, end: str):  # noqa: FBT001
    data = end.join(json.dumps(row, ensure_ascii=ascii_only) for row in rows).encode()

    dataset, found = read(data, "d.jsonl")

    assert found == rows
    assert dataset.rows == len(rows)
    assert [column.name for column in dataset.columns] == list(
        dict.fromkeys(name for row in rows for name in row)
    )
    assert all(
        column.nulls == sum(row.get(column.name) is None for row in rows)
        for column in dataset.columns
    )
    assert read(gzip.compress(data), "d.jsonl")[1] == rows


@given(rows=ROWS, indent=st.none() | st.integers(0, 3))
def test_documents_read_back_equal(rows: list[JsonObject], indent: int | None):
    data = json.dumps(rows, indent=indent).encode()

    dataset, found = read(data, "d.json")

    assert (dataset.format, found) == ("json", rows)


@given(rows=ROWS)
def test_rows_in_memory_and_in_a_file_are_the_same_dataset(rows: list[JsonObject]):
    data = "\n".join(json.dumps(row) for row in rows).encode()

    dataset, found = read(data, "d.jsonl")
    memory = from_rows(rows)

    assert (memory.rows, memory.columns) == (dataset.rows, dataset.columns)
    assert [json.loads(item) for item in memory.items()] == found


@given(
    data=st.data(),
    separator=st.sampled_from(",;\t|"),
    form=st.sampled_from(FORMS),
)
def test_csv_reads_back_equal(data: st.DataObject, separator: str, form: tuple[str, Literal[0, 1]]):
    names = data.draw(st.lists(NAMES, min_size=2, max_size=4, unique=True))
    cells = st.lists(CELLS, min_size=len(names), max_size=len(names))
    table = data.draw(st.lists(cells, max_size=5))
    text = io.StringIO()
    end, quoting = form
    writer = csv.writer(text, delimiter=separator, lineterminator=end, quoting=quoting)
    writer.writerows([names, *table])

    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "d.csv")
        path.write_bytes(text.getvalue().encode())
        dataset = open_dataset(path, text_columns=frozenset(names))
        found = [json.loads(item) for item in dataset.items()]

    assert found == [dict(zip(names, row, strict=True)) for row in table]
    assert [column.name for column in dataset.columns] == names


@given(text=st.text(st.sampled_from('\ud83d\ude00\ud800\udfff\\u"ad8\U0001f600'), max_size=30))
def test_mending_changes_halves_of_surrogate_pairs_and_nothing_else(text: str):
    encoded = json.dumps({"a": text, "\\ud83d": "\\\\ud83d"}).encode()

    mended = mend_surrogates(encoded)

    assert json.loads(mended)["a"] == text.encode("utf-16", "surrogatepass").decode(
        "utf-16", "replace"
    )
    assert len(mended) == len(encoded)
    assert json.loads(mended)["\\ud83d"] == "\\\\ud83d"
