"""Parquet: what becomes of types that JSON has no form for."""

from __future__ import annotations

import datetime as dt
import io
import json
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset import Column, open_dataset

Write = Callable[[str, str | bytes], Path]


def parquet(columns: dict[str, pl.Series], row_group_rows: int | None = None) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer, row_group_size=row_group_rows)
    return buffer.getvalue()


def test_numbers_without_a_json_form_become_null_and_are_counted(write: Write):
    values = [0.0, math.nan, None, math.inf, -0.0]
    nested = [[1.5], [math.nan, -math.inf], [], None, [2.5]]
    structs = [{"x": math.nan}, {"x": 1.0}, None, {"x": None}, {"x": 2.0}]
    data = {"score": pl.Series(values), "list": pl.Series(nested), "part": pl.Series(structs)}

    dataset = open_dataset(write("d.parquet", parquet(data)))

    rows = dataset.sample(9)
    assert [row["score"] for row in rows] == [0.0, None, None, None, -0.0]
    assert [row["list"] for row in rows] == [[1.5], [None, None], [], None, [2.5]]
    assert [row["part"] for row in rows] == [{"x": None}, {"x": 1.0}, None, {"x": None}, {"x": 2.0}]
    assert dataset.columns == (
        Column("score", "number", 3),
        Column("list", "json", 1),
        Column("part", "json", 1),
    )
    assert [notice.message for notice in dataset.notices] == [
        'column "score": 2 NaN or infinite became null',
        'column "list": 2 NaN or infinite became null',
        'column "part": 1 NaN or infinite became null',
    ]


def test_times_are_iso_8601_to_the_last_digit(write: Write):
    berlin = pl.Datetime("ns", "Europe/Berlin")
    instant = 1_700_000_000_123_456_789
    data = {
        "ns": pl.Series([instant, None], dtype=pl.Datetime("ns")),
        "zone": pl.Series([instant, 0], dtype=berlin),
        "utc": pl.Series([0, None], dtype=pl.Datetime("us", "UTC")),
        "far": pl.Series([10**18, 0], dtype=pl.Datetime("us")),
        "day": pl.Series([dt.date(2026, 1, 31), None]),
        "time": pl.Series([dt.time(1, 2, 3, 500), None]),
        "took": pl.Series([dt.timedelta(days=1, seconds=2), None]),
        "list": pl.Series([[dt.datetime(2026, 1, 1), None], None]),  # noqa: DTZ001  (naive on purpose)
        "part": pl.Series([{"at": dt.date(2026, 1, 1), "n": 1}, None]),
    }

    dataset = open_dataset(write("d.parquet", parquet(data)))

    first, second = dataset.sample(9)
    assert first == {
        "ns": "2023-11-14T22:13:20.123456789",
        "zone": "2023-11-14T23:13:20.123456789+01:00",
        "utc": "1970-01-01T00:00:00+00:00",
        "far": "+33658-09-27T01:46:40",
        "day": "2026-01-31",
        "time": "01:02:03.000500",
        "took": "P1DT2S",
        "list": ["2026-01-01T00:00:00", None],
        "part": {"at": "2026-01-01", "n": 1},
    }
    assert second["zone"] == "1970-01-01T01:00:00+01:00"
    assert {key for key, value in second.items() if value is None} == set(first) - {"zone", "far"}
    assert [notice.message for notice in dataset.notices] == [
        'column "took": durations became ISO 8601 text'
    ]


