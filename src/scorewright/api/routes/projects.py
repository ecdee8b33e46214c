"""Projects."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter, HTTPException

from scorewright.api.access import InCaller, needs
from scorewright.api.context import InContext, ProjectId
from scorewright.api.document import problems
from scorewright.api.newest import read_newest
from scorewright.api.paging import Cursor, Limit, Page, write_cursor
from scorewright.api.schemas.projects import NewProject, ProjectView
from scorewright.services import projects

router = APIRouter(prefix="/api/v1/projects", tags=["projects"])


@router.post("", status_code=HTTPStatus.CREATED, responses=problems(409))
@needs("admin")
def create_project(body: NewProject, context: InContext, caller: InCaller) -> ProjectView:
    """Make a project. This needs a key for all projects; there is one project of a name, so the same again is a 409."""
    if caller.project_id is not None:
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "this needs a key for all projects; yours is for one"
        )
    return ProjectView.of(projects.create(context.database, body.name))


@router.get("")
def list_projects(
    context: InContext, caller: InCaller, limit: Limit = 50, cursor: Cursor = None
) -> Page[ProjectView]:
    """List the projects that your key is good for, newest first."""
    found = projects.page(context.database, caller, before=read_newest(cursor), limit=limit + 1)
    last = found[limit - 1] if len(found) > limit else None
    return Page(
        items=[ProjectView.of(one) for one in found[:limit]],
        next_cursor=last and write_cursor(last.created_us, last.id),
    )


@router.get("/{project}")  # noqa: FAST003 - ProjectId takes it
def get_project(project_id: ProjectId, context: InContext) -> ProjectView:
    """Return a project."""
    return ProjectView.of(projects.find(context.database, project_id))
