"""Tasks: made, changed, copied, deleted and restored; never such that a run of them could not begin."""

from __future__ import annotations

from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec.structs import replace

from scorewright.domain.errors import (
    CallerError,
    ConflictError,
    MappingError,
    ParamError,
    StaleError,
    UsageError,
)
from scorewright.domain.evaluator_name import unique_names
from scorewright.domain.filter import parse_filter
from scorewright.domain.mapping import plan_arguments
from scorewright.domain.suggestion import quote
from scorewright.services import audit
from scorewright.services.run_access import need_task
from scorewright.services.run_model import (
    EvaluatorUse,
    FrozenEvaluator,
    RunSettings,
    Task,
    TaskSpec,
    task_of,
)
from scorewright.services.run_parts import RunParts, SavedEvaluator
from scorewright.sources.source import Source
from scorewright.storage.database import Database
from scorewright.storage.repositories import tasks as task_rows
from scorewright.storage.tables.metadata import new_id, now_us


def create(database: Database, parts: RunParts, project_id: str, spec: TaskSpec) -> Task:
    """Make a task.

    Raises:
        CallerError: The caller's: something in it is wrong, with a pointer to it; or there is one of that name.
    """
    check(parts, project_id, spec)
    return _insert(database, project_id, spec)


def find(database: Database, project_id: str, ref: str) -> Task:
    """Return a task by id or name, a deleted one as well."""
    with database.read() as connection:
        return task_of(need_task(connection, project_id, ref, deleted=True))


def page(  # noqa: PLR0913 - each by name
    database: Database,
    project_id: str,
    *,
    search: str | None,
    is_deleted: bool,
    before: tuple[int, str] | None,
    limit: int,
) -> list[Task]:
    """Return tasks, the newest first."""
    with database.read() as connection:
        rows = task_rows.page(
            connection, project_id, search=search, is_deleted=is_deleted, before=before, limit=limit
        )
    return [task_of(row) for row in rows]


def edit(  # noqa: PLR0913 - each is what it is
    database: Database,
    parts: RunParts,
    project_id: str,
    ref: str,
    changes: dict[str, Any],
    *,
    expected: int | None,
) -> Task:
    """Change a task; runs that were made before keep what they were made with.

    Args:
        database: Where it is.
        parts: What it refers to.
        project_id: Whose it is.
        ref: Its id or name.
        changes: Fields of `TaskSpec`.
        expected: The revision it was read with; None for any.

    Raises:
        StaleError: The caller's: somebody changed it meanwhile.
    """
    with database.read() as connection:
        task = task_of(need_task(connection, project_id, ref))
    _check_revision(task, expected)
    spec = replace(task.spec, **changes)
    check(parts, project_id, spec)
    return _update(database, project_id, task, "edit", _columns(spec))


def duplicate(database: Database, project_id: str, ref: str, name: str | None) -> Task:
    """Make a task like another one."""
    with database.read() as connection:
        spec = task_of(need_task(connection, project_id, ref, deleted=True)).spec
        number = 2
        wanted = name or f"{spec.name} (copy)"
        while name is None and task_rows.find(connection, project_id, wanted) is not None:
            wanted, number = f"{spec.name} (copy {number})", number + 1
    _check_name(wanted)
    return _insert(database, project_id, replace(spec, name=wanted))


def delete(database: Database, project_id: str, ref: str, *, expected: int | None) -> Task:
    """Take a task out of sight; its runs stay, and it can be restored."""
    with database.read() as connection:
        task = task_of(need_task(connection, project_id, ref))
    _check_revision(task, expected)
    return _update(database, project_id, task, "delete", {"deleted_us": now_us()})


def restore(database: Database, project_id: str, ref: str) -> Task:
    """Bring a deleted task back."""
    with database.read() as connection:
        task = task_of(need_task(connection, project_id, ref, deleted=True))
    if task.deleted_us is None:
        return task
    return _update(database, project_id, task, "restore", {"deleted_us": None})


def check(parts: RunParts, project_id: str, spec: TaskSpec) -> list[FrozenEvaluator]:
    """Return the evaluators of a task in full, each ready for its data.

    Raises:
        CallerError: The caller's, with a pointer: a name that cannot be, an evaluator or data that are not there, a
            variable without a field, a param's value that does not fit, a filter that is none.
    """
    _check_name(spec.name)
    if not spec.evaluators:
        raise UsageError("evaluators: name at least one").at("/evaluators")
    found = [
        _find_evaluator(parts, project_id, use, f"/evaluators/{at}")
        for at, use in enumerate(spec.evaluators)
    ]
    levels = {saved.evaluator.level for saved in found}
    source = parts.open_source(project_id, spec.source, levels)
    frozen = [
        _freeze(saved, source, use, f"/evaluators/{at}")
        for at, (saved, use) in enumerate(zip(found, spec.evaluators, strict=True))
    ]
    names = [one.evaluator.name for one in frozen]
    for at, (name, apart) in enumerate(zip(names, unique_names(names), strict=True)):
        if name != apart:
            raise UsageError(
                f"evaluators: {quote(name)} is there twice; give one another name, such as {quote(apart)}"
            ).at(f"/evaluators/{at}/name")
    _check_filter(spec.settings.filter, source, frozen, "/settings/filter")
    _check_filter(parts.filter_of(spec.source), source, frozen, "/source/filter")
    return frozen


