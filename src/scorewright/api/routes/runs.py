"""Runs."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from scorewright.api.access import InCaller, address_of
from scorewright.api.context import InContext, ProjectId
from scorewright.api.idempotency import OnceRoute
from scorewright.api.newest import read_newest
from scorewright.api.paging import Cursor, Limit, Page, write_cursor
from scorewright.api.run_events import RunEvents, stream_run
from scorewright.api.schemas.run_report import RunReport
from scorewright.api.schemas.runs import Repeat, RunView, Status
from scorewright.services import run_results, runs
from scorewright.services.access import ANYONE

_EVENTS = (
    "Events of the type `run`, each a blank line after `id: CHANGE`, `event: run` and `data: RUN`: the run as `get_run` returns it, as JSON in one "
    "line; CHANGE is its `change`. Lines that begin with a colon are signs of life. The stream ends with the run, or after ten minutes, or when the "
    "server stops: unless the run has ended, ask again with the last id as `Last-Event-ID`."
)
router = APIRouter(prefix="/runs", tags=["runs"], route_class=OnceRoute)


@router.get("")
def list_runs(
    project: ProjectId,
    context: InContext,
    task: Annotated[str | None, Query(max_length=128, description="name or id")] = None,
    status: Annotated[list[Status], Query(max_length=7)] = [],
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[RunView]:
    """List runs, the newest first."""
    found = runs.page(
        context.database,
        project,
        task_ref=task,
        statuses=status,
        before=read_newest(cursor),
        limit=limit + 1,
    )
    last = found[limit - 1] if len(found) > limit else None
    return Page(
        items=[RunView.of(one) for one in found[:limit]],
        next_cursor=last and write_cursor(last.created_us, last.run_id),
    )


@router.get("/{run}")
def get_run(run: str, project: ProjectId, context: InContext) -> RunView:
    """Return a run with its progress."""
    at_most = context.settings.runs_per_project
    return RunView.of(runs.find(context.database, project, run, runs_per_project=at_most))


@router.post("/{run}/cancel")
def cancel_run(run: str, project: ProjectId, context: InContext) -> RunView:
    """End a run; what it has results of is kept."""
    found = runs.cancel(context.database, project, run)
    context.wake_worker()
    return RunView.of(found)


@router.post("/{run}/pause")
def pause_run(run: str, project: ProjectId, context: InContext) -> RunView:
    """Let a run rest."""
    return RunView.of(runs.pause(context.database, project, run))


@router.post("/{run}/resume")
def resume_run(run: str, project: ProjectId, context: InContext) -> RunView:
    """Go on with a run that rests or failed."""
    runs.resume(context.database, project, run)
    context.wake_worker()
    return get_run(run, project, context)


@router.post("/{run}/repeat", status_code=HTTPStatus.CREATED)
def repeat_run(run: str, body: Repeat, project: ProjectId, context: InContext) -> RunView:
    """Make a new run of what this one was about; this one stays as it is."""
    found = runs.repeat(context.database, context.run_parts, project, run, body.mode)
    context.wake_worker()
    return RunView.of(found)


@router.get("/{run}/summary", response_model=RunReport)
def summarise_run(run: str, project: ProjectId, context: InContext) -> dict[str, Any]:
    """Return what a run amounts to: means, pass rates, metrics and failures of each evaluator."""
    return run_results.document(context.database, project, run)


@router.get(
    "/{run}/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": _EVENTS,
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
        }
    },
)
async def watch_run(
    run: str,
    project: ProjectId,
    context: InContext,
    caller: InCaller,
    request: Request,
    last_event_id: Annotated[
        str | None, Header(max_length=20, description="id of the last event seen")
    ] = None,
) -> RunEvents:
    """Stream a run's progress as server-sent events `run`, each with the run as it then was, until its end."""
    who = address_of(request) if caller is ANYONE else caller.actor.id
    context.watchers.check(who)
    at_most = context.settings.runs_per_project
    find = partial(runs.find, context.database, project, run, runs_per_project=at_most)
    first = await run_in_threadpool(find)
    is_number = last_event_id and last_event_id.isascii() and last_event_id.isdigit()
    seen = int(last_event_id) if last_event_id and is_number else 0
    return RunEvents(stream_run(context.database, find, first, seen), context.watchers, who)
