"""The application that the server serves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from fastapi import APIRouter, Depends, FastAPI
from fastapi.concurrency import run_in_threadpool
from starlette.types import ASGIApp

from scorewright._version import __version__
from scorewright.api.access import Gate, allow
from scorewright.api.body_limit import BodyLimit
from scorewright.api.context import Context
from scorewright.api.document import complete, operation_id
from scorewright.api.guards import HostAndOrigin
from scorewright.api.problem import add_handlers
from scorewright.api.request_log import RequestLog
from scorewright.api.routes import (
    api_keys,
    audit,
    dataset_uploads,
    datasets,
    evaluator_sources,
    evaluators,
    health,
    logs,
    otlp,
    preview,
    projects,
    purging,
    result_times,
    results,
    runs,
    session,
    sources,
    tasks,
    traces,
)
from scorewright.api.upkeep import look_after, store_last_used
from scorewright.services.dataset_loading import remove_abandoned
from scorewright.services.purging import finish_purges

#: Routes under /api/v1/projects/{project}, one module per noun. Each route needs a key whose scope is `read` or
#: `write`, by its method, or what `api.access.needs` says above it.
PROJECT_ROUTERS: Final[tuple[APIRouter, ...]] = (
    api_keys.router,
    audit.router,
    dataset_uploads.router,
    datasets.router,
    evaluator_sources.router,  # before the next, whose paths hold any name
    evaluators.router,
    logs.router,
    preview.router,
    result_times.router,
    purging.router,
    results.router,
    runs.router,
    sources.router,
    tasks.router,
    traces.router,
)
#: Routes elsewhere that need a key as well.
ROOT_ROUTERS: Final[tuple[APIRouter, ...]] = (
    health.private_router,
    otlp.router,
    projects.router,
)
#: Routes that anybody may ask for: all of them are named in `api.access.PUBLIC`.
PUBLIC_ROUTERS: Final[tuple[APIRouter, ...]] = (health.router, session.router)


class _Application(FastAPI):
    """Logs and counts every answer, those to errors of ours too, which come from outside of all other layers."""

    def build_middleware_stack(self) -> ASGIApp:
        """Put the layers together."""
        return RequestLog(super().build_middleware_stack(), self.state.context.metrics)

    def openapi(self) -> dict[str, Any]:
        """Describe the API."""
        if self.openapi_schema is None:
            self.openapi_schema = complete(super().openapi())
        return self.openapi_schema


def create_app(context: Context) -> FastAPI:
    """Make the application over what a server works with."""
    app = _Application(
        title="Scorewright",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=operation_id,
        lifespan=_lifespan,
    )
    app.state.context = context
    add_handlers(app)
    # The last one added is the first one passed.
    app.add_middleware(Gate, context=context)
    app.add_middleware(BodyLimit, settings=context.settings)
    app.add_middleware(HostAndOrigin, settings=context.settings)
    checked = [Depends(allow)]
    for router in PROJECT_ROUTERS:
        prefix = "/api/v1/projects/{project}"
        app.include_router(router, prefix=prefix, dependencies=checked)
    for router in ROOT_ROUTERS:
        app.include_router(router, dependencies=checked)
    for router in PUBLIC_ROUTERS:
        app.include_router(router)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncGenerator[None]:
    context: Context = app.state.context
    await run_in_threadpool(remove_abandoned, context.database)
    await run_in_threadpool(finish_purges, context.database)
    await run_in_threadpool(context.runners.start)
    await run_in_threadpool(context.source_reader.start)
    upkeep = asyncio.create_task(look_after(context))
    try:
        yield
    finally:
        upkeep.cancel()
        with suppress(asyncio.CancelledError):
            await upkeep
        await run_in_threadpool(store_last_used, context)
        await run_in_threadpool(context.runners.close)
        await run_in_threadpool(context.source_reader.close)
