"""An evaluator as the server keeps it: what can be edited, and its immutable versions. Source: contracts §1."""

from __future__ import annotations

import msgspec

from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import Definition
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.source_language import Language


class SavedEvaluator(msgspec.Struct, frozen=True, kw_only=True):
    """What all versions of an evaluator have in common."""

    evaluator_id: str
    name: str
    display_name: str | None
    description: str
    tags: tuple[str, ...]
    type: str
    level: Level
    convention: Convention
    language: Language
    #: Number of the newest version.
    latest_number: int
    #: Goes up with every change, so that two editors notice each other.
    revision: int
    created_us: int
    updated_us: int
    #: None unless it is deleted.
    deleted_us: int | None


class SavedVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version; nothing of it ever changes."""

    version_id: str
    evaluator_id: str
    #: From 1.
    number: int
    created_us: int
    #: What its author declared; an empty field was decided by the source.
    definition: Definition
    #: What came of it, complete and checked; its `version` is the number.
    evaluator: Evaluator


class EvaluatorFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which evaluators of a project a list holds; a field that is not given takes all."""

    #: Part of the name, the display name or the description, in any letter case.
    search: str | None = None
    #: All of them.
    tags: tuple[str, ...] = ()
    type: str | None = None
    language: Language | None = None
    level: Level | None = None
    #: The deleted ones, instead of those that are not.
    deleted: bool = False
