"""Versions of evaluators: written once, and only read from then on."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.definition import Definition
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.saved_evaluator import SavedVersion
from scorewright.storage.tables.evaluators import evaluator_versions

_definitions: Final = msgspec.json.Decoder(Definition)
_evaluators: Final = msgspec.json.Decoder(Evaluator)
_WITHOUT_SOURCE: Final = [column for column in evaluator_versions.c if column.name != "source"]


def insert_version(connection: sa.Connection, project_id: str, version: SavedVersion) -> None:
    """Insert a version."""
    without_source = msgspec.structs.replace(version.evaluator, source="")
    connection.execute(
        evaluator_versions.insert().values(
            id=version.version_id,
            project_id=project_id,
            evaluator_id=version.evaluator_id,
            number=version.number,
            digest=version.evaluator.digest,
            source=version.evaluator.source,
            definition=msgspec.json.encode(version.definition),
            evaluator=msgspec.json.encode(without_source),
            created_us=version.created_us,
        )
    )


def find_version(
    connection: sa.Connection, project_id: str, evaluator_id: str, number: int
) -> SavedVersion | None:
    """Return one version by its number."""
    query = _of(project_id, evaluator_id).where(evaluator_versions.c.number == number)
    row = connection.execute(query).one_or_none()
    return None if row is None else _version(row, source=row.source)


def list_versions(
    connection: sa.Connection,
    project_id: str,
    evaluator_id: str,
    *,
    before: int | None,
    limit: int,
) -> list[SavedVersion]:
    """Return versions below a number, newest first, with an empty source: it can be a mebibyte of each."""
    query = _of(project_id, evaluator_id).with_only_columns(*_WITHOUT_SOURCE)
    if before is not None:
        query = query.where(evaluator_versions.c.number < before)
    query = query.order_by(evaluator_versions.c.number.desc()).limit(limit)
    return [_version(row, source="") for row in connection.execute(query)]


def _of(project_id: str, evaluator_id: str) -> sa.Select[Any]:
    return sa.select(evaluator_versions).where(
        evaluator_versions.c.project_id == project_id,
        evaluator_versions.c.evaluator_id == evaluator_id,
    )


def _version(row: sa.Row[Any], *, source: str) -> SavedVersion:
    return SavedVersion(
        version_id=row.id,
        evaluator_id=row.evaluator_id,
        number=row.number,
        created_us=row.created_us,
        definition=_definitions.decode(row.definition),
        evaluator=msgspec.structs.replace(
            _evaluators.decode(row.evaluator), source=source, version=row.number
        ),
    )
