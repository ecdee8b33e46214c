"""From the description of a source, as tasks and requests hold it, to the source."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from scorewright.domain.convention import Level
from scorewright.domain.errors import CallerError, NotFoundError, UsageError
from scorewright.domain.json_value import JsonObject
from scorewright.domain.suggestion import quote
from scorewright.services.datasets import (
    get_dataset,
    get_version,
    open_version,
)
from scorewright.sources.dataset import from_rows
from scorewright.sources.source import Source
from scorewright.sources.stored_traces import Selected, list_stored, open_stored
from scorewright.storage.database import Database
from scorewright.storage.tables.metadata import now_us

#: Items that a description itself may hold.
MAX_GIVEN_ITEMS: Final = 1_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: A moment with its time zone.
_Moment: TypeAlias = Annotated[datetime, Meta(tz=True)]


class _Described(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """What the kinds have in common: `kind` tells which it is."""


class DatasetSource(_Described, frozen=True, kw_only=True, tag="dataset"):
    """The rows of a dataset version."""

    #: Name or id.
    dataset: str
    version: int | Literal["latest"] = "latest"
    #: Which items are meant, as a filter expression; None for all. Opening leaves it to the run.
    filter: str | None = None


class ItemsSource(_Described, frozen=True, kw_only=True, tag="items"):
    """Rows that the description itself holds."""

    items: Annotated[list[JsonObject], Meta(min_length=1, max_length=MAX_GIVEN_ITEMS)]


class _StoredSource(_Described, frozen=True, kw_only=True):
    """What applications have sent."""

    #: Of the data's own times: the first moment, and the first one no more.
    from_: _Moment | None = msgspec.field(default=None, name="from")
    to: _Moment | None = None
    #: What had arrived by then; a run is made with the moment when it was made, so that its data stay the same.
    arrived_by: _Moment | None = None


class LogsSource(_StoredSource, frozen=True, kw_only=True, tag="logs"):
    """Stored log records."""


class _TracesSource(_StoredSource, frozen=True, kw_only=True):
    #: Which traces are meant, as a filter expression over whole traces; None for all.
    filter: str | None = None


class TracesSource(_TracesSource, frozen=True, kw_only=True, tag="traces"):
    """Stored traces, or the parts of them that evaluators are written for."""

    #: What of a trace evaluators see that are written for no level.
    record_level: Level = Level.TRACE


class TrajectoriesSource(_TracesSource, frozen=True, kw_only=True, tag="trajectories"):
    """The agents of stored traces."""


class ConversationsSource(_TracesSource, frozen=True, kw_only=True, tag="conversations"):
    """The sessions of stored traces."""

    #: Whether an item shows what was said in its earlier turns.
    previous_turns: bool = False


StoredSource: TypeAlias = TracesSource | TrajectoriesSource | ConversationsSource | LogsSource
#: Told apart by `kind`; a new kind is one struct more here, and one entry in `_KINDS`.
SourceDescription: TypeAlias = DatasetSource | ItemsSource | StoredSource


class _Kind(msgspec.Struct, frozen=True):
    """What can be done with descriptions of a kind."""

    open: Callable[[Database, str, Any, Collection[Level]], Source]
    pin: Callable[[Database, str, Any], SourceDescription]


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


def list_described(
    database: Database, project_id: str, description: StoredSource
) -> Iterator[bytes]:
    """List which traces or log records a description means now, in bounded blocks for `open_listed`.

    Raises:
        CallerError: The caller's: as for `open_described`.
    """
    kind = _STORED_KINDS[type(description)]
    try:
        return list_stored(database, kind, _selected(project_id, description))
    except CallerError as error:
        raise error.at(f"/source{error.pointer or '/filter'}") from None


def open_listed(
    database: Database,
    project_id: str,
    description: StoredSource,
    *,
    levels: Collection[Level],
    listing: Sequence[bytes],
) -> Source:
    """Open the traces or log records that a description once meant."""
    return _open_stored(database, project_id, description, levels, listing)


def pin_source(
    database: Database, project_id: str, description: SourceDescription
) -> SourceDescription:
    """Return a description that leads to the same items tomorrow: by id, number and time of arrival.

    Raises:
        CallerError: The caller's: as for `open_described`.
    """
    return _KINDS[type(description)].pin(database, project_id, description)


def filter_of_items(description: SourceDescription) -> str | None:
    """Return the filter that is left to whoever reads the items: one over traces has done its work at the opening."""
    return description.filter if isinstance(description, DatasetSource) else None


def read_description(description: JsonObject) -> SourceDescription:
    """Read a description as tasks and runs keep it.

    Raises:
        UsageError: The caller's: it is none.
    """
    try:
        return msgspec.convert(description, SourceDescription)
    except msgspec.ValidationError as error:
        raise UsageError(f"source: {error}").at("/source") from None


def write_description(description: SourceDescription) -> JsonObject:
    """Write a description as tasks and runs keep it, and as it is shown."""
    found = msgspec.to_builtins(description, builtin_types=(datetime,))
    return {
        key: _moment_text(value) if isinstance(value, datetime) else value
        for key, value in found.items()
    }


def _moment_text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _pin_dataset(
    database: Database, project_id: str, description: DatasetSource
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
    return replace(description, dataset=dataset.id, version=version.number)


def _open_dataset(
    database: Database,
    project_id: str,
    description: DatasetSource,
    _levels: Collection[Level],  # all rows are of one level
) -> Source:
    pinned = cast("DatasetSource", _pin_dataset(database, project_id, description))
    version = get_version(database, project_id, pinned.dataset, pinned.version)
    return open_version(database, version)


def _open_items(
    _database: Database, _project_id: str, description: ItemsSource, _levels: Collection[Level]
) -> Source:
    return from_rows(description.items)


def _pin_nothing(
    _database: Database, _project_id: str, description: SourceDescription
) -> SourceDescription:
    return description


def _selected(project_id: str, description: StoredSource) -> Selected:
    return Selected(
        project_id=project_id,
        from_us=_us(description.from_),
        to_us=_us(description.to),
        arrived_us=_us(description.arrived_by),
        filter=None if isinstance(description, LogsSource) else description.filter,
    )


def _open_stored(
    database: Database,
    project_id: str,
    description: StoredSource,
    levels: Collection[Level],
    listing: Sequence[bytes] | None = None,
) -> Source:
    selected = _selected(project_id, description)
    is_traces = isinstance(description, TracesSource)
    try:
        return open_stored(
            database,
            _STORED_KINDS[type(description)],
            selected,
            levels=levels,
            record_level=description.record_level if is_traces else Level.TRACE,
            with_previous_turns=isinstance(description, ConversationsSource)
            and description.previous_turns,
            listing=listing,
        )
    except CallerError as error:
        raise error.at(f"/source{error.pointer or '/filter'}") from None


def _pin_stored(
    _database: Database, _project_id: str, description: StoredSource
) -> SourceDescription:
    now = _EPOCH + timedelta(microseconds=now_us())
    return replace(description, arrived_by=min(now, description.arrived_by or now))


def _us(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - _EPOCH) // timedelta(microseconds=1)


_Stored: TypeAlias = Literal["traces", "trajectories", "conversations", "logs"]
_STORED_KINDS: Final[dict[type[StoredSource], _Stored]] = {
    TracesSource: "traces",
    TrajectoriesSource: "trajectories",
    ConversationsSource: "conversations",
    LogsSource: "logs",
}
_KINDS: Final[dict[type[SourceDescription], _Kind]] = {
    DatasetSource: _Kind(_open_dataset, _pin_dataset),
    ItemsSource: _Kind(_open_items, _pin_nothing),
    **dict.fromkeys(_STORED_KINDS, _Kind(_open_stored, _pin_stored)),
}
#: The kinds that grow while a run is under way.
LISTED_KINDS: Final[tuple[str, ...]] = tuple(_STORED_KINDS.values())
#: The kinds by the name that `kind` has.
KINDS: Final[tuple[str, ...]] = ("dataset", "items", *_STORED_KINDS.values())
