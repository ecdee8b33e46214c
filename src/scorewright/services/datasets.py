"""Datasets: made, named, described, deleted and found again. Their versions never change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from scorewright.domain.dataset_name import check_dataset_name
from scorewright.domain.dataset_name import propose_dataset_name as propose_name
from scorewright.domain.errors import ConflictError, NotFoundError, StaleError, UsageError
from scorewright.domain.suggestion import quote
from scorewright.services import audit
from scorewright.services.dataset_loading import (
    DatasetLimits,
    RowDigest,
    VersionLoader,
    loading,
    remove_abandoned,
)
from scorewright.sources.dataset import Dataset
from scorewright.sources.stored_dataset import stored_dataset
from scorewright.storage.database import Database
from scorewright.storage.repositories import datasets as stored
from scorewright.storage.repositories.dataset_rows import rows_after
from scorewright.storage.repositories.datasets import StoredDataset, StoredVersion
from scorewright.storage.tables.metadata import new_id, now_us, without_nul

VersionNumber: TypeAlias = int | Literal["latest"]

#: Of the rows of one page; one row is always given.
_PAGE_BYTES: Final = 8 << 20
#: No number of a row or version is higher in either database.
_MAX_NUMBER: Final = 2**31 - 1


class DatasetFields(msgspec.Struct, frozen=True, kw_only=True):
    """What people say about a dataset."""

    #: Proposed from the display name where it is None.
    name: str | None = None
    display_name: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()


def create_dataset(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    fields: DatasetFields,
    data: Dataset,
    *,
    note: str,
    limits: DatasetLimits,
) -> StoredDataset:
    """Make a dataset with a first version.

    Raises:
        UsageError: The caller's: the name is none.
        ConflictError: The caller's: there is a dataset of that name, perhaps a deleted one.
        TooLargeError: The caller's: it is too large.
        DatasetError: The caller's: the data cannot be read any more.
    """
    name = fields.name or propose_name(fields.display_name or "")
    try:
        check_dataset_name(name)
    except UsageError as error:
        raise error.at("/name") from None
    with database.read() as connection:  # before a gigabyte is loaded in vain
        _require_free_name(connection, project_id, name)
    remove_abandoned(database)
    with loading(database, project_id, limits) as loader:
        loaded = _load(loader, data, note)
        dataset_id, now = new_id(), now_us()
        try:
            with database.write() as connection:
                values: dict[str, Any] = {
                    "id": dataset_id,
                    "project_id": project_id,
                    "name": name,
                    "name_key": name.lower(),
                    "display_name": fields.display_name,
                    "description": fields.description,
                    "tags": _distinct(fields.tags),
                    "created_us": now,
                    "changed_us": now,
                }
                stored.insert_dataset(connection, values)
                publish(connection, project_id, dataset_id, loaded, revision=None)
        except IntegrityError:
            with database.read() as connection:
                _require_free_name(connection, project_id, name)
            raise
    return get_dataset(database, project_id, dataset_id)


def add_version(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    dataset: StoredDataset,
    data: Dataset,
    *,
    note: str,
    limits: DatasetLimits,
) -> StoredVersion:
    """Make a new version of a dataset.

    Raises:
        ConflictError: The caller's: the dataset is deleted.
        TooLargeError, DatasetError: As for `create_dataset`.
    """
    require_not_deleted(dataset)
    remove_abandoned(database)
    with loading(database, project_id, limits) as loader:
        loaded = _load(loader, data, note)
        with database.write() as connection:
            return publish(connection, project_id, dataset.id, loaded, revision=None)


def _load(loader: VersionLoader, data: Dataset, note: str) -> StoredVersion:
    digest = RowDigest()
    loader.add(digest.pass_on(data.items()))
    loader.flush()
    return StoredVersion(
        id=loader.version_id,
        number=0,
        rows=loader.rows,
        columns=[msgspec.to_builtins(column) for column in data.columns],
        notices=[msgspec.to_builtins(notice) for notice in data.notices],
        digest=digest.hexdigest(),
        bytes=digest.bytes,
        note=note,
        created_us=0,
    )


def publish(
    connection: sa.Connection,
    project_id: str,
    dataset_id: str,
    loaded: StoredVersion,
    *,
    revision: int | None,
) -> StoredVersion:
    """Make a version that is all there the latest one of its dataset.

    Args:
        connection: In a transaction.
        project_id: Of the dataset's project.
        dataset_id: Of the dataset.
        loaded: Without number and moment.
        revision: Where the dataset must be at; None for any.

    Raises:
        StaleError, ConflictError: The caller's: it was changed or deleted meanwhile.
    """
    now = now_us()
    number = stored.take_number(connection, dataset_id, revision=revision, now_us=now)
    if number is None and revision is not None:
        raise StaleError("the dataset was changed meanwhile; read it again")
    if number is None:
        raise ConflictError("the dataset was deleted meanwhile; restore it first")
    version = msgspec.structs.replace(loaded, number=number, created_us=now)
    if not stored.finish_version(connection, dataset_id=dataset_id, version=version):
        raise ConflictError("this took too long, and was given up; send it again")
    audit.note(
        connection,
        project_id,
        "create" if number == 1 else "add version",
        kind="dataset",
        target_id=dataset_id,
        detail={"version": number, "rows": version.rows},
    )
    return version


def get_dataset(database: Database, project_id: str, name_or_id: str) -> StoredDataset:
    """Return a dataset, a deleted one too.

    Raises:
        NotFoundError: The caller's: the project has none of that name or id.
    """
    with database.read() as connection:
        found = stored.find_dataset(connection, project_id, without_nul(name_or_id))
    if found is None:
        raise NotFoundError(f"there is no dataset {quote(name_or_id)}")
    return found


def list_datasets(  # noqa: PLR0913 - filters, each by name
    database: Database,
    project_id: str,
    *,
    text: str | None,
    tag: str | None,
    deleted: bool,
    before: tuple[int, str] | None,
    limit: int,
) -> list[StoredDataset]:
    """Return datasets, newest first; the filters are those of the repository's function."""
    with database.read() as connection:
        return stored.list_datasets(
            connection,
            project_id,
            text=text,
            tag=tag,
            deleted=deleted,
            before=before,
            limit=limit,
        )


