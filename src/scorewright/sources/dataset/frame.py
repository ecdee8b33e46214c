"""Polars frames, from Parquet files or from memory, as JSON objects.

Polars takes a third of a second to import, so only the functions here do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset.columns import MAX_COLUMNS
from scorewright.sources.dataset.file import (
    MAX_ESCAPED_BYTES,
    MAX_LINE_BYTES,
    DataFile,
    too_long,
)
from scorewright.sources.dataset.frame_types import (
    column_type,
    conversions,
    count_non_finite,
    is_extension,
    plain_type,
    to_json_type,
)
from scorewright.sources.dataset.model import Column, ColumnType, Dataset, Format
from scorewright.sources.dataset.refusal import quoted, refuse
from scorewright.sources.source import Notice

if TYPE_CHECKING:
    import polars as pl

_Scan: TypeAlias = "Callable[[], pl.LazyFrame]"

_FIRST_SLICE_ROWS = 16
_MAX_SLICE_ROWS = 10_000
_SLICE_BYTES = 16 << 20


def read_parquet(file: DataFile) -> Dataset:
    """Check every value of a Parquet file, a slice of its rows after the other.

    Raises:
        DatasetError: It is damaged, or a column has a type that JSON cannot hold.
    """
    return _read(partial(_scan, file), file.path, "parquet")


def read_frame(frame: pl.DataFrame | pl.LazyFrame) -> Dataset:
    """Take the rows of a frame in memory; a lazy one is computed once, here.

    Raises:
        DatasetError: A column has a type that JSON cannot hold.
    """
    lazy = frame.lazy().collect().lazy()
    return _read(lambda: lazy, None, "rows")


def _read(scan: _Scan, path: Path | None, form: Format) -> Dataset:
    with _polars_errors(path):
        schema = {name: plain_type(kind) for name, kind in scan().collect_schema().items()}
        scan = partial(_plain_scan, scan, schema)
        if len(schema) > MAX_COLUMNS:
            raise refuse(path, f"more than {MAX_COLUMNS:,} columns")
        types: dict[str, ColumnType] = {
            name: column_type(name, kind, path) for name, kind in schema.items()
        }
        rows, nulls, non_finite = _count(scan(), path)
    columns = tuple(Column(name, kind, nulls[name]) for name, kind in types.items())
    return Dataset(
        path=path,
        format=form,
        rows=rows,
        columns=columns,
        notices=tuple(_notices(schema, non_finite)),
        reader=partial(_items, scan, path),
    )


def _count(lazy: pl.LazyFrame, path: Path | None) -> tuple[int, Counter[str], Counter[str]]:
    """Rows, nulls by column and numbers without a JSON form by column."""
    rows = 0
    nulls: Counter[str] = Counter()
    non_finite: Counter[str] = Counter()
    for frame in _slices(lazy):
        for series in frame.get_columns():
            count = count_non_finite(series)
            non_finite[series.name] += count
            # Inside of a list or struct they become null without making the whole value null.
            nulls[series.name] += series.null_count() + (0 if series.dtype.is_nested() else count)
        # Encoding is for the second pass, but for rows that could be too long.
        if frame.estimated_size() * MAX_ESCAPED_BYTES > MAX_LINE_BYTES:
            for number, item in enumerate(_encoded(frame), rows + 1):
                if len(item) > MAX_LINE_BYTES:
                    raise too_long(path, number, "row")
        rows += frame.height
    return rows, nulls, non_finite


def _items(scan: _Scan, path: Path | None) -> Generator[bytes]:
    with _polars_errors(path):
        for frame in _slices(scan()):
            yield from _encoded(frame)


def _encoded(frame: pl.DataFrame) -> Iterator[bytes]:
    # The encoder writes NaN and infinities as null, and bytes as base64.
    encode = msgspec.json.Encoder().encode
    plain = frame.select(to_json_type(name, kind) for name, kind in frame.schema.items())
    rows: Iterator[JsonObject] = plain.iter_rows(named=True)
    return map(encode, rows)


def _slices(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    """Cut into frames of about `_SLICE_BYTES`, so that memory does not grow with the rows."""
    offset = 0
    size = _FIRST_SLICE_ROWS
    while True:
        frame = lazy.slice(offset, size).collect()
        if frame.height:
            yield frame
        if frame.height < size:
            return
        offset += size
        row_bytes = int(frame.estimated_size()) // size + 1
        size = max(1, min(_SLICE_BYTES // row_bytes, _MAX_SLICE_ROWS))


def _scan(file: DataFile) -> pl.LazyFrame:
    import polars as pl

    if file.gzipped:
        return pl.scan_parquet(BytesIO(file.document()))
    with file.open():  # which tells whether the file is still the one of the first pass
        return pl.scan_parquet(file.path, glob=False, hive_partitioning=False)


def _plain_scan(scan: _Scan, schema: dict[str, pl.DataType]) -> pl.LazyFrame:
    import polars as pl

    lazy = scan()
    changed = {name: kind for name, kind in lazy.collect_schema().items() if kind != schema[name]}
    if not changed:
        return lazy
    stored = [pl.col(name).ext.storage() for name, kind in changed.items() if is_extension(kind)]
    return lazy.with_columns(stored).cast({name: schema[name] for name in changed})


def _notices(schema: dict[str, pl.DataType], non_finite: Counter[str]) -> Iterator[Notice]:
    for name, kind in schema.items():
        if count := non_finite[name]:
            yield Notice(None, f"column {quoted(name)}: {count} NaN or infinite became null")
        for said in conversions(kind):
            yield Notice(None, f"column {quoted(name)}: {said}")


@contextmanager
def _polars_errors(path: Path | None) -> Generator[None]:
    """Turn what Polars says about a file into a refusal, its panics over damaged data included."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).strip().split("\n", 1)[0][:200]
        raise refuse(path, f"cannot be read as Parquet ({reason}); write it again") from None
