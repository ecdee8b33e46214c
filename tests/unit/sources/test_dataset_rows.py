"""Rows in memory: mappings and frames."""

from __future__ import annotations

import datetime as dt
import enum
import math
from decimal import Decimal
from types import MappingProxyType
from typing import Any, cast
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pytest

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset import Column, from_rows, inspect


class Colour(enum.Enum):
    RED = "red"


def test_mappings_become_items_in_order():
    rows = [{"q": "a", "n": 1}, MappingProxyType({"q": "b", "z": [1, {"k": None}]})]

    dataset = from_rows(rows)

    assert (dataset.path, dataset.format, dataset.rows) == (None, "rows", 2)
    assert dataset.columns == (
        Column("q", "string", 0),
        Column("n", "integer", 1),
        Column("z", "json", 1),
    )
    assert list(dataset.items()) == [b'{"q":"a","n":1}', b'{"q":"b","z":[1,{"k":null}]}']
    assert list(dataset.items()) == list(dataset.items())


def test_what_the_caller_changes_later_does_not_reach_the_dataset():
    rows = [{"q": "a"}]
    dataset = from_rows(rows)

    rows[0]["q"] = "b"
    rows.append({"q": "c"})

    assert dataset.sample(5) == [{"q": "a"}]


def test_an_iterator_is_read_once_and_can_be_streamed_twice():
    dataset = from_rows({"n": number} for number in range(3))

    assert [list(dataset.items()) for _ in range(2)] == [[b'{"n":0}', b'{"n":1}', b'{"n":2}']] * 2


def test_values_of_other_types_become_text_or_json():
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    row = {
        "moment": moment,
        "day": moment.date(),
        "took": dt.timedelta(seconds=1.5),
        "price": Decimal("0.10"),
        "uuid": UUID(int=1),
        "bytes": b"\x00\xff",
        "colour": Colour.RED,
        "int": np.int64(2**53 + 1),
        "float": np.float32(0.5),
        "bool": np.bool_(False),
        "array": np.array([[1, 2], [3, 4]]),
        "ns": np.datetime64("2026-01-02T03:04:05.123456789"),
        "stamp": pd.Timestamp("2026-01-02T03:04:05.123456789"),
        "pair": (1, "x"),
        "big": 2**80,
        "nested": MappingProxyType({"a": dt.date(2026, 1, 1)}),
        "nat": pd.NaT,
        "na": pd.NA,
    }

    (item,) = from_rows([row]).sample(1)

    assert item == {
        "moment": "2026-01-02T03:04:05+00:00",
        "day": "2026-01-02",
        "took": "PT1.5S",
        "price": "0.10",
        "uuid": "00000000-0000-0000-0000-000000000001",
        "bytes": "AP8=",
        "colour": "red",
        "int": 2**53 + 1,
        "float": 0.5,
        "bool": False,
        "array": [[1, 2], [3, 4]],
        "ns": "2026-01-02T03:04:05.123456789",
        "stamp": "2026-01-02T03:04:05.123456789",
        "pair": [1, "x"],
        "big": 2**80,
        "nested": {"a": "2026-01-01"},
        "nat": None,
        "na": None,
    }


def test_nan_and_half_surrogates_are_mended_and_told():
    rows = [
        {"a": 1.5},
        {"a": math.nan, "b": [np.float64("inf"), {"c": dt.date(2026, 1, 1)}]},
        {"a": "cut \ud83d", "\ude00": 1},
    ]

    dataset = from_rows(rows)

    assert dataset.sample(5) == [
        {"a": 1.5},
        {"a": None, "b": [None, {"c": "2026-01-01"}]},
        {"a": "cut \ufffd", "\ufffd": 1},
    ]
    assert [notice.message for notice in dataset.notices] == [
        "row 2: NaN or infinite numbers became null",
        "row 3: half of a surrogate pair is no text; each half became U+FFFD",
    ]


def test_rows_that_are_no_json_are_all_named():
    circle: dict[str, object] = {}
    circle["self"] = circle
    rows = cast("Any", [{"a": 1}, [1], {"a": {1, 2}}, {"a": object()}, circle, {("a", 1): 1}])

    with pytest.raises(DatasetError) as caught:
        from_rows(rows)

    said = str(caught.value)
    assert "rows: 5 bad rows, 1 good row" in said
    assert "row 2: not a mapping but list" in said
    assert "row 3: a value of type set has no form in JSON" in said
    assert "row 4: a value of type object has no form in JSON" in said
    assert "row 5: " in said
    assert "row 6: " in said


@pytest.mark.parametrize("data", [{"a": [1, 2]}, "text", b"bytes", 7, None])
def test_what_is_no_list_of_rows_is_refused(data: object):
    with pytest.raises(DatasetError, match="an iterable of mappings or a frame"):
        from_rows(cast("Any", data))


def test_a_polars_frame_is_rows():
    frame = pl.DataFrame({"q": ["a", "b"], "at": [dt.date(2026, 1, 1), None], "x": [1.0, math.nan]})

    eager, lazy = from_rows(frame), from_rows(frame.lazy())

    assert eager.sample(5) == [
        {"q": "a", "at": "2026-01-01", "x": 1.0},
        {"q": "b", "at": None, "x": None},
    ]
    assert eager.notices[0].message == 'column "x": 1 NaN or infinite became null'
    assert list(lazy.items()) == list(eager.items())
    assert (eager.path, eager.format, eager.rows) == (None, "rows", 2)


def test_a_polars_column_of_python_objects_is_refused():
    frame = pl.DataFrame({"o": pl.Series([object()], dtype=pl.Object)})

    with pytest.raises(
        DatasetError, match='column "o" is of type Object, which has no form in JSON'
    ):
        from_rows(frame)


def test_a_pandas_frame_is_rows_without_its_index():
    frame = pd.DataFrame(
        {"q": ["a", None], "n": [1, 2], "x": [0.5, math.nan]}, index=pd.Index(["i", "j"])
    )

    dataset = from_rows(frame)

    assert dataset.sample(5) == [{"q": "a", "n": 1, "x": 0.5}, {"q": None, "n": 2, "x": None}]
    assert [column.type for column in dataset.columns] == ["string", "integer", "number"]


def test_a_pandas_frame_with_two_columns_of_one_name_is_refused():
    frame = pd.DataFrame([[1, 2]], columns=pd.Index(["a", "a"]))

    with pytest.raises(DatasetError, match="two columns of the frame have the same name"):
        from_rows(frame)


def test_inspect_has_the_documented_shape():
    dataset = from_rows({"n": number, "x": math.nan} for number in range(7))

    assert inspect(dataset) == {
        "rows": 7,
        "columns": [
            {"name": "n", "type": "integer", "nulls": 0},
            {"name": "x", "type": "null", "nulls": 7},
        ],
        "sample": [{"n": number, "x": None} for number in range(5)],
        "notices": [
            {
                "line": None,
                "message": "rows 1, 2, 3, 4, 5, 6, 7: NaN or infinite numbers became null",
            }
        ],
    }
