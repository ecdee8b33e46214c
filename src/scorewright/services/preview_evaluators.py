"""The evaluators of a preview: saved ones, and drafts that nobody has saved."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.definition import Definition
from scorewright.domain.errors import CallerError, EvaluatorError
from scorewright.domain.evaluator import Evaluator, ReadSource, build_evaluator
from scorewright.domain.json_value import JsonObject
from scorewright.services.server_parts import make_parts
from scorewright.storage.database import Database

#: Stands for the name of a draft that has none yet.
DRAFT_NAME = "draft"


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator as it stands in an editor."""

    source: str
    #: What a definition says beside it; an empty field is decided by the source.
    fields: JsonObject


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """A version of an evaluator of the project."""

    #: Name or id.
    evaluator: str
    version: int | Literal["latest"] = "latest"


Previewed: TypeAlias = Draft | Saved


def read_evaluator(
    database: Database, project_id: str, previewed: Previewed, read: ReadSource
) -> Evaluator:
    """Return the evaluator that is meant; `read` reads the source of a draft.

    Raises:
        CallerError: The caller's: there is no such one, or it is none; the pointer is of the part that is wrong.
    """
    if isinstance(previewed, Saved):
        return _saved_evaluator(database, project_id, previewed)
    try:
        definition = msgspec.convert(previewed.fields, Definition, strict=True)
    except msgspec.ValidationError as error:
        raise EvaluatorError(str(error)) from None
    if not (definition.name or definition.display_name):
        definition = msgspec.structs.replace(definition, name=DRAFT_NAME)
    try:
        origin = definition.name or DRAFT_NAME
        return build_evaluator(previewed.source, definition, origin=origin, read=read)
    except CallerError as error:
        raise error.at(error.pointer or "/source") from None


def _saved_evaluator(database: Database, project_id: str, saved: Saved) -> Evaluator:
    try:
        found = make_parts(database).find_evaluator(
            project_id, saved.evaluator, None if saved.version == "latest" else saved.version
        )
    except CallerError as error:
        raise error.at("/evaluator") from None
    return found.evaluator
