"""CSV: a header and rows of text; columns of JSON are decoded, nothing else is."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import msgspec

from scorewright.domain.json_text import parse_container
from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset.columns import MAX_COLUMNS
from scorewright.sources.dataset.csv_check import CsvCheck
from scorewright.sources.dataset.csv_header import Header, name_columns
from scorewright.sources.dataset.csv_records import BadQuotingError, RecordReader
from scorewright.sources.dataset.delimiter import find_delimiter
from scorewright.sources.dataset.file import (
    HEAD_BYTES,
    MAX_ESCAPED_BYTES,
    MAX_LINE_BYTES,
    DataFile,
    too_long,
)
from scorewright.sources.dataset.model import Dataset
from scorewright.sources.dataset.refusal import BadPlaces, refuse

TEXT_COLUMNS = frozenset(
    {
        "answer",
        "correct_answer",
        "expected",
        "expected_answer",
        "expected_output",
        "input",
        "output",
        "outputs",
        "reference",
    }
)
"""Texts of an application and what they are compared with: never decoded, as authors call
`json.loads(output)` themselves. Source: contracts §2, default mapping."""


class _Layout(msgspec.Struct, frozen=True):
    """What the second pass knows from the first."""

    delimiter: str
    #: Number of columns in the file.
    width: int
    #: Of the columns that are kept, in order.
    names: tuple[str, ...]
    #: Positions of the columns that are not.
    dropped: frozenset[int]
    #: Columns that hold JSON.
    json_names: tuple[str, ...]

    def row(self, cells: list[str]) -> JsonObject:
        """Make the item of a record; the cells that it lacks are absent."""
        if self.dropped:
            cells = [cell for index, cell in enumerate(cells) if index not in self.dropped]
        row: JsonObject = dict(zip(self.names, cells, strict=False))
        for name in self.json_names:
            cell = row.get(name)
            if isinstance(cell, str):
                row[name] = parse_container(cell)
        return row


def read_csv(file: DataFile, text_columns: frozenset[str]) -> Dataset:
    """Check every row of a CSV file.

    Args:
        file: What to read.
        text_columns: Columns that stay text whatever they hold, besides `TEXT_COLUMNS`.

    Raises:
        DatasetError: A row has more cells than the header, a quote is not closed, the file is not
            UTF-8 or has no header.
    """
    bad = BadPlaces(file.path, "line")
    delimiter = _delimiter(file)
    reader = RecordReader(file, delimiter)
    records = iter(reader)
    rows = 0
    try:
        check = CsvCheck(_header(file, records), TEXT_COLUMNS | text_columns, bad)
        for line, cells in records:
            if not _is_blank(cells, check.width):
                check.add(line, cells)
                rows = check.rows
                _check_length(file, line, cells, record_bytes=reader.record_bytes)
    except BadQuotingError as error:
        bad.add(error.line, str(error))
        raise bad.refusal(rows, stopped=True) from None
    if bad.total:
        raise bad.refusal(rows)
    layout = _layout(check, delimiter)
    return Dataset(
        path=file.path,
        format="csv",
        rows=check.rows,
        columns=check.columns(),
        notices=tuple(check.notices()),
        reader=lambda: _items(file, layout),
    )


def _delimiter(file: DataFile) -> str:
    head = file.head()
    # Bad encodings are found with their line by reading; here the cut may fall into a character.
    return find_delimiter(head.decode(errors="ignore"), whole=len(head) < HEAD_BYTES)


def _header(file: DataFile, records: Iterator[tuple[int, list[str]]]) -> Header:
    for line, cells in records:
        if any(map(str.strip, cells)):
            if len(cells) > MAX_COLUMNS:
                raise refuse(file.path, f"more than {MAX_COLUMNS:,} columns in the header")
            return name_columns(cells, line)
    raise refuse(file.path, "no header; the first line has to name the columns")


def _layout(check: CsvCheck, delimiter: str) -> _Layout:
    names = check.header.names
    return _Layout(
        delimiter=delimiter,
        width=check.width,
        names=tuple(name for index, name in enumerate(names) if index not in check.dropped),
        dropped=check.dropped,
        json_names=tuple(names[index] for index in check.json_columns),
    )


def _is_blank(cells: list[str], width: int) -> bool:
    """Whether a record is a line of white space; in a single column that would be a value."""
    return width > 1 and len(cells) == 1 and not cells[0].strip()


def _check_length(file: DataFile, line: int, cells: list[str], *, record_bytes: int) -> None:
    # Encoding is for the second pass; here only a record that could become too long is.
    might_be = record_bytes * MAX_ESCAPED_BYTES > MAX_LINE_BYTES
    if might_be and len(msgspec.json.encode(cells)) > MAX_LINE_BYTES:
        raise too_long(file.path, line, "the row at line")


def _items(file: DataFile, layout: _Layout) -> Generator[bytes]:
    records = iter(RecordReader(file, layout.delimiter))
    _header(file, records)
    encode = msgspec.json.Encoder().encode
    for _, cells in records:
        if not _is_blank(cells, layout.width):
            yield encode(layout.row(cells))
