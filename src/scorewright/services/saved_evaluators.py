"""Evaluators that the server keeps: all their rules. Source: contracts §1."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

import msgspec
import sqlalchemy as sa
from msgspec.structs import replace

from scorewright.domain.definition import Definition
from scorewright.domain.errors import (
    ConflictError,
    EvaluatorError,
    NotFoundError,
    StaleError,
    UsageError,
)
from scorewright.domain.evaluator import Evaluator, ReadSource
from scorewright.domain.evaluator_name import unique_names
from scorewright.domain.json_value import JsonObject
from scorewright.domain.saved_evaluator import EvaluatorFilter, SavedEvaluator, SavedVersion
from scorewright.domain.suggestion import name_list, quote
from scorewright.services import audit
from scorewright.services.evaluator_drafts import (
    build_draft,
    definition_fields,
    settle_definition,
)
from scorewright.services.evaluator_usage import Referrer, active_monitors_of, tasks_of
from scorewright.storage.database import Database
from scorewright.storage.repositories.evaluator_versions import (
    find_version,
    insert_version,
    list_versions,
)
from scorewright.storage.repositories.evaluators import (
    find_evaluator,
    insert_evaluator,
    list_evaluators,
    taken_names,
    update_evaluator,
)
from scorewright.storage.tables.metadata import new_id, now_us

#: Names that are addresses of the API beside those of evaluators.
RESERVED_NAMES: Final = ("templates", "copilot-prompt")
#: A version as it is asked for.
VersionNumber: TypeAlias = int | Literal["latest"]
#: What of a definition belongs to a version.
_DECLARED: Final = ("params", "score_range", "threshold", "mapping", "correct_answer_key")


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator with one of its versions."""

    saved: SavedEvaluator
    version: SavedVersion


def create(
    database: Database, project_id: str, *, source: str, fields: JsonObject, read: ReadSource
) -> Kept:
    """Save a new evaluator.

    Args:
        database: Where.
        project_id: Of the project it belongs to.
        source: Code that defines `evaluate`.
        fields: What a definition may say; a name or a display name is among it.
        read: Reads the source.

    Raises:
        CallerError: The caller's: it is no evaluator; the error points at the part.
        ConflictError: The caller's: the name is taken, perhaps by a deleted one.
    """
    definition = settle_definition(fields)
    if not (definition.name or definition.display_name):
        raise EvaluatorError("name: give a name, or a display name to make one of").at("/name")
    evaluator = build_draft(source, definition, read)
    _refuse_reserved(evaluator.name)
    kept = _new(evaluator, definition)
    with database.write() as connection:
        _insert(connection, project_id, kept)
    return kept


def duplicate(
    database: Database,
    project_id: str,
    named: str,
    *,
    number: VersionNumber = "latest",
    fields: JsonObject,
) -> Kept:
    """Save a version of an evaluator as a new one of its own.

    Args:
        database: Where.
        project_id: Of the project both belong to.
        named: Id or name of the evaluator.
        number: The version that is copied.
        fields: `name` and `display_name` of the copy; without a name it is called `NAME-copy`, with a number if need be.

    Raises:
        NotFoundError: The caller's: there is no such evaluator or version.
        ConflictError: The caller's: the name is taken.
    """
    original = get_version(database, project_id, named, number)
    copied = replace(original.version.definition, name=None, display_name=None)
    definition = replace(
        copied,
        description=original.saved.description,
        tags=original.saved.tags,
        **_names_of_copy(settle_definition(fields)),
    )
    with database.write() as connection:
        if definition.name is None:
            proposed = f"{original.saved.name[:100]}-copy"
            definition = replace(definition, name=_free_name(connection, project_id, proposed))
        evaluator = replace(
            original.version.evaluator,
            name=definition.name or "",
            display_name=definition.display_name,
            description=definition.description,
            tags=definition.tags,
        )
        kept = _new(evaluator, definition)
        _insert(connection, project_id, kept)
    return kept


def edit(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    named: str,
    *,
    expected: int | None,
    changes: JsonObject,
    read: ReadSource,
) -> Kept:
    """Change an evaluator; a change of what decides about results makes a new version.

    A version that is as the newest one in all its author decides is none: nothing is saved then.

    Args:
        database: Where it is.
        project_id: Of its project.
        named: Its id or name.
        expected: The revision that is changed; None takes the newest.
        changes: `source`, and what a definition says of it; null takes back what was declared.
        read: Reads the source.

    Raises:
        CallerError: The caller's: it would be no evaluator; the error points at the part.
        StaleError: The caller's: it was changed meanwhile.
        ConflictError: The caller's: it is deleted.
    """
    found = get(database, project_id, named)
    _check_revision(found.saved, expected)
    _refuse_deleted(found.saved)
    changed = _changed(found, changes, read)
    if changed is found:
        return found
    with database.write() as connection:
        _update(connection, project_id, changed.saved, expected=found.saved.revision)
        if changed.version is not found.version:
            insert_version(connection, project_id, changed.version)
        _note(connection, project_id, "edit", changed.saved)
    return changed


