"""The rows of a dataset version in the database, as a source of items."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

import msgspec

from scorewright.sources.dataset.model import Column, Dataset
from scorewright.sources.source import Notice
from scorewright.storage.database import Database
from scorewright.storage.repositories.dataset_rows import rows_after
from scorewright.storage.repositories.datasets import StoredVersion

#: What is read at a time, in rows and, by the mean row, in bytes.
_BLOCK_ROWS: Final = 2_000
_BLOCK_BYTES: Final = 4 << 20


def stored_dataset(database: Database, version: StoredVersion) -> Dataset:
    """Return a version as a source; its rows are streamed from the database on each pass."""
    return Dataset(
        path=None,
        format="rows",
        rows=version.rows,
        columns=msgspec.convert(version.columns, tuple[Column, ...]),
        notices=msgspec.convert(version.notices, tuple[Notice, ...]),
        reader=lambda: read_rows(
            database, version.id, mean_bytes=version.bytes // max(1, version.rows)
        ),
    )


def read_rows(database: Database, version_id: str, *, mean_bytes: int) -> Generator[bytes]:
    """Stream the rows of a version; no connection is held while the caller works on them.

    Args:
        database: Where they are.
        version_id: Of the version.
        mean_bytes: Of a row, as far as is known.
    """
    block = max(1, min(_BLOCK_ROWS, _BLOCK_BYTES // max(1, mean_bytes)))
    number = 0
    while True:
        with database.read() as connection:
            found = rows_after(connection, version_id, number, block)
        for _, data in found:
            yield data
        if len(found) < block:
            return
        number = found[-1][0]
