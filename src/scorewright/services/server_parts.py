"""Where the runs of a server get their parts: its own evaluators, datasets, traces and log records."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import cast

from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.domain.json_value import JsonObject
from scorewright.domain.suggestion import quote
from scorewright.services import saved_evaluators
from scorewright.services.run_parts import RunParts, SavedEvaluator
from scorewright.services.run_queue import RUNS_PER_PROJECT
from scorewright.services.source_opening import (
    KINDS,
    LISTED_KINDS,
    StoredSource,
    filter_of_items,
    list_described,
    open_described,
    open_listed,
    pin_source,
    read_description,
    write_description,
)
from scorewright.sources.source import Source
from scorewright.storage.database import Database


class _StoredLister:
    """Lists traces and log records of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list(self, project_id: str, description: JsonObject) -> Iterator[bytes]:
        """List what a description means now."""
        return list_described(self._database, project_id, _stored(description))

    def open(
        self,
        project_id: str,
        description: JsonObject,
        levels: Collection[Level],
        listing: Sequence[bytes],
    ) -> Source:
        """Open what was listed."""
        described = _stored(description)
        return open_listed(self._database, project_id, described, levels=levels, listing=listing)


def _stored(description: JsonObject) -> StoredSource:
    return cast("StoredSource", read_description(description))


def make_parts(database: Database, *, runs_per_project: int = RUNS_PER_PROJECT) -> RunParts:
    """Return what server and workers make runs of: all that is in a database.

    Args:
        database: Where it is.
        runs_per_project: Runs of one project that are worked on at a time.
    """

    def find_evaluator(project_id: str, ref: str, version: int | None) -> SavedEvaluator:
        kept = saved_evaluators.get_version(database, project_id, ref, version or "latest")
        if kept.saved.deleted_us is not None:
            raise UsageError(f"evaluator {quote(kept.saved.name)} is deleted; restore it first")
        return SavedEvaluator(kept.saved.evaluator_id, kept.version.evaluator)

    def open_source(project_id: str, description: JsonObject, levels: Collection[Level]) -> Source:
        return open_described(database, project_id, read_description(description), levels=levels)

    def freeze(project_id: str, description: JsonObject) -> JsonObject:
        return write_description(pin_source(database, project_id, read_description(description)))

    def filter_of(description: JsonObject) -> str | None:
        return filter_of_items(read_description(description))

    return RunParts(
        find_evaluator,
        openers=dict.fromkeys(KINDS, open_source),
        freezers=dict.fromkeys(KINDS, freeze),
        filters=dict.fromkeys(KINDS, filter_of),
        listers=dict.fromkeys(LISTED_KINDS, _StoredLister(database)),
        runs_per_project=runs_per_project,
    )