def describe_dataset(
    database: Database,
    project_id: str,
    name_or_id: str,
    *,
    revision: int | None,
    changes: dict[str, Any],
) -> StoredDataset:
    """Change display name, description or tags.

    Args:
        database: Where it is.
        project_id: Whose.
        name_or_id: Which.
        revision: That the caller has seen; None for any.
        changes: New values by field.

    Raises:
        NotFoundError, ConflictError, StaleError: The caller's: it is not there, deleted, or at another revision.
    """
    found = get_dataset(database, project_id, name_or_id)
    require_not_deleted(found)
    if "tags" in changes:
        changes = {**changes, "tags": _distinct(changes["tags"])}
    _change(database, project_id, found, "edit", revision, changes)
    return get_dataset(database, project_id, found.id)


def delete_dataset(
    database: Database, project_id: str, name_or_id: str, *, revision: int | None
) -> None:
    """Delete a dataset; it can be restored.

    Raises:
        NotFoundError, ConflictError, StaleError: As for `describe_dataset`.
    """
    found = get_dataset(database, project_id, name_or_id)
    require_not_deleted(found)
    _change(database, project_id, found, "delete", revision, {"deleted_us": now_us()})


def restore_dataset(database: Database, project_id: str, name_or_id: str) -> StoredDataset:
    """Undo that a dataset was deleted; nothing happens to one that was not.

    Raises:
        NotFoundError: The caller's: it is not there.
        StaleError: The caller's: somebody changed it at the same moment.
    """
    found = get_dataset(database, project_id, name_or_id)
    if found.deleted_us is None:
        return found
    _change(database, project_id, found, "restore", found.revision, {"deleted_us": None})
    return get_dataset(database, project_id, found.id)


