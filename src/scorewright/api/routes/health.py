"""Whether the server lives, whether it is ready, and its figures."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field
from starlette.responses import PlainTextResponse

from scorewright.api.context import InContext
from scorewright.services.readiness import State, readiness
from scorewright.services.server_metrics import MEDIA_TYPE

router = APIRouter(tags=["operation"])
private_router = APIRouter(tags=["operation"])


class Health(BaseModel):
    """The server lives."""

    status: str = "ok"


class Ready(BaseModel):
    """What the server needs to do its work."""

    ready: bool
    checks: Annotated[
        dict[str, State],
        Field(
            description="database, migrations, runner.NAME for each sandbox, and reader for what reads sources; the log says why"
        ),
    ]


@router.get("/healthz")
def get_health() -> Health:
    """Tell that the server lives."""
    return Health()


@router.get("/readyz", responses={503: {"model": Ready, "description": "it is not ready"}})
def get_readiness(context: InContext, response: Response) -> Ready:
    """Tell whether the server can do its work."""
    found = readiness(context.database, context.sandboxes, context.source_reader.state)
    if not found.is_ready:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return Ready(ready=found.is_ready, checks=found.checks)


@private_router.get("/", include_in_schema=False)
def get_home() -> PlainTextResponse:
    """Tell whom the login link has brought here what there is, as long as there is no console."""
    return PlainTextResponse(
        "Scorewright is running, and you are logged in. The console is not there yet: everything is had\n"
        "over HTTP, under /api/v1/projects/default, as /openapi.json describes it. Programs ask with the key\n"
        "of the login link, or one of their own: Authorization: Bearer KEY.\n"
    )


@private_router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def get_metrics(context: InContext) -> Response:
    """Write the server's figures as Prometheus reads them."""
    return Response(context.metrics.text(context.database), media_type=MEDIA_TYPE)
