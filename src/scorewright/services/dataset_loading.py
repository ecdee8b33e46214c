"""Put the rows of a new version into the database, block by block; nobody sees it before all of them are in.

A version is not loaded in one transaction: on SQLite that would keep everybody else from writing meanwhile.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from scorewright.domain.errors import ConflictError, TooLargeError
from scorewright.storage.database import Database
from scorewright.storage.repositories import dataset_rows as rows
from scorewright.storage.repositories import datasets as stored
from scorewright.storage.tables.metadata import new_id, now_us

#: A block is written at the first of these.
_BLOCK_ROWS: Final = 5_000
_BLOCK_BYTES: Final = 4 << 20
#: Nobody pauses this long between two blocks: whoever did has ended.
_ABANDONED_US: Final = 3_600_000_000


class DatasetLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one version may be."""

    #: Of an uploaded file when it is unpacked, and of all rows as JSON Lines.
    unpacked_bytes: int = 4 << 30
    rows: int = 10_000_000

    def check_bytes(self, size: int) -> None:
        """Refuse rows that are too large together.

        Raises:
            TooLargeError: The caller's.
        """
        if size > self.unpacked_bytes:
            most = f"{self.unpacked_bytes >> 20:,} MiB"
            raise TooLargeError(f"more than {most} of rows; make several datasets of them")


class _Copy(msgspec.Struct, frozen=True):
    """Rows of another version to be put behind those that are there."""

    version_id: str
    first: int
    last: int
    #: The number of the first one here.
    at: int


class _Rows(msgspec.Struct, frozen=True):
    at: int
    items: list[bytes]


class VersionLoader:
    """One version on its way in; made by `loading`.

    Args:
        database: Where to.
        project_id: Whose.
        limits: How much it may be.
    """

    def __init__(self, database: Database, project_id: str, limits: DatasetLimits) -> None:
        self.version_id = new_id()
        self.rows = 0
        self._database = database
        self._limits = limits
        self._pending: list[_Copy | _Rows] = []
        self._pending_rows = self._pending_bytes = self._bytes = 0
        with database.write() as connection:
            stored.insert_unfinished(
                connection, version_id=self.version_id, project_id=project_id, now_us=now_us()
            )

    def add(self, items: Iterable[bytes]) -> None:
        """Put rows behind those that are there.

        Raises:
            TooLargeError: The caller's: there are too many, or they are too large together.
        """
        for item in items:
            if not self._pending or isinstance(self._pending[-1], _Copy):
                self._pending.append(_Rows(self.rows + 1, []))
            last = self._pending[-1]
            assert isinstance(last, _Rows)  # noqa: S101 - put there above
            last.items.append(item)
            self._bytes += len(item) + 1
            self._count(1, len(item))

    def copy(self, version_id: str, first: int, last: int) -> None:
        """Put the rows of another version, `first` to `last`, behind those that are there.

        Raises:
            TooLargeError: The caller's: as for `add`.
        """
        for start in range(first, last + 1, _BLOCK_ROWS):
            end = min(last, start + _BLOCK_ROWS - 1)
            self._pending.append(_Copy(version_id, start, end, self.rows + 1))
            self._count(end - start + 1, 0)

    def _count(self, more: int, size: int) -> None:
        self.rows += more
        self._pending_rows += more
        self._pending_bytes += size
        if self.rows > self._limits.rows:
            raise TooLargeError(
                f"more than {self._limits.rows:,} rows; make several datasets of them"
            )
        self._limits.check_bytes(self._bytes)
        if self._pending_rows >= _BLOCK_ROWS or self._pending_bytes >= _BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits.

        Raises:
            ConflictError: It has taken so long that the version was given up.
        """
        if not self._pending:
            return
        with self._database.write() as connection:
            if not stored.touch_unfinished(connection, self.version_id, now_us()):
                raise ConflictError("this took too long, and was given up; send it again")
            for part in self._pending:
                if isinstance(part, _Rows):
                    rows.insert_rows(connection, self.version_id, part.at, part.items)
                else:
                    rows.copy_rows(
                        connection,
                        source_id=part.version_id,
                        target_id=self.version_id,
                        first=part.first,
                        last=part.last,
                        shift=part.at - part.first,
                    )
        self._pending = []
        self._pending_rows = self._pending_bytes = 0


@contextmanager
def loading(database: Database, project_id: str, limits: DatasetLimits) -> Generator[VersionLoader]:
    """Load a version, and leave nothing of it behind when the block raises."""
    loader = VersionLoader(database, project_id, limits)
    try:
        yield loader
    except BaseException:
        _remove(database, loader.version_id)
        raise


class RowDigest:
    """Counts and hashes rows as the lines of JSON Lines."""

    def __init__(self) -> None:
        self.bytes = 0
        self._hash = hashlib.sha256()

    def hexdigest(self) -> str:
        """Return the sha256 of the rows so far, in hex."""
        return self._hash.hexdigest()

    def pass_on(self, items: Iterable[bytes]) -> Generator[bytes]:
        """Yield rows as they come, counted and hashed."""
        for item in items:
            self.count(item)
            yield item

    def count(self, item: bytes) -> None:
        """Take one row."""
        self._hash.update(item)
        self._hash.update(b"\n")
        self.bytes += len(item) + 1


def remove_abandoned(database: Database) -> None:
    """Remove versions that were left half-way by a process that ended."""
    with database.read() as connection:
        abandoned: Sequence[str] = stored.unfinished_versions(
            connection, untouched_since_us=now_us() - _ABANDONED_US
        )
    for version_id in abandoned:
        _remove(database, version_id)


def _remove(database: Database, version_id: str) -> None:
    """Remove a version that is nobody's, a block of rows at a time."""
    with database.read() as connection:
        last = rows.last_number(connection, version_id)
    for number in range(_BLOCK_ROWS, last + _BLOCK_ROWS, _BLOCK_ROWS):
        with database.write() as connection:
            rows.delete_rows_before(connection, version_id, number)
    with database.write() as connection:
        stored.delete_unfinished(connection, version_id)
