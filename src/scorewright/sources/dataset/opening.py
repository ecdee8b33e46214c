"""From a path to a dataset: the first pass."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

import msgspec

from scorewright.sources.dataset.file import DataFile, find_file
from scorewright.sources.dataset.model import Dataset, FileFormat
from scorewright.sources.dataset.sniffing import named_format, sniff_format
from scorewright.sources.source import Notice


def open_dataset(path: Path, *, text_columns: frozenset[str] = frozenset()) -> Dataset:
    """Read a data file once, wholly, and describe it.

    Args:
        path: A CSV, JSON Lines, JSON or Parquet file, gzipped or not.
        text_columns: Columns of a CSV file that stay text even where every cell is JSON.

    Returns:
        The dataset, none of its rows in memory.

    Raises:
        DatasetError: The file cannot be read, or some of it is no row; the text names the places.
    """
    file = find_file(path)
    form = sniff_format(file)
    dataset = _read(file, form, text_columns)
    named = named_format(path)
    if named is None or named == form:
        return dataset
    notice = Notice(
        None, f"is {_NAMES[form]} by its content, though not by its name: read as {_NAMES[form]}"
    )
    return msgspec.structs.replace(dataset, notices=(notice, *dataset.notices))


_NAMES: dict[FileFormat, str] = {
    "csv": "CSV",
    "jsonl": "JSON Lines",
    "json": "JSON",
    "parquet": "Parquet",
}


def _read(file: DataFile, form: FileFormat, text_columns: frozenset[str]) -> Dataset:
    # One format's reader alone is imported: the others cost start-up time.
    match form:
        case "jsonl":
            from scorewright.sources.dataset.jsonl import read_jsonl

            return read_jsonl(file)
        case "csv":
            from scorewright.sources.dataset.csv_table import read_csv

            return read_csv(file, text_columns)
        case "json":
            from scorewright.sources.dataset.json_document import read_document

            return read_document(file)
        case "parquet":
            from scorewright.sources.dataset.frame import read_parquet

            return read_parquet(file)
        case _:
            assert_never(form)
