"""What runs are made of and get from elsewhere: saved evaluators, and sources by their description."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.errors import CallerError, UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonObject
from scorewright.domain.suggestion import did_you_mean, name_list, quote
from scorewright.sources.dataset import from_rows
from scorewright.sources.source import Source

#: Items that a description itself may hold.
MAX_GIVEN_ITEMS: Final = 1_000

#: Opens what a description of its kind says, of one project, for evaluators of these levels.
Opener: TypeAlias = Callable[[str, JsonObject, Collection[Level]], Source]
#: Returns a description that will always mean what this one means now, such as a version instead of the latest.
Freezer: TypeAlias = Callable[[str, JsonObject], JsonObject]


class SavedEvaluator(msgspec.Struct, frozen=True):
    """One version of a saved evaluator."""

    evaluator_id: str
    evaluator: Evaluator


def _find_none(_project_id: str, ref: str, _version: int | None) -> SavedEvaluator:
    raise UsageError(f"there is no evaluator {quote(ref)}")


@dataclass(slots=True)
class RunParts:
    """Where runs get their parts."""

    #: By project, id or name, and version (None: the latest). Raises what the caller did wrong.
    find_evaluator: Callable[[str, str, int | None], SavedEvaluator] = _find_none
    openers: dict[str, Opener] = field(default_factory=lambda: {"items": _open_items})
    freezers: dict[str, Freezer] = field(default_factory=dict[str, Freezer])

    def open_source(
        self, project_id: str, description: JsonObject, levels: Collection[Level]
    ) -> Source:
        """Open a source for evaluators of these levels.

        Raises:
            CallerError: The caller's: there is no such data, or it cannot be read.
        """
        kind = description.get("kind")
        opener = self.openers.get(kind) if isinstance(kind, str) else None
        if opener is None:
            near = did_you_mean(str(kind), self.openers)
            raise UsageError(
                f"source: there is no kind {quote(str(kind))}{near}; there are: {name_list(self.openers)}"
            ).at("/source/kind")
        try:
            return opener(project_id, description, levels)
        except CallerError as error:
            raise error.at(error.pointer or "/source") from None

    def freeze_source(self, project_id: str, description: JsonObject) -> JsonObject:
        """Make a description mean the same for ever."""
        freezer = self.freezers.get(str(description.get("kind")))
        return description if freezer is None else freezer(project_id, description)


def _open_items(_project_id: str, description: JsonObject, _levels: Collection[Level]) -> Source:
    rows = description.get("items")
    if not isinstance(rows, list) or not 0 < len(rows) <= MAX_GIVEN_ITEMS:
        raise UsageError(f"source: items is a list of 1 to {MAX_GIVEN_ITEMS:,} objects").at(
            "/source/items"
        )
    objects: list[JsonObject] = []
    for at, row in enumerate(rows):
        if not isinstance(row, dict):
            raise UsageError("source: an item is an object").at(f"/source/items/{at}")
        objects.append(row)
    return from_rows(objects)
