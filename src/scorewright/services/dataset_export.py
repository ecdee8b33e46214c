"""A version as a file: JSON Lines byte for byte, CSV and Parquet with nested values as JSON text."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal, TypeAlias

import msgspec

from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.sources.dataset import Column, Dataset

if TYPE_CHECKING:
    import polars as pl

ExportFormat: TypeAlias = Literal["jsonl", "csv", "parquet"]

_CHUNK_BYTES: Final = 256 << 10
#: Columns of these types keep them; those of all others become JSON text.
_PLAIN: Final = frozenset({"string", "integer", "number", "boolean"})
_MAX_INTEGER: Final = 2**63 - 1

_encoder: Final = msgspec.json.Encoder()


def export(dataset: Dataset, form: ExportFormat) -> Iterator[bytes]:
    """Write all rows in a form.

    Args:
        dataset: The rows.
        form: JSON Lines and CSV are written as they are read; Parquet before this returns.

    Returns:
        The file in pieces.
    """
    match form:
        case "jsonl":
            return _pieces(item + b"\n" for item in dataset.items())
        case "csv":
            return _pieces(_csv_lines(dataset))
        case "parquet":
            return _chunks(_parquet_file(dataset))


def _pieces(lines: Iterator[bytes]) -> Generator[bytes]:
    """Join short lines, so that each of them is not sent by itself."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= _CHUNK_BYTES:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _csv_lines(dataset: Dataset) -> Generator[bytes]:
    names = [column.name for column in dataset.columns]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for item in dataset.items():
        yield _taken(text)
        row = decode_object(item)
        writer.writerow([_cell(row.get(name)) for name in names])
    yield _taken(text)


def _taken(text: io.StringIO) -> bytes:
    written = text.getvalue().encode()
    text.seek(0)
    text.truncate()
    return written


def _cell(value: JsonValue) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _encoder.encode(value).decode()


def _parquet_file(dataset: Dataset) -> IO[bytes]:
    """Write a file that has no name any more."""
    import polars as pl

    wide = _wide_columns(dataset)
    schema = {
        column.name: pl.String() if column.name in wide else _polars_type(column)
        for column in dataset.columns
    }
    with tempfile.TemporaryDirectory(prefix="scorewright-export-") as folder:
        rows, target = Path(folder) / "rows.jsonl", Path(folder) / "rows.parquet"
        with rows.open("wb") as file:
            for item in dataset.items():
                file.write(_encoder.encode(_flat(decode_object(item), dataset, wide)) + b"\n")
        if dataset.rows and schema:
            pl.scan_ndjson(rows, schema=schema).sink_parquet(target)
        else:
            pl.DataFrame(schema=schema).write_parquet(target)
        return target.open("rb")


def _chunks(file: IO[bytes]) -> Generator[bytes]:
    with file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk


def _wide_columns(dataset: Dataset) -> frozenset[str]:
    """Return the columns of whole numbers that Parquet has no type for."""
    integers = [column.name for column in dataset.columns if column.type == "integer"]
    wide: set[str] = set()
    for item in dataset.items() if integers else ():
        row = decode_object(item)
        wide.update(name for name in integers if _is_wide(row.get(name)))
    return frozenset(wide)


def _is_wide(value: JsonValue) -> bool:
    return isinstance(value, int) and not -_MAX_INTEGER - 1 <= value <= _MAX_INTEGER


def _flat(row: JsonObject, dataset: Dataset, wide: frozenset[str]) -> JsonObject:
    return {
        column.name: value
        if value is None or (column.type in _PLAIN and column.name not in wide)
        else _encoder.encode(value).decode()
        for column in dataset.columns
        for value in (row.get(column.name),)
    }


def _polars_type(column: Column) -> pl.DataType:
    import polars as pl

    kinds: dict[str, pl.DataType] = {
        "integer": pl.Int64(),
        "number": pl.Float64(),
        "boolean": pl.Boolean(),
    }
    return kinds.get(column.type, pl.String())
