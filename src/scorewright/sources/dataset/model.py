"""What is known about a dataset after its first pass."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from itertools import compress, islice
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.domain.item_shape import ItemShape, row_shape
from scorewright.domain.json_text import decode_object
from scorewright.domain.json_value import JsonObject
from scorewright.sources.source import Field, Notice, SourceKind, Wanted

FileFormat: TypeAlias = Literal["csv", "jsonl", "json", "parquet"]
Format: TypeAlias = FileFormat | Literal["rows"]
ColumnType: TypeAlias = Literal["string", "integer", "number", "boolean", "json", "mixed", "null"]

Reader: TypeAlias = Callable[[], Generator[bytes]]

SAMPLE_ROWS = 5
MAX_DIGITS = 19
_OR_MESSAGES = " or trajectories"


class Column(msgspec.Struct, frozen=True):
    """One column, over all rows."""

    name: str
    #: `json`: objects or lists; `mixed`: values of several types; `null`: no value at all.
    type: ColumnType
    #: Rows in which it is absent or null. An empty text is a value.
    nulls: int


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

    @property
    def kind(self) -> SourceKind:
        """What the data are."""
        return "dataset"

    @property
    def noun(self) -> str:
        """What one item is called in messages."""
        return "row"

    @property
    def size(self) -> int:
        """How many rows there are."""
        return self.rows

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees.

        Raises:
            UsageError: The caller's: rows have no such items.
        """
        if level in (Level.AGENT, Level.LLM):
            raise UsageError(
                f"its level is {level.value}, but the rows of a data set have no {level.value} spans; "
                f"give traces{_OR_MESSAGES if level is Level.AGENT else ''} (--source), or use a Trace as first parameter"
            )
        return Level.RECORD

    def fields(self, level: Level) -> list[Field]:  # noqa: ARG002 - all rows are of one level
        """List the columns with their types."""
        return [Field(column.name, column.type) for column in self.columns]

    def shape(self, level: Level) -> ItemShape:  # noqa: ARG002 - all rows are of one level
        """Say how arguments are read from rows."""
        return row_shape(column.name for column in self.columns)

    def item_id(self, number: int) -> str:
        """Return what results call a row: its number."""
        return str(number)

    def number_of(self, item_id: str) -> int | None:
        """Return the number of a row; None when there is no such row."""
        # The length: there are limits to the numbers that Python reads.
        is_number = item_id.isascii() and item_id.isdecimal() and len(item_id) < MAX_DIGITS
        number = int(item_id) if is_number and item_id[0] != "0" else None
        return number if number is not None and number <= self.rows else None

    def sample_key(self, number: int) -> str:
        """Return what decides whether a sample takes a row."""
        return str(number)

    def has_level(self, number: int, level: Level) -> bool:  # noqa: ARG002 - all rows are of one level
        """Tell whether a row is one of those that evaluators of this level see."""
        return True

    def items(self, wanted: Wanted = None) -> Generator[bytes]:
        """Stream the rows in order, or those of them that are wanted; may be called again.

        Returns:
            One JSON object per row: UTF-8, valid by RFC 8259, without a line break.

        Raises:
            DatasetError: The file changed since it was opened, or cannot be read any more.
        """
        return self.reader() if wanted is None else (row for row in compress(self.reader(), wanted))

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