def get_version(
    database: Database, project_id: str, name_or_id: str, number: VersionNumber
) -> StoredVersion:
    """Return a version of a dataset, of a deleted one too.

    Raises:
        NotFoundError: The caller's: there is no such dataset, or it has no such version.
    """
    dataset = get_dataset(database, project_id, name_or_id)
    if number == "latest":
        return dataset.latest
    with database.read() as connection:
        found = (
            stored.find_version(connection, dataset.id, number) if number <= _MAX_NUMBER else None
        )
    if found is None:
        raise NotFoundError(
            f"dataset {quote(dataset.name)} has no version {number}; the latest is {dataset.latest.number}"
        )
    return found


def list_versions(
    database: Database, project_id: str, name_or_id: str, *, before: int | None, limit: int
) -> list[StoredVersion]:
    """Return versions of a dataset, newest first.

    Raises:
        NotFoundError: The caller's: there is no such dataset.
    """
    dataset = get_dataset(database, project_id, name_or_id)
    with database.read() as connection:
        return stored.list_versions(connection, dataset.id, before=before, limit=limit)


def page_of_rows(
    database: Database, version: StoredVersion, *, after: int, limit: int
) -> list[tuple[int, bytes]]:
    """Return rows behind a number: at most `limit`, and fewer where they are large, but one where there is one."""
    mean = version.bytes // max(1, version.rows)
    most = max(1, min(limit, _PAGE_BYTES // max(1, mean)))
    with database.read() as connection:
        found = rows_after(connection, version.id, min(after, _MAX_NUMBER), most)
    size, page = 0, list[tuple[int, bytes]]()
    for number, data in found:
        size += len(data)
        if page and size > _PAGE_BYTES:
            break
        page.append((number, data))
    return page


def open_version(database: Database, version: StoredVersion) -> Dataset:
    """Return the rows of a version as a source."""
    return stored_dataset(database, version)


def require_not_deleted(dataset: StoredDataset) -> None:
    """Refuse what cannot be done with a deleted dataset.

    Raises:
        ConflictError: The caller's.
    """
    if dataset.deleted_us is not None:
        raise ConflictError(f"dataset {quote(dataset.name)} is deleted; restore it first")


def require_revision(dataset: StoredDataset, revision: int | None) -> None:
    """Refuse a change of a dataset that is no longer at the revision that the caller has seen; None stands for any.

    Raises:
        StaleError: The caller's.
    """
    if revision not in (None, dataset.revision):
        raise _stale(dataset)


def _stale(dataset: StoredDataset) -> StaleError:
    return StaleError(
        f"dataset {quote(dataset.name)} was changed meanwhile; read it again, and send its new ETag"
    )


def _change(  # noqa: PLR0913, PLR0917 - what, how, and who saw it when
    database: Database,
    project_id: str,
    dataset: StoredDataset,
    action: str,
    revision: int | None,
    values: dict[str, Any],
) -> None:
    require_revision(dataset, revision)
    with database.write() as connection:
        done = stored.change_dataset(
            connection, dataset.id, dataset.revision, {"changed_us": now_us(), **values}
        )
        if not done:
            raise _stale(dataset)
        audit.note(
            connection,
            project_id,
            action,
            kind="dataset",
            target_id=dataset.id,
            detail={"name": dataset.name},
        )


def _require_free_name(connection: sa.Connection, project_id: str, name: str) -> None:
    found = stored.find_dataset(connection, project_id, name)
    if found is None:
        return
    advice = "restore it, or choose another name" if found.deleted_us else "choose another name"
    kind = "deleted dataset" if found.deleted_us else "dataset"
    raise ConflictError(f"there is a {kind} {quote(found.name)} already; {advice}").at("/name")


def _distinct(tags: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(tags))