def delete(database: Database, project_id: str, named: str, *, expected: int | None) -> Kept:
    """Delete an evaluator; its results stay, its name stays taken, and it can be restored.

    Raises:
        NotFoundError: The caller's: there is no such evaluator.
        StaleError: The caller's: it was changed meanwhile.
        ConflictError: The caller's: it is deleted already, or an active monitor has it.
    """
    found = get(database, project_id, named)
    _check_revision(found.saved, expected)
    _refuse_deleted(found.saved)
    deleted = replace(found.saved, revision=found.saved.revision + 1, deleted_us=now_us())
    with database.write() as connection:
        monitors = active_monitors_of(connection, project_id, found.saved.evaluator_id)
        if monitors:
            names = name_list(monitor.name for monitor in monitors)
            raise ConflictError(
                f"evaluator {quote(found.saved.name)} is in use by active monitors: {names}; "
                "suspend them first"
            )
        _update(connection, project_id, deleted, expected=found.saved.revision)
        _note(connection, project_id, "delete", deleted)
    return replace(found, saved=deleted)


def restore(database: Database, project_id: str, named: str) -> Kept:
    """Take back that an evaluator was deleted; one that is not deleted stays as it is.

    Raises:
        NotFoundError: The caller's: there is no such evaluator.
        StaleError: The caller's: it was changed meanwhile.
    """
    found = get(database, project_id, named)
    if found.saved.deleted_us is None:
        return found
    restored = replace(
        found.saved,
        revision=found.saved.revision + 1,
        updated_us=now_us(),
        deleted_us=None,
    )
    with database.write() as connection:
        _update(connection, project_id, restored, expected=found.saved.revision)
        _note(connection, project_id, "restore", restored)
    return replace(found, saved=restored)


def get(database: Database, project_id: str, named: str) -> Kept:
    """Return an evaluator with its newest version, by its id or name; a deleted one too.

    Raises:
        NotFoundError: The caller's: there is no such evaluator in this project.
    """
    return get_version(database, project_id, named, "latest")


def get_version(database: Database, project_id: str, named: str, number: VersionNumber) -> Kept:
    """Return an evaluator with one of its versions.

    Raises:
        NotFoundError: The caller's: there is no such evaluator or version in this project.
    """
    with database.read() as connection:
        saved = _find(connection, project_id, named)
        wanted = saved.latest_number if number == "latest" else number
        there = 1 <= wanted <= saved.latest_number
        version = (
            find_version(connection, project_id, saved.evaluator_id, wanted) if there else None
        )
    if version is None:
        raise NotFoundError(
            f"evaluator {quote(saved.name)} has no version {quote(str(number))}; "
            f"the newest is {saved.latest_number}"
        )
    evaluator = replace(
        version.evaluator,
        display_name=saved.display_name,
        description=saved.description,
        tags=saved.tags,
    )
    return Kept(saved=saved, version=replace(version, evaluator=evaluator))


def list_kept(
    database: Database,
    project_id: str,
    wanted: EvaluatorFilter,
    *,
    before: str | None,
    limit: int,
) -> list[SavedEvaluator]:
    """Return a project's evaluators, newest first, from the one after that of an id."""
    if before is not None and not re.fullmatch(r"[0-9a-f]{32}", before):
        raise UsageError("cursor: not one of this list; leave it out to start at the beginning").at(
            "cursor"
        )
    with database.read() as connection:
        return list_evaluators(connection, project_id, wanted, before=before, limit=limit)


def versions(
    database: Database, project_id: str, named: str, *, before: int | None, limit: int
) -> list[SavedVersion]:
    """Return an evaluator's versions below a number, newest first, without their sources.

    Raises:
        NotFoundError: The caller's: there is no such evaluator.
    """
    with database.read() as connection:
        saved = _find(connection, project_id, named)
        below = None if before is None else max(0, min(before, saved.latest_number + 1))
        return list_versions(connection, project_id, saved.evaluator_id, before=below, limit=limit)


def usage(database: Database, project_id: str, named: str) -> tuple[list[Referrer], list[Referrer]]:
    """Return the tasks and the active monitors that have an evaluator among theirs.

    Raises:
        NotFoundError: The caller's: there is no such evaluator.
    """
    with database.read() as connection:
        evaluator_id = _find(connection, project_id, named).evaluator_id
        return (
            tasks_of(connection, project_id, evaluator_id),
            active_monitors_of(connection, project_id, evaluator_id),
        )


def _find(connection: sa.Connection, project_id: str, named: str) -> SavedEvaluator:
    found = find_evaluator(connection, project_id, named)
    if found is None:
        raise NotFoundError(f"there is no evaluator {quote(named)} in this project")
    return found


