"""Evaluators: save, edit, delete and find them."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from scorewright.api.context import InContext, ProjectId
from scorewright.api.document import headers
from scorewright.api.editing import ExpectedRevision, etag
from scorewright.api.idempotency import OnceRoute
from scorewright.api.paging import Cursor, Limit, Page, read_cursor, write_cursor
from scorewright.api.schemas import evaluators as wire
from scorewright.api.schemas.written_evaluators import (
    write_entry,
    write_evaluator,
    write_version,
    write_version_entry,
)
from scorewright.domain.convention import Level
from scorewright.domain.errors import NotFoundError
from scorewright.domain.json_value import JsonObject
from scorewright.domain.saved_evaluator import EvaluatorFilter
from scorewright.domain.source_language import Language
from scorewright.domain.suggestion import quote
from scorewright.services import saved_evaluators
from scorewright.services.saved_evaluators import Kept, VersionNumber

router = APIRouter(prefix="/evaluators", tags=["evaluators"], route_class=OnceRoute)

Named = Annotated[str, Path(description="id, or name in any letter case")]
Numbered = Annotated[str, Path(description="number of a version, or latest")]


@router.get("")
def list_evaluators(
    context: InContext,
    project: ProjectId,
    search: Annotated[
        str | None,
        Query(max_length=200, description="part of name, display name or description"),
    ] = None,
    tag: Annotated[
        list[str], Query(max_length=50, description="given several times: all of them")
    ] = [],
    type: Annotated[str | None, Query(max_length=64)] = None,  # noqa: A002 - the parameter's name
    language: Language | None = None,
    level: Level | None = None,
    deleted: Annotated[bool, Query(description="the deleted ones instead")] = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[wire.EvaluatorEntry]:
    """List evaluators, newest first."""
    after = read_cursor(cursor, (str,))
    found = saved_evaluators.list_kept(
        context.database,
        project,
        EvaluatorFilter(
            search=search,
            tags=tuple(tag),
            type=type,
            language=language,
            level=level,
            deleted=deleted,
        ),
        before=None if after is None else str(after[0]),
        limit=limit + 1,
    )
    more = len(found) > limit
    return Page(
        items=[write_entry(saved) for saved in found[:limit]],
        next_cursor=write_cursor(found[limit - 1].evaluator_id) if more else None,
    )


@router.post("", status_code=201, responses={201: headers("Location")})
def create_evaluator(
    body: wire.EvaluatorDraft,
    context: InContext,
    project: ProjectId,
    request: Request,
    response: Response,
) -> wire.Evaluator:
    """Save an evaluator. Its source is parsed, and never run for that."""
    kept = saved_evaluators.create(
        context.database,
        project,
        source=body.source,
        fields=_fields(body),
        read=context.source_reader.read,
    )
    response.headers["Location"] = f"{request.url.path}/{kept.saved.name}"
    return _answer(kept, response)


@router.get("/{evaluator}")
def get_evaluator(
    evaluator: Named, context: InContext, project: ProjectId, response: Response
) -> wire.Evaluator:
    """Get an evaluator with its newest version, a deleted one too."""
    return _answer(saved_evaluators.get(context.database, project, evaluator), response)


@router.patch("/{evaluator}")
def edit_evaluator(
    evaluator: Named,
    body: wire.EvaluatorEdit,
    context: InContext,
    project: ProjectId,
    expected: ExpectedRevision,
    response: Response,
) -> wire.Evaluator:
    """Change an evaluator; a change of what decides about results makes a new version."""
    changes = body.model_dump(exclude_unset=True, mode="python")
    kept = saved_evaluators.edit(
        context.database,
        project,
        evaluator,
        expected=expected,
        changes=changes,
        read=context.source_reader.read,
    )
    return _answer(kept, response)


@router.delete("/{evaluator}")
def delete_evaluator(
    evaluator: Named,
    context: InContext,
    project: ProjectId,
    expected: ExpectedRevision,
    response: Response,
) -> wire.Evaluator:
    """Delete an evaluator. Its results stay, its name stays taken, and it can be restored."""
    kept = saved_evaluators.delete(context.database, project, evaluator, expected=expected)
    return _answer(kept, response)


@router.post("/{evaluator}/restore")
def restore_evaluator(
    evaluator: Named, context: InContext, project: ProjectId, response: Response
) -> wire.Evaluator:
    """Take back that an evaluator was deleted."""
    return _answer(saved_evaluators.restore(context.database, project, evaluator), response)


@router.post("/{evaluator}/duplicate", status_code=201, responses={201: headers("Location")})
def duplicate_evaluator(
    evaluator: Named,
    body: wire.EvaluatorCopy,
    context: InContext,
    project: ProjectId,
    request: Request,
    response: Response,
) -> wire.Evaluator:
    """Save a version of an evaluator as version 1 of a new one."""
    fields = body.model_dump(exclude_unset=True, exclude={"version"})
    kept = saved_evaluators.duplicate(
        context.database, project, evaluator, number=body.version, fields=fields
    )
    path = request.url.path.removesuffix(f"/{evaluator}/duplicate")
    response.headers["Location"] = f"{path}/{kept.saved.name}"
    return _answer(kept, response)


@router.get("/{evaluator}/usage")
def get_evaluator_usage(
    evaluator: Named, context: InContext, project: ProjectId
) -> wire.EvaluatorUsage:
    """Say which tasks and active monitors have an evaluator among theirs."""
    tasks, monitors = saved_evaluators.usage(context.database, project, evaluator)
    return wire.EvaluatorUsage(
        tasks=[
            wire.EvaluatorReferrer(id=one.referrer_id, name=one.name, version=one.version)
            for one in tasks
        ],
        active_monitors=[
            wire.EvaluatorReferrer(id=one.referrer_id, name=one.name, version=one.version)
            for one in monitors
        ],
    )


@router.get("/{evaluator}/versions")
def list_evaluator_versions(
    evaluator: Named,
    context: InContext,
    project: ProjectId,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[wire.EvaluatorVersionEntry]:
    """List an evaluator's versions, newest first."""
    after = read_cursor(cursor, (int,))
    found = saved_evaluators.versions(
        context.database,
        project,
        evaluator,
        before=None if after is None else int(after[0]),
        limit=limit + 1,
    )
    more = len(found) > limit
    return Page(
        items=[write_version_entry(version) for version in found[:limit]],
        next_cursor=write_cursor(found[limit - 1].number) if more else None,
    )


@router.get("/{evaluator}/versions/{number}")
def get_evaluator_version(
    evaluator: Named, number: Numbered, context: InContext, project: ProjectId
) -> wire.EvaluatorVersion:
    """Get one version of an evaluator."""
    kept = saved_evaluators.get_version(context.database, project, evaluator, _number(number))
    return write_version(kept.version)


def _answer(kept: Kept, response: Response) -> wire.Evaluator:
    response.headers["ETag"] = etag(kept.saved.revision)
    return write_evaluator(kept)


def _fields(body: wire.EvaluatorDraft) -> JsonObject:
    return body.model_dump(exclude_unset=True, exclude={"source"})


def _number(text: str) -> VersionNumber:
    if text == "latest":
        return "latest"
    if not re.fullmatch(r"[1-9]\d{0,8}", text, re.ASCII):
        raise NotFoundError(f"there is no version {quote(text)}; give a number, or latest")
    return int(text)