def test_whole_numbers_decimals_and_bytes_keep_every_digit(write: Write):
    data = {
        "i64": pl.Series([2**53 + 1, None]),
        "u64": pl.Series([2**64 - 1, 0], dtype=pl.UInt64),
        "i128": pl.Series([2**100, -1], dtype=pl.Int128),
        "price": pl.Series([Decimal("0.10"), Decimal("0.00")]),
        "bits": pl.Series([b"\x00\xff", None]),
        "flag": pl.Series([None, False]),
        "kind": pl.Series(["a", None], dtype=pl.Categorical),
        "none": pl.Series([None, None]),
        "deep": pl.Series([[{"b": b"x", "d": Decimal("1.50")}], []]),
        "pair": pl.Series([[1, 2], None], dtype=pl.Array(pl.Int64, 2)),
    }

    dataset = open_dataset(write("d.parquet", parquet(data)))

    first, second = dataset.sample(9)
    assert first == {
        "i64": 2**53 + 1,
        "u64": 2**64 - 1,
        "i128": 2**100,
        "price": "0.10",
        "bits": "AP8=",
        "flag": None,
        "kind": "a",
        "none": None,
        "deep": [{"b": "eA==", "d": "1.50"}],
        "pair": [1, 2],
    }
    assert second["flag"] is False
    assert second["price"] == "0.00"
    types = {column.name: column.type for column in dataset.columns}
    assert types == {
        "i64": "integer",
        "u64": "integer",
        "i128": "integer",
        "price": "string",
        "bits": "string",
        "flag": "boolean",
        "kind": "string",
        "none": "null",
        "deep": "json",
        "pair": "json",
    }
    assert [notice.message for notice in dataset.notices] == [
        'column "price": decimals became text, exactly',
        'column "bits": bytes became base64 text',
        'column "deep": bytes became base64 text',
        'column "deep": decimals became text, exactly',
    ]


def test_maps_are_lists_of_pairs(write: Write):
    moments = pl.Map(pl.Int64, pl.Datetime("ns"))
    nested = pl.List(pl.Struct({"m": pl.Map(pl.String, pl.Float64)}))
    data = {
        "moments": pl.Series([{7: dt.datetime(2026, 1, 1)}, None], dtype=moments),  # noqa: DTZ001  (naive on purpose)
        "nested": pl.Series([[{"m": {"a": math.nan}}], []], dtype=nested),
    }

    dataset = open_dataset(write("d.parquet", parquet(data)))

    assert dataset.sample(9) == [
        {
            "moments": [{"key": 7, "value": "2026-01-01T00:00:00"}],
            "nested": [{"m": [{"key": "a", "value": None}]}],
        },
        {"moments": None, "nested": []},
    ]
    assert dataset.notices[0].message == 'column "nested": 1 NaN or infinite became null'


def test_an_extension_type_is_what_it_is_stored_as(write: Write):
    kind = pl.Extension("arrow.json", pl.String, "")
    data = {"j": pl.Series(['{"a": 1}', None]).ext.to(kind)}

    dataset = open_dataset(write("d.parquet", parquet(data)))

    assert dataset.columns == (Column("j", "string", 1),)
    assert dataset.sample(9) == [{"j": '{"a": 1}'}, {"j": None}]


def test_rows_keep_their_order_over_slices_and_row_groups(write: Write):
    data = {"n": pl.Series(range(30_000)), "t": pl.Series(["x" * 50] * 30_000)}

    dataset = open_dataset(write("d.parquet", parquet(data, row_group_rows=7_001)))

    assert dataset.rows == 30_000
    assert [json.loads(item)["n"] for item in dataset.items()] == list(range(30_000))


def test_a_packed_file_is_the_same_dataset(write: Write):
    data = parquet({"n": pl.Series(range(100))})

    plain = open_dataset(write("d.parquet", data))
    packed = open_dataset(write("d.parquet.gz", data))

    assert (packed.rows, packed.columns) == (plain.rows, plain.columns)
    assert list(packed.items()) == list(plain.items())


def test_a_file_without_rows_has_columns(write: Write):
    dataset = open_dataset(write("d.parquet", parquet({"n": pl.Series([], dtype=pl.Int64)})))

    assert dataset.columns == (Column("n", "integer", 0),)
    assert list(dataset.items()) == []


def test_a_name_with_a_pattern_in_it_is_one_file(write: Write):
    dataset = open_dataset(write("d[1]*.parquet", parquet({"n": pl.Series([1])})))

    assert dataset.rows == 1


@pytest.mark.parametrize("keep", [4, 40, 300, -9])
def test_a_damaged_file_is_refused_with_its_path(write: Write, keep: int):
    data = parquet({"n": pl.Series(range(1_000))})
    path = write("d.parquet", data[:keep])

    with pytest.raises(DatasetError, match=r"d\.parquet: cannot be read as Parquet"):
        open_dataset(path)


def test_a_damaged_page_is_refused_before_anything_ran(write: Write):
    data = bytearray(parquet({"n": pl.Series([f"text {n}" for n in range(1_000)])}))
    data[60:160] = bytes(100)

    with pytest.raises(DatasetError, match=r"d\.parquet: cannot be read as Parquet"):
        open_dataset(write("d.parquet", bytes(data)))
