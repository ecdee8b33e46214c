"""Edited rows: a new version, whose other rows are copied inside the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

import msgspec

from scorewright.domain.errors import DatasetError, UsageError
from scorewright.domain.json_text import decode_object
from scorewright.services.dataset_loading import (
    DatasetLimits,
    RowDigest,
    VersionLoader,
    loading,
    remove_abandoned,
)
from scorewright.services.datasets import (
    get_dataset,
    publish,
    require_not_deleted,
    require_revision,
)
from scorewright.sources.dataset import from_rows
from scorewright.sources.dataset.columns import ColumnTally
from scorewright.sources.stored_dataset import read_rows
from scorewright.storage.database import Database
from scorewright.storage.repositories.datasets import StoredDataset, StoredVersion

_TALLIED_ROWS: Final = 1_000
#: How large a row of a trace is taken to be when rows are read back some at a time.
_ROW_BYTES: Final = 16 << 10


class SetRow(msgspec.Struct, frozen=True):
    """Put other data in a row's place."""

    number: int
    data: Mapping[str, object]


class AppendRow(msgspec.Struct, frozen=True):
    """Put a row behind the last one."""

    data: Mapping[str, object]


class DeleteRow(msgspec.Struct, frozen=True):
    """Leave a row out."""

    number: int


RowChange: TypeAlias = SetRow | AppendRow | DeleteRow


def edit_rows(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    name_or_id: str,
    changes: Sequence[RowChange],
    *,
    revision: int | None,
    note: str,
    limits: DatasetLimits,
) -> StoredVersion:
    """Make a version of the latest one with changes.

    Args:
        database: Where it is.
        project_id: Whose.
        name_or_id: Which dataset.
        changes: At most one for each number; numbers are those of the latest version.
        revision: Of the dataset, which the caller has seen; None for any.
        note: On the new version.
        limits: How much a version may be.

    Raises:
        NotFoundError, ConflictError, StaleError: The caller's: it is not there, deleted, or at another revision.
        UsageError, DatasetError: The caller's: a change is of no row, or of one that is changed already, or its
            data have no JSON form; the pointer says which.
        TooLargeError: The caller's: the version would be too large.
    """
    dataset = get_dataset(database, project_id, name_or_id)
    require_not_deleted(dataset)
    require_revision(dataset, revision)
    base = dataset.latest
    wanted = _by_number(changes, base.rows)
    appended = [
        _encode(change.data, at)
        for at, change in enumerate(changes)
        if isinstance(change, AppendRow)
    ]
    remove_abandoned(database)
    with loading(database, project_id, limits) as loader:
        _load(loader, base, wanted, appended)
        mean_bytes = base.bytes // max(1, base.rows)
        loaded = _describe(database, loader, limits, mean_bytes=mean_bytes, note=note)
        with database.write() as connection:
            return publish(connection, project_id, dataset.id, loaded, revision=dataset.revision)


def append_items(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    dataset: StoredDataset,
    items: Iterable[bytes],
    *,
    note: str,
    limits: DatasetLimits,
) -> StoredVersion:
    """Make a version of the latest one with further rows behind its own.

    Args:
        database: Where it is.
        project_id: Whose.
        dataset: As it was seen; it must not have changed since.
        items: The rows, each a JSON object.
        note: On the new version.
        limits: How much a version may be.

    Raises:
        ConflictError, StaleError: The caller's: the dataset is deleted, or was changed meanwhile.
        TooLargeError: The caller's: the version would be too large.
    """
    require_not_deleted(dataset)
    base = dataset.latest
    remove_abandoned(database)
    with loading(database, project_id, limits) as loader:
        loader.copy(base.id, 1, base.rows)
        loader.add(items)
        loader.flush()
        loaded = _describe(database, loader, limits, mean_bytes=_ROW_BYTES, note=note)
        with database.write() as connection:
            return publish(connection, project_id, dataset.id, loaded, revision=dataset.revision)


def _by_number(changes: Sequence[RowChange], rows: int) -> dict[int, bytes | None]:
    """Return the new data of each row that changes, by its number; None for one that is left out."""
    wanted: dict[int, bytes | None] = {}
    for at, change in enumerate(changes):
        if isinstance(change, AppendRow):
            continue
        where = f"/changes/{at}/number"
        if change.number > rows:
            raise UsageError(f"there is no row {change.number}; the last one is {rows}").at(where)
        if change.number in wanted:
            raise UsageError(f"row {change.number} is changed twice; send one change of it").at(
                where
            )
        wanted[change.number] = _encode(change.data, at) if isinstance(change, SetRow) else None
    return wanted


def _encode(data: Mapping[str, object], at: int) -> bytes:
    try:
        (item,) = from_rows([data]).items()
    except DatasetError as error:
        raise DatasetError(str(error)).at(f"/changes/{at}/data") from None
    return item


def _load(
    loader: VersionLoader,
    base: StoredVersion,
    wanted: Mapping[int, bytes | None],
    appended: Sequence[bytes],
) -> None:
    next_number = 1
    for number in sorted(wanted):
        loader.copy(base.id, next_number, number - 1)
        data = wanted[number]
        if data is not None:
            loader.add([data])
        next_number = number + 1
    loader.copy(base.id, next_number, base.rows)
    loader.add(appended)
    loader.flush()


def _describe(
    database: Database,
    loader: VersionLoader,
    limits: DatasetLimits,
    *,
    mean_bytes: int,
    note: str,
) -> StoredVersion:
    """Read the rows of a version that is all there: its columns and digest are those of all rows."""
    digest, tally = RowDigest(), ColumnTally(None)
    items = digest.pass_on(read_rows(database, loader.version_id, mean_bytes=mean_bytes))
    while some := list(islice(items, _TALLIED_ROWS)):
        tally.add(map(decode_object, some))
        limits.check_bytes(digest.bytes)
    return StoredVersion(
        id=loader.version_id,
        number=0,
        rows=loader.rows,
        columns=[msgspec.to_builtins(column) for column in tally.columns(loader.rows)],
        notices=[],
        digest=digest.hexdigest(),
        bytes=digest.bytes,
        note=note,
        created_us=0,
    )
