"""Evaluators: what can be edited of them."""

from __future__ import annotations

import re
from typing import Any, Final

import sqlalchemy as sa

from scorewright.domain.convention import Convention, Level
from scorewright.domain.saved_evaluator import EvaluatorFilter, SavedEvaluator
from scorewright.storage.statements import upsert
from scorewright.storage.tables.evaluators import evaluator_tags, evaluators

_ID: Final = re.compile(r"[0-9a-f]{32}")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,200}")


def insert_evaluator(connection: sa.Connection, project_id: str, saved: SavedEvaluator) -> bool:
    """Insert an evaluator; False when its name is taken."""
    row = {
        "id": saved.evaluator_id,
        "project_id": project_id,
        "name": saved.name,
        "name_key": saved.name.lower(),
        "type": saved.type,
        "level": saved.level.value,
        "convention": saved.convention.value,
        "language": saved.language,
        "created_us": saved.created_us,
        **_editable(saved),
    }
    # One of the same name that is just being written is waited for.
    insert = upsert(connection, evaluators).values(row).on_conflict_do_nothing()
    if connection.scalar(insert.returning(evaluators.c.id)) is None:
        return False
    _insert_tags(connection, project_id, saved)
    return True


def update_evaluator(
    connection: sa.Connection, project_id: str, saved: SavedEvaluator, *, expected: int
) -> bool:
    """Write what can be edited; False when the revision is not the expected one any more."""
    table = evaluators.c
    changed = connection.execute(
        evaluators.update()
        .where(
            table.project_id == project_id,
            table.id == saved.evaluator_id,
            table.revision == expected,
        )
        .values(_editable(saved))
    )
    if not changed.rowcount:
        return False
    connection.execute(
        evaluator_tags.delete().where(
            evaluator_tags.c.project_id == project_id,
            evaluator_tags.c.evaluator_id == saved.evaluator_id,
        )
    )
    _insert_tags(connection, project_id, saved)
    return True


def find_evaluator(connection: sa.Connection, project_id: str, named: str) -> SavedEvaluator | None:
    """Return an evaluator by its id, or by its name in any letter case; a deleted one too."""
    if _ID.fullmatch(named):
        condition = evaluators.c.id == named
    elif _NAME.fullmatch(named):
        condition = evaluators.c.name_key == named.lower()
    else:
        return None
    row = connection.execute(
        sa.select(evaluators).where(evaluators.c.project_id == project_id, condition)
    ).one_or_none()
    return None if row is None else _saved(row)


def list_evaluators(
    connection: sa.Connection,
    project_id: str,
    wanted: EvaluatorFilter,
    *,
    before: str | None,
    limit: int,
) -> list[SavedEvaluator]:
    """Return evaluators that were made before the one of an id, newest first."""
    query = sa.select(evaluators).where(*_conditions(project_id, wanted))
    if before is not None:
        query = query.where(evaluators.c.id < before)
    rows = connection.execute(query.order_by(evaluators.c.id.desc()).limit(limit))
    return [_saved(row) for row in rows]


def taken_names(connection: sa.Connection, project_id: str, start: str) -> set[str]:
    """Return the names in use that start like one, in lower case; those of deleted evaluators are in use."""
    key = evaluators.c.name_key
    found = connection.scalars(
        sa.select(key).where(
            evaluators.c.project_id == project_id, key.startswith(start.lower(), autoescape=True)
        )
    )
    return set(found)


def _conditions(project_id: str, wanted: EvaluatorFilter) -> list[sa.ColumnElement[bool]]:
    table, tags = evaluators.c, evaluator_tags.c
    deleted = table.deleted_us.is_not(None) if wanted.deleted else table.deleted_us.is_(None)
    conditions = [table.project_id == project_id, deleted]
    if wanted.search:
        conditions.append(table.search_text.contains(wanted.search.casefold(), autoescape=True))
    for tag in wanted.tags:
        tagged = sa.select(tags.evaluator_id).where(tags.project_id == project_id, tags.tag == tag)
        conditions.append(table.id.in_(tagged))
    for column, value in (
        (table.type, wanted.type),
        (table.language, wanted.language),
        (table.level, wanted.level),
    ):
        if value is not None:
            conditions.append(column == str(value))
    return conditions


def _editable(saved: SavedEvaluator) -> dict[str, Any]:
    searched = (saved.name, saved.display_name or "", saved.description)
    return {
        "display_name": saved.display_name,
        "description": saved.description,
        "tags": list(saved.tags),
        "search_text": "\n".join(searched).casefold(),
        "latest_number": saved.latest_number,
        "revision": saved.revision,
        "updated_us": saved.updated_us,
        "deleted_us": saved.deleted_us,
    }


def _insert_tags(connection: sa.Connection, project_id: str, saved: SavedEvaluator) -> None:
    rows = [
        {"evaluator_id": saved.evaluator_id, "project_id": project_id, "tag": tag}
        for tag in saved.tags
    ]
    if rows:
        connection.execute(evaluator_tags.insert(), rows)


def _saved(row: sa.Row[Any]) -> SavedEvaluator:
    return SavedEvaluator(
        evaluator_id=row.id,
        name=row.name,
        display_name=row.display_name,
        description=row.description,
        tags=tuple(row.tags),
        type=row.type,
        level=Level(row.level),
        convention=Convention(row.convention),
        language=row.language,
        latest_number=row.latest_number,
        revision=row.revision,
        created_us=row.created_us,
        updated_us=row.updated_us,
        deleted_us=row.deleted_us,
    )
