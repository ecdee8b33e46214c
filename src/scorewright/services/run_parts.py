"""What runs are made of and get from elsewhere: saved evaluators, and sources by their description."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import msgspec

from scorewright.domain.convention import Level
from scorewright.domain.errors import CallerError, UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.json_value import JsonObject
from scorewright.domain.suggestion import did_you_mean, name_list, quote
from scorewright.services.run_queue import RUNS_PER_PROJECT
from scorewright.sources.source import Source

#: Opens what a description of its kind says, of one project, for evaluators of these levels.
Opener: TypeAlias = Callable[[str, JsonObject, Collection[Level]], Source]
#: Returns a description that will always mean what this one means now, such as a version instead of the latest.
Freezer: TypeAlias = Callable[[str, JsonObject], JsonObject]
#: Returns the filter that a description holds and that opening leaves to the run.
FilterReader: TypeAlias = Callable[[JsonObject], str | None]


class Lister(Protocol):
    """What lists the items of a source that grows, and opens what it once listed."""

    def list(self, project_id: str, description: JsonObject) -> Iterator[bytes]:
        """List what a description means now, in blocks."""
        ...

    def open(
        self,
        project_id: str,
        description: JsonObject,
        levels: Collection[Level],
        listing: Sequence[bytes],
    ) -> Source:
        """Open what was listed."""
        ...


class SavedEvaluator(msgspec.Struct, frozen=True):
    """One version of a saved evaluator."""

    evaluator_id: str
    evaluator: Evaluator


def _find_none(_project_id: str, ref: str, _version: int | None) -> SavedEvaluator:
    raise UsageError(f"there is no evaluator {quote(ref)}")


@dataclass(slots=True)
class RunParts:
    """Where runs get their parts; `server_parts.make_parts` fills it in."""

    #: By project, id or name, and version (None: the latest). Raises what the caller did wrong.
    find_evaluator: Callable[[str, str, int | None], SavedEvaluator] = _find_none
    openers: dict[str, Opener] = field(default_factory=dict[str, Opener])
    freezers: dict[str, Freezer] = field(default_factory=dict[str, Freezer])
    filters: dict[str, FilterReader] = field(default_factory=dict[str, FilterReader])
    listers: dict[str, Lister] = field(default_factory=dict[str, Lister])
    #: Runs of one project that are worked on at a time: what those that wait are told their place by.
    runs_per_project: int = RUNS_PER_PROJECT

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

    def lister_of(self, description: JsonObject) -> Lister | None:
        """Return what lists the items of a description's source; None where these never change."""
        return self.listers.get(str(description.get("kind")))

    def freeze_source(self, project_id: str, description: JsonObject) -> JsonObject:
        """Make a description mean the same for ever."""
        freezer = self.freezers.get(str(description.get("kind")))
        return description if freezer is None else freezer(project_id, description)

    def filter_of(self, description: JsonObject) -> str | None:
        """Return the filter of a description that opening its source leaves to the run."""
        read = self.filters.get(str(description.get("kind")))
        return None if read is None else read(description)
