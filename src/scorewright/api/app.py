"""The application that the server serves."""

from __future__ import annotations

from typing import Any, Final

from fastapi import APIRouter, FastAPI

from scorewright._version import __version__
from scorewright.api.context import Context
from scorewright.api.problem import Problem, add_handlers
from scorewright.api.routes import results, runs, tasks

#: Routes under /api/v1/projects/{project}, one module per noun.
PROJECT_ROUTERS: Final[tuple[APIRouter, ...]] = (
    results.router,
    runs.router,
    tasks.router,
)
_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Problem, "description": text}
    for status, text in {
        404: "there is no such thing",
        409: "it does not go with what is there",
        412: "it was changed meanwhile",
        413: "the body is too large",
        422: "something in the request is wrong",
    }.items()
}


def create_app(context: Context) -> FastAPI:
    """Make the application over what a server works with."""
    app = FastAPI(title="Scorewright", version=__version__, docs_url=None, redoc_url=None)
    app.state.context = context
    add_handlers(app)
    for router in PROJECT_ROUTERS:
        app.include_router(router, prefix="/api/v1/projects/{project}", responses=_PROBLEMS)
    return app
