"""Stored traces, agents and model calls as rows of a dataset: real questions and answers become testcases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from scorewright.domain.binding import Path
from scorewright.domain.convention import Level
from scorewright.domain.errors import MappingError, UsageError
from scorewright.domain.item_fields import MISSING, resolve
from scorewright.domain.item_shape import ItemShape
from scorewright.domain.json_text import decode_object
from scorewright.domain.suggestion import did_you_mean, quote
from scorewright.services.dataset_edit import append_items
from scorewright.services.dataset_loading import DatasetLimits
from scorewright.services.datasets import get_dataset, require_not_deleted
from scorewright.sources.dataset import from_rows
from scorewright.sources.source import Source
from scorewright.sources.stored_traces import Selected, open_stored
from scorewright.storage.database import Database
from scorewright.storage.repositories.datasets import StoredVersion

#: Rows that one request adds.
MAX_ADDED: Final = 10_000
#: What a row always says of where it comes from.
TRACE_COLUMN: Final = "trace_id"
SPAN_COLUMN: Final = "span_id"


class WantedTraces(msgspec.Struct, frozen=True, kw_only=True):
    """Which traces, or parts of them, become rows, and which of their fields become columns."""

    level: Level
    #: Ids of the items, as results have them: a trace's, or `TRACE/SPAN`; None for those that are searched for.
    item_ids: tuple[str, ...] | None
    filter: str | None
    from_us: int | None
    to_us: int | None
    #: Column to field; None for what the level's items were asked and answered.
    columns: Mapping[str, str] | None
    #: At most so many, the earliest first.
    limit: int


class AddedRows(msgspec.Struct, frozen=True):
    """What became of it."""

    version: StoredVersion
    added: int
    #: How many were found, whether they were added or not.
    found: int


def add_traces(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    name_or_id: str,
    wanted: WantedTraces,
    *,
    note: str,
    limits: DatasetLimits,
) -> AddedRows:
    """Make a version of a dataset's latest one with rows of stored traces behind its own.

    Args:
        database: Where both are.
        project_id: Whose.
        name_or_id: Which dataset.
        wanted: Which traces.
        note: On the new version.
        limits: How much a version may be.

    Raises:
        NotFoundError, ConflictError, StaleError: The caller's: the dataset is not there, deleted, or was changed
            meanwhile.
        UsageError, MappingError: The caller's: an id, a field or the filter is none, which the pointer says; or
            nothing is found.
        TooLargeError: The caller's: the version would be too large.
    """
    dataset = get_dataset(database, project_id, name_or_id)
    require_not_deleted(dataset)
    source = _open(database, project_id, wanted)
    columns = _columns(source.shape(wanted.level), wanted)
    taken = _taken(source, wanted)
    found = sum(taken)
    if not found:
        raise UsageError("there is no such trace, or nothing of that level in it: no row is added")
    rows = islice(_rows(source, taken, columns), wanted.limit)
    version = append_items(database, project_id, dataset, rows, note=note, limits=limits)
    return AddedRows(version, version.rows - dataset.latest.rows, found)


def _open(database: Database, project_id: str, wanted: WantedTraces) -> Source:
    ids = wanted.item_ids
    selected = Selected(
        project_id=project_id,
        from_us=wanted.from_us,
        to_us=wanted.to_us,
        filter=wanted.filter,
        trace_ids=None if ids is None else {one.partition("/")[0] for one in ids},
    )
    try:
        return open_stored(database, "traces", selected, levels=[wanted.level])
    except UsageError as error:
        raise error.at("/filter") from None


def _columns(shape: ItemShape, wanted: WantedTraces) -> dict[str, Path]:
    """Return where each column is read from."""
    if wanted.columns is None:
        return {name: shape.paths_of(name)[0] for name in ("input", "output")}
    found: dict[str, Path] = {}
    for column, field in wanted.columns.items():
        pointer = f"/columns/{column.replace('~', '~0').replace('/', '~1')}"
        if column in {TRACE_COLUMN, SPAN_COLUMN}:
            raise UsageError(
                f"columns: {quote(column)} says where a row comes from; choose another name"
            ).at(pointer)
        try:
            path = shape.read_path(field)
        except MappingError as error:
            raise error.at(pointer) from None
        if reason := shape.reason_against(path):
            raise UsageError(f"columns: {reason}{did_you_mean(field, shape.names)}").at(pointer)
        found[column] = path
    return found


def _taken(source: Source, wanted: WantedTraces) -> bytearray:
    """Return of each item whether it is meant."""
    if wanted.item_ids is None:
        return bytearray(b"\1") * source.size
    taken = bytearray(source.size)
    for at, item_id in enumerate(wanted.item_ids):
        number = source.number_of(item_id)
        if number is None:
            raise UsageError(f"item_ids: there is no {source.noun} {quote(item_id)}").at(
                f"/item_ids/{at}"
            )
        taken[number - 1] = 1
    return taken


def _rows(source: Source, taken: bytearray, columns: Mapping[str, Path]) -> Iterator[bytes]:
    numbers = (number for number, is_taken in enumerate(taken, 1) if is_taken)
    for item, number in zip(source.items(taken), numbers, strict=False):
        content = decode_object(item)
        row: dict[str, Any] = {}
        for name, path in columns.items():
            value = resolve(content, path)
            row[name] = None if value is MISSING else value
        trace_id, _, span_id = source.item_id(number).partition("/")
        row[TRACE_COLUMN] = trace_id
        if span_id:
            row[SPAN_COLUMN] = span_id
        yield from from_rows([row]).items()
