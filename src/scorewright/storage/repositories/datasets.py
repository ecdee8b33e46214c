"""Datasets and their versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.json_value import JsonObject
from scorewright.storage.tables.datasets import dataset_versions, datasets


class StoredVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a dataset, without its rows."""

    id: str
    #: From 1.
    number: int
    rows: int
    #: Name, type and nulls of each.
    columns: list[JsonObject]
    #: Line and message of each.
    notices: list[JsonObject]
    #: sha256, in hex, of the rows as JSON Lines.
    digest: str
    #: Of all rows as JSON Lines.
    bytes: int
    note: str
    created_us: int


class StoredDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset with its latest version."""

    id: str
    name: str
    display_name: str | None
    description: str
    tags: list[str]
    revision: int
    created_us: int
    changed_us: int
    deleted_us: int | None
    latest: StoredVersion


_VERSION_FIELDS: Final = StoredVersion.__struct_fields__
_DATASET_FIELDS: Final = tuple(name for name in StoredDataset.__struct_fields__ if name != "latest")
_VERSION_COLUMNS: Final = [dataset_versions.c[name] for name in _VERSION_FIELDS]
_WITH_LATEST: Final = sa.select(
    *(datasets.c[name] for name in _DATASET_FIELDS), *_VERSION_COLUMNS
).join(
    dataset_versions,
    (dataset_versions.c.dataset_id == datasets.c.id)
    & (dataset_versions.c.number == datasets.c.latest_number),
)


def insert_dataset(connection: sa.Connection, values: dict[str, Any]) -> None:
    """Add a dataset that has no version yet.

    Raises:
        IntegrityError: The project has one of that name.
    """
    connection.execute(datasets.insert().values(latest_number=0, revision=0, **values))


def find_dataset(
    connection: sa.Connection, project_id: str, name_or_id: str
) -> StoredDataset | None:
    """Return a dataset, a deleted one too."""
    row = connection.execute(
        _WITH_LATEST.where(
            datasets.c.project_id == project_id,
            (datasets.c.id == name_or_id) | (datasets.c.name_key == name_or_id.lower()),
        )
    ).one_or_none()
    return None if row is None else _dataset(row)


def list_datasets(  # noqa: PLR0913 - filters, each by name
    connection: sa.Connection,
    project_id: str,
    *,
    text: str | None,
    tag: str | None,
    deleted: bool,
    before: tuple[int, str] | None,
    limit: int,
) -> list[StoredDataset]:
    """Return some datasets, newest first.

    Args:
        connection: To the database.
        project_id: Whose.
        text: What name, display name or description must hold, in any letter case.
        tag: What they must have.
        deleted: Whether deleted ones are wanted, or those that are not.
        before: Moment of creation and id of the last one that is not wanted.
        limit: How many at most.
    """
    query = _WITH_LATEST.where(datasets.c.project_id == project_id)
    query = query.where(
        datasets.c.deleted_us.is_not(None) if deleted else datasets.c.deleted_us.is_(None)
    )
    if text is not None:
        searched = (datasets.c.name, datasets.c.display_name, datasets.c.description)
        query = query.where(
            sa.or_(*(column.icontains(text, autoescape=True) for column in searched))
        )
    if tag is not None:
        query = query.where(_has_tag(connection, tag))
    if before is not None:
        query = query.where(sa.tuple_(datasets.c.created_us, datasets.c.id) < before)
    query = query.order_by(datasets.c.created_us.desc(), datasets.c.id.desc()).limit(limit)
    return [_dataset(row) for row in connection.execute(query)]


def _has_tag(connection: sa.Connection, tag: str) -> sa.ColumnElement[bool]:
    if connection.dialect.name == "postgresql":
        return datasets.c.tags.op("@>")([tag])
    each = sa.func.json_each(datasets.c.tags).table_valued("value")
    return sa.exists(sa.select(1).select_from(each).where(each.c.value == tag))


def change_dataset(
    connection: sa.Connection, dataset_id: str, revision: int, values: dict[str, Any]
) -> bool:
    """Change a dataset if it still is at a revision; tells whether it was."""
    done = connection.execute(
        datasets.update()
        .where(datasets.c.id == dataset_id, datasets.c.revision == revision)
        .values(revision=revision + 1, **values)
    )
    return done.rowcount == 1


def take_number(
    connection: sa.Connection, dataset_id: str, *, revision: int | None, now_us: int
) -> int | None:
    """Count a new version of a dataset that is not deleted, and return its number.

    Args:
        connection: To the database.
        dataset_id: Of the dataset.
        revision: Where it must be at; None for any.
        now_us: The present moment.

    Returns:
        None where it is deleted, or at another revision.
    """
    statement = (
        datasets.update()
        .where(datasets.c.id == dataset_id, datasets.c.deleted_us.is_(None))
        .values(
            latest_number=datasets.c.latest_number + 1,
            revision=datasets.c.revision + 1,
            changed_us=now_us,
        )
        .returning(datasets.c.latest_number)
    )
    if revision is not None:
        statement = statement.where(datasets.c.revision == revision)
    return connection.scalar(statement)


def find_version(connection: sa.Connection, dataset_id: str, number: int) -> StoredVersion | None:
    """Return one version of a dataset."""
    row = connection.execute(
        sa.select(*_VERSION_COLUMNS).where(
            dataset_versions.c.dataset_id == dataset_id, dataset_versions.c.number == number
        )
    ).one_or_none()
    return None if row is None else _version(row)


def list_versions(
    connection: sa.Connection, dataset_id: str, *, before: int | None, limit: int
) -> list[StoredVersion]:
    """Return some versions of a dataset, newest first; `before` is the number of the last one that is not wanted."""
    query = sa.select(*_VERSION_COLUMNS).where(dataset_versions.c.dataset_id == dataset_id)
    if before is not None:
        query = query.where(dataset_versions.c.number < before)
    query = query.order_by(dataset_versions.c.number.desc()).limit(limit)
    return [_version(row) for row in connection.execute(query)]


def insert_unfinished(
    connection: sa.Connection, *, version_id: str, project_id: str, now_us: int
) -> None:
    """Add a version that is nobody's yet."""
    connection.execute(
        dataset_versions.insert().values(
            id=version_id,
            project_id=project_id,
            rows=0,
            columns=[],
            notices=[],
            digest="",
            bytes=0,
            note="",
            created_us=now_us,
            touched_us=now_us,
        )
    )


