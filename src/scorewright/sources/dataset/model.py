"""What is known about a dataset after its first pass."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject

FileFormat: TypeAlias = Literal["csv", "jsonl", "json", "parquet"]
Format: TypeAlias = FileFormat | Literal["rows"]
ColumnType: TypeAlias = Literal["string", "integer", "number", "boolean", "json", "mixed", "null"]

Reader: TypeAlias = Callable[[], Generator[bytes]]

SAMPLE_ROWS = 5


class Column(msgspec.Struct, frozen=True):
    """One column, over all rows."""

    name: str
    #: `json`: objects or lists; `mixed`: values of several types; `null`: no value at all.
    type: ColumnType
    #: Rows in which it is absent or null. An empty text is a value.
    nulls: int


class Notice(msgspec.Struct, frozen=True):
    """Something an author should know about how the file was read."""

    #: From 1; None when it is about no single line.
    line: int | None
    message: str


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that passed the first pass, ready to be streamed."""

    #: None for rows that were given in memory.
    path: Path | None
    format: Format
    rows: int
    #: The union over all rows, in the order of first appearance.
    columns: tuple[Column, ...]
    notices: tuple[Notice, ...]
    #: Starts one pass over the items.
    reader: Reader

    def items(self) -> Generator[bytes]:
        """Stream the rows in order; may be called again.

        Returns:
            One JSON object per row: UTF-8, valid by RFC 8259, without a line break.

        Raises:
            DatasetError: The file changed since it was opened, or cannot be read any more.
        """
        return self.reader()

    def sample(self, n: int) -> list[JsonObject]:
        """Decode the first rows, at most `n`."""
        # Closing frees the file at once, not when the generator happens to be collected.
        with closing(self.reader()) as items:
            return [decode_object(item) for item in islice(items, n)]


def inspect(dataset: Dataset) -> JsonObject:
    """Describe a dataset in the shape that `datasets inspect --format json` prints."""
    return {
        "rows": dataset.rows,
        "columns": [msgspec.to_builtins(column) for column in dataset.columns],
        "sample": list(dataset.sample(SAMPLE_ROWS)),
        "notices": [msgspec.to_builtins(notice) for notice in dataset.notices],
    }
