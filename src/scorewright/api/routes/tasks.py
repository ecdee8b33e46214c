"""Tasks."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Response

from scorewright.api.context import InContext, ProjectId
from scorewright.api.editing import ExpectedRevision, etag
from scorewright.api.idempotency import OnceRoute
from scorewright.api.newest import read_newest
from scorewright.api.paging import Cursor, Limit, Page, write_cursor
from scorewright.api.schemas.runs import RunView
from scorewright.api.schemas.tasks import CopyOf, NewTask, TaskChanges, TaskView
from scorewright.services import runs, tasks
from scorewright.services.run_model import Task

router = APIRouter(prefix="/tasks", tags=["tasks"], route_class=OnceRoute)


@router.post("", status_code=HTTPStatus.CREATED)
def create_task(
    body: NewTask, project: ProjectId, context: InContext, response: Response
) -> TaskView:
    """Make a task; refused unless every evaluator is ready for its data."""
    return _view(tasks.create(context.database, context.run_parts, project, body.spec()), response)


@router.get("")
def list_tasks(
    project: ProjectId,
    context: InContext,
    search: Annotated[str | None, Query(max_length=200, description="in names and texts")] = None,
    deleted: Annotated[bool, Query(description="the deleted ones instead")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[TaskView]:
    """List tasks, the newest first."""
    found = tasks.page(
        context.database,
        project,
        search=search,
        is_deleted=deleted,
        before=read_newest(cursor),
        limit=limit + 1,
    )
    last = found[limit - 1] if len(found) > limit else None
    return Page(
        items=[TaskView.of(one) for one in found[:limit]],
        next_cursor=last and write_cursor(last.created_us, last.task_id),
    )


@router.get("/{task}")
def get_task(task: str, project: ProjectId, context: InContext, response: Response) -> TaskView:
    """Return a task by its name or id."""
    return _view(tasks.find(context.database, project, task), response)


@router.patch("/{task}")
def change_task(
    task: str,
    body: TaskChanges,
    project: ProjectId,
    context: InContext,
    expected: ExpectedRevision,
    response: Response,
) -> TaskView:
    """Change a task; its runs stay as they were made."""
    changed = tasks.edit(
        context.database, context.run_parts, project, task, body.changes(), expected=expected
    )
    return _view(changed, response)


@router.delete("/{task}")
def delete_task(
    task: str,
    project: ProjectId,
    context: InContext,
    expected: ExpectedRevision,
    response: Response,
) -> TaskView:
    """Take a task out of sight; its runs stay, and it can be restored."""
    return _view(tasks.delete(context.database, project, task, expected=expected), response)


@router.post("/{task}/restore")
def restore_task(task: str, project: ProjectId, context: InContext, response: Response) -> TaskView:
    """Bring a deleted task back."""
    return _view(tasks.restore(context.database, project, task), response)


@router.post("/{task}/duplicate", status_code=HTTPStatus.CREATED)
def duplicate_task(
    task: str, body: CopyOf, project: ProjectId, context: InContext, response: Response
) -> TaskView:
    """Make a task like this one."""
    return _view(tasks.duplicate(context.database, project, task, body.name), response)


@router.post("/{task}/runs", status_code=HTTPStatus.CREATED)
def start_run(task: str, project: ProjectId, context: InContext) -> RunView:
    """Run a task as it is now."""
    run = runs.start(context.database, context.run_parts, project, task)
    context.wake_worker()
    return RunView.of(run)


def _view(task: Task, response: Response) -> TaskView:
    response.headers["ETag"] = etag(task.revision)
    return TaskView.of(task)