def touch_unfinished(connection: sa.Connection, version_id: str, now_us: int) -> bool:
    """Note that somebody is at work on a version; tells whether it is still there."""
    done = connection.execute(
        dataset_versions.update()
        .where(dataset_versions.c.id == version_id, dataset_versions.c.number.is_(None))
        .values(touched_us=now_us)
    )
    return done.rowcount == 1


def finish_version(connection: sa.Connection, *, dataset_id: str, version: StoredVersion) -> bool:
    """Give a version to its dataset: from now on it is seen. Tells whether it was still there."""
    done = connection.execute(
        dataset_versions.update()
        .where(dataset_versions.c.id == version.id, dataset_versions.c.number.is_(None))
        .values(
            dataset_id=dataset_id,
            **{name: getattr(version, name) for name in _VERSION_FIELDS if name != "id"},
        )
    )
    return done.rowcount == 1


def unfinished_versions(connection: sa.Connection, *, untouched_since_us: int) -> list[str]:
    """Return the ids of versions that are nobody's, and that nobody has worked on since a moment."""
    query = sa.select(dataset_versions.c.id).where(
        dataset_versions.c.number.is_(None), dataset_versions.c.touched_us < untouched_since_us
    )
    return list(connection.scalars(query))


def delete_unfinished(connection: sa.Connection, version_id: str) -> None:
    """Remove a version that is nobody's and has no rows."""
    connection.execute(
        dataset_versions.delete().where(
            dataset_versions.c.id == version_id, dataset_versions.c.number.is_(None)
        )
    )


def _dataset(row: Sequence[Any]) -> StoredDataset:
    of_dataset = len(_DATASET_FIELDS)
    own = dict(zip(_DATASET_FIELDS, row[:of_dataset], strict=True))
    return StoredDataset(**own, latest=_version(row[of_dataset:]))


def _version(row: Sequence[Any]) -> StoredVersion:
    return StoredVersion(**dict(zip(_VERSION_FIELDS, row, strict=True)))