def _new(evaluator: Evaluator, definition: Definition) -> Kept:
    evaluator_id, now = new_id(), now_us()
    saved = SavedEvaluator(
        evaluator_id=evaluator_id,
        name=evaluator.name,
        display_name=evaluator.display_name,
        description=evaluator.description,
        tags=evaluator.tags,
        type=evaluator.type,
        level=evaluator.level,
        convention=evaluator.convention,
        language=evaluator.language,
        latest_number=1,
        revision=1,
        created_us=now,
        updated_us=now,
        deleted_us=None,
    )
    version = SavedVersion(
        version_id=new_id(),
        evaluator_id=evaluator_id,
        number=1,
        created_us=now,
        definition=definition,
        evaluator=replace(evaluator, version=1),
    )
    return Kept(saved=saved, version=version)


def _insert(connection: sa.Connection, project_id: str, kept: Kept) -> None:
    if insert_evaluator(connection, project_id, kept.saved):
        insert_version(connection, project_id, kept.version)
        _note(connection, project_id, "create", kept.saved)
        return
    name = kept.saved.name
    other = find_evaluator(connection, project_id, name)
    another = f"choose another name, such as {quote(_free_name(connection, project_id, name))}"
    if other is not None and other.deleted_us is not None:
        raise ConflictError(
            f"name: {quote(other.name)} is a deleted evaluator's, and its results keep it; "
            f"restore that one, or {another}"
        ).at("/name")
    raise ConflictError(
        f"name: there is an evaluator {quote(other.name if other else name)} already, and letter case "
        f"makes no difference; {another}"
    ).at("/name")


def _note(connection: sa.Connection, project_id: str, action: str, saved: SavedEvaluator) -> None:
    detail = {"name": saved.name, "version": saved.latest_number}
    audit.note(
        connection,
        project_id,
        action,
        kind="evaluator",
        target_id=saved.evaluator_id,
        detail=detail,
    )


def _free_name(connection: sa.Connection, project_id: str, name: str) -> str:
    """Return the name, or the first `name-2`, `name-3` … that is free."""
    taken = taken_names(connection, project_id, name[:100])
    return unique_names([*taken, name])[-1]


def _names_of_copy(given: Definition) -> dict[str, str | None]:
    if given.name is not None:
        _refuse_reserved(given.name)
    return {"name": given.name, "display_name": given.display_name}


def _refuse_reserved(name: str) -> None:
    if name.lower() in RESERVED_NAMES:
        raise EvaluatorError(
            f"name: {quote(name)} is an address of this interface; choose another name"
        ).at("/name")


def _changed(found: Kept, changes: JsonObject, read: ReadSource) -> Kept:
    """Return an evaluator as it will be; the very same one when nothing changes."""
    saved, version = found.saved, found.version
    source = changes.get("source")
    definition = _definition_after(found, changes)
    evaluator = build_draft(
        source if isinstance(source, str) else version.evaluator.source, definition, read
    )
    if not _decide_alike(evaluator, version.evaluator):
        number = version.number + 1
        version = SavedVersion(
            version_id=new_id(),
            evaluator_id=saved.evaluator_id,
            number=number,
            created_us=now_us(),
            definition=definition,
            evaluator=replace(evaluator, version=number),
        )
    after = replace(
        saved,
        display_name=evaluator.display_name,
        description=evaluator.description,
        tags=evaluator.tags,
        latest_number=version.number,
    )
    if after == saved:
        return found
    after = replace(after, revision=saved.revision + 1, updated_us=now_us())
    return Kept(saved=after, version=version)


def _definition_after(found: Kept, changes: JsonObject) -> Definition:
    saved = found.saved
    fields: JsonObject = {
        "display_name": saved.display_name,
        "description": saved.description,
        "tags": list(saved.tags),
        **definition_fields(found.version.definition, *_DECLARED),
        **{key: value for key, value in changes.items() if key != "source"},
        # What never changes: a source that does not fit is refused.
        "name": saved.name,
        "convention": saved.convention.value,
        "level": saved.level.value,
        "language": saved.language,
    }
    return settle_definition(fields)


def _decide_alike(one: Evaluator, other: Evaluator) -> bool:
    """Whether two have the same digest, and say the same about what it leaves out; 1 is not true here."""
    return _decided(one) == _decided(other)


def _decided(evaluator: Evaluator) -> bytes:
    return msgspec.json.encode(
        (evaluator.digest, evaluator.params, evaluator.mapping, evaluator.correct_answer_key),
        order="sorted",
    )


def _check_revision(saved: SavedEvaluator, expected: int | None) -> None:
    if expected is not None and expected != saved.revision:
        raise _stale(saved)


def _refuse_deleted(saved: SavedEvaluator) -> None:
    if saved.deleted_us is not None:
        raise ConflictError(f"evaluator {quote(saved.name)} is deleted; restore it first")


def _update(
    connection: sa.Connection, project_id: str, saved: SavedEvaluator, *, expected: int
) -> None:
    if not update_evaluator(connection, project_id, saved, expected=expected):
        raise _stale(saved)


def _stale(saved: SavedEvaluator) -> StaleError:
    return StaleError(
        f"evaluator {quote(saved.name)} was changed meanwhile; get it again, and change that"
    )