def run_settings(parts: RunParts, spec: TaskSpec) -> RunSettings:
    """Return the settings of a run: what its source's filter leaves out is left out by the run's own."""
    texts = [spec.settings.filter, parts.filter_of(spec.source)]
    given = [text for text in texts if text is not None]
    if len(given) > 1:
        given = [" and ".join(f"({text})" for text in given)]
    return replace(spec.settings, filter=given[0] if given else None)


def _find_evaluator(
    parts: RunParts, project_id: str, use: EvaluatorUse, pointer: str
) -> SavedEvaluator:
    number = None if use.version == "latest" else use.version
    try:
        return parts.find_evaluator(project_id, use.evaluator, number)
    except CallerError as error:  # whatever it is there: here the reference is what is wrong
        raise UsageError(str(error)).at(f"{pointer}/evaluator") from None


def _freeze(
    saved: SavedEvaluator, source: Source, use: EvaluatorUse, pointer: str
) -> FrozenEvaluator:
    evaluator = saved.evaluator
    try:
        shape = source.shape(source.item_level(evaluator.level))
    except UsageError as error:
        raise UsageError(f"{evaluator.name}: {error}").at(f"{pointer}/evaluator") from None
    try:
        plan_arguments(evaluator, shape=shape, mapping=use.mapping, params=use.params)
    except MappingError as error:
        raise error.at(f"{pointer}/mapping") from None
    except ParamError as error:
        raise error.at(f"{pointer}/params") from None
    if use.name is not None:
        evaluator = replace(evaluator, name=use.name)
    return FrozenEvaluator(
        evaluator_id=saved.evaluator_id,
        evaluator=evaluator,
        mapping=use.mapping,
        params=use.params,
    )


def _check_filter(
    text: str | None, source: Source, frozen: list[FrozenEvaluator], pointer: str
) -> None:
    if text is None:
        return
    for one in frozen:
        try:
            parse_filter(text, shape=source.shape(source.item_level(one.evaluator.level)))
        except UsageError as error:
            raise error.at(pointer) from None


def _check_name(name: str) -> None:
    if not name.strip() or name != name.strip() or len(name) > 128:
        raise UsageError("name: 1 to 128 characters, without blanks at its ends").at("/name")
    if any(character == "/" or not character.isprintable() for character in name):
        raise UsageError("name: no slashes, line breaks and the like").at("/name")


def _check_revision(task: Task, expected: int | None) -> None:
    if expected is not None and expected != task.revision:
        raise _stale(task)


def _stale(task: Task) -> StaleError:
    return StaleError(
        f"task {quote(task.spec.name)} was changed meanwhile; read it again, and change that"
    )


def _insert(database: Database, project_id: str, spec: TaskSpec) -> Task:
    now = now_us()
    task_id = new_id()
    values = {"id": task_id, "project_id": project_id, "created_us": now, "changed_us": now}
    with database.write() as connection:
        task_rows.insert(connection, {**values, "revision": 1, "latest_run": 0, **_columns(spec)})
        _note(connection, project_id, "create", task_id, spec.name)
        return task_of(need_task(connection, project_id, task_id))


def _update(
    database: Database, project_id: str, task: Task, action: str, values: dict[str, Any]
) -> Task:
    with database.write() as connection:
        name_key = values.get("name_key", task.spec.name.casefold())
        other = task_rows.find(connection, project_id, name_key)
        if other is not None and other.id != task.task_id:
            raise ConflictError(f"there is a task {quote(values['name'])} already").at("/name")
        values["changed_us"] = now_us()
        if not task_rows.update(connection, task.task_id, task.revision, values):
            raise _stale(task)
        _note(connection, project_id, action, task.task_id, values.get("name", task.spec.name))
        return task_of(need_task(connection, project_id, task.task_id, deleted=True))


def _note(connection: sa.Connection, project_id: str, action: str, task_id: str, name: str) -> None:
    audit.note(
        connection, project_id, action, kind="task", target_id=task_id, detail={"name": name}
    )


def _columns(spec: TaskSpec) -> dict[str, Any]:
    columns: dict[str, Any] = msgspec.to_builtins(spec)
    return {**columns, "name_key": spec.name.casefold()}
