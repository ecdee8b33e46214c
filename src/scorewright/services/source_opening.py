"""From the description of a source, as tasks and requests hold it, to the source."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal, TypeAlias

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.errors import NotFoundError, UsageError
from scorewright.domain.suggestion import quote
from scorewright.services.datasets import (
    get_dataset,
    get_version,
    open_version,
)
from scorewright.sources.source import Source
from scorewright.storage.database import Database


class DatasetSource(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    tag_field="kind",
    tag="dataset",
    forbid_unknown_fields=True,
):
    """The rows of a dataset version."""

    #: Name or id.
    dataset: str
    version: int | Literal["latest"] = "latest"
    #: Which items are meant, as a filter expression; None for all. Opening leaves it to the run.
    filter: str | None = None


#: Told apart by `kind`; a new kind is one struct more here, and one entry in `_KINDS`.
SourceDescription: TypeAlias = DatasetSource


class _Kind(msgspec.Struct, frozen=True):
    """What can be done with descriptions of a kind."""

    open: Callable[[Database, str, SourceDescription, Collection[Level]], Source]
    pin: Callable[[Database, str, SourceDescription], SourceDescription]


def open_described(
    database: Database,
    project_id: str,
    description: SourceDescription,
    *,
    levels: Collection[Level] = (Level.RECORD,),
) -> Source:
    """Open what a description is of.

    Args:
        database: Where it is.
        project_id: Whose.
        description: Of the source.
        levels: Of the evaluators that will see the items.

    Raises:
        CallerError: The caller's: there is no such source; the pointer is of a body with the description as `source`.
    """
    return _KINDS[type(description)].open(database, project_id, description, levels)


def pin_source(
    database: Database, project_id: str, description: SourceDescription
) -> SourceDescription:
    """Return a description that leads to the same items tomorrow: by id, and by number where it said `latest`.

    Raises:
        CallerError: The caller's: as for `open_described`.
    """
    return _KINDS[type(description)].pin(database, project_id, description)


def _pin_dataset(
    database: Database, project_id: str, description: SourceDescription
) -> SourceDescription:
    try:
        dataset = get_dataset(database, project_id, description.dataset)
    except NotFoundError as error:
        raise UsageError(str(error)).at("/source/dataset") from None
    if dataset.deleted_us is not None:
        raise UsageError(f"dataset {quote(dataset.name)} is deleted; restore it first").at(
            "/source/dataset"
        )
    try:
        version = get_version(database, project_id, dataset.id, description.version)
    except NotFoundError as error:
        raise UsageError(str(error)).at("/source/version") from None
    return msgspec.structs.replace(description, dataset=dataset.id, version=version.number)


def _open_dataset(
    database: Database,
    project_id: str,
    description: SourceDescription,
    levels: Collection[Level],  # noqa: ARG001 - all rows are of one level
) -> Source:
    pinned = _pin_dataset(database, project_id, description)
    version = get_version(database, project_id, pinned.dataset, pinned.version)
    return open_version(database, version)


_KINDS: Final[dict[type[SourceDescription], _Kind]] = {
    DatasetSource: _Kind(_open_dataset, _pin_dataset),
}
