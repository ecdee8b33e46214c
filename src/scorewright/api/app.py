"""The application that the server serves."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.concurrency import run_in_threadpool

from scorewright._version import __version__
from scorewright.api.context import Context
from scorewright.api.problem import Problem, add_handlers
from scorewright.api.routes import (
    dataset_uploads,
    datasets,
    evaluator_sources,
    evaluators,
    logs,
    otlp,
    preview,
    results,
    runs,
    sources,
    tasks,
    traces,
)
from scorewright.services.dataset_loading import remove_abandoned

#: Routes under /api/v1/projects/{project}, one module per noun.
PROJECT_ROUTERS: Final[tuple[APIRouter, ...]] = (
    dataset_uploads.router,
    datasets.router,
    evaluator_sources.router,  # before the next, whose paths hold any name
    evaluators.router,
    logs.router,
    preview.router,
    results.router,
    runs.router,
    sources.router,
    tasks.router,
    traces.router,
)
_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        400: "the body cannot be read",
        404: "there is no such thing",
        409: "it does not go with what is there",
        412: "it was changed meanwhile",
        413: "the body is too large",
        422: "something in the request is wrong",
        428: "it says not which state it is to change",
    }.items()
}


def create_app(context: Context) -> FastAPI:
    """Make the application over what a server works with."""
    app = FastAPI(
        title="Scorewright", version=__version__, docs_url=None, redoc_url=None, lifespan=_lifespan
    )
    app.state.context = context
    add_handlers(app)
    for router in PROJECT_ROUTERS:
        app.include_router(router, prefix="/api/v1/projects/{project}", responses=_PROBLEMS)
    app.include_router(otlp.router)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    context: Context = app.state.context
    await run_in_threadpool(remove_abandoned, context.database)
    await run_in_threadpool(context.runners.start)
    try:
        yield
    finally:
        await run_in_threadpool(context.runners.close)
