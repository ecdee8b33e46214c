"""Logging in with a key: a browser gets a session for it, in a cookie that no script reads and no other site sends."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field

from scorewright.api.access import COOKIE, address_of
from scorewright.api.context import Context, InContext
from scorewright.api.document import headers, problems
from scorewright.services import access

router = APIRouter(tags=["session"])
_MAX_CHARS = 200


class Login(BaseModel):
    """Who logs in."""

    model_config = ConfigDict(extra="forbid")

    token: Annotated[str, Field(min_length=1, max_length=_MAX_CHARS, description="an API key")]


@router.get(
    "/login",
    status_code=HTTPStatus.SEE_OTHER,
    response_class=RedirectResponse,
    responses={**problems(401, 403, 429), 303: headers("Location", "Set-Cookie")},
)
def log_in_by_link(
    request: Request,
    context: InContext,
    token: Annotated[str, Query(min_length=1, max_length=_MAX_CHARS)],
) -> RedirectResponse:
    """Log a browser in with the link that the server printed, and go to the console."""
    if request.headers.get("sec-fetch-site", "none") == "cross-site":
        # Another site could log its visitor in as somebody else.
        raise HTTPException(
            HTTPStatus.FORBIDDEN, "a page of another site led here; paste the link as an address"
        )
    answer = RedirectResponse("/", HTTPStatus.SEE_OTHER)
    _log_in(request, context, token, answer)
    return answer


@router.post(
    "/api/v1/session",
    status_code=HTTPStatus.NO_CONTENT,
    responses={**problems(401, 429), 204: headers("Set-Cookie")},
)
def log_in(body: Login, request: Request, context: InContext, response: Response) -> None:
    """Log in with a key: sets the cookie of a session."""
    _log_in(request, context, body.token, response)


@router.delete(
    "/api/v1/session", status_code=HTTPStatus.NO_CONTENT, responses={204: headers("Set-Cookie")}
)
def log_out(request: Request, context: InContext, response: Response) -> None:
    """End the session of the cookie."""
    secret = request.cookies.get(COOKIE)
    if secret is not None:
        access.end_session(context.database, secret)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")


def _log_in(request: Request, context: Context, token: str, response: Response) -> None:
    address = address_of(request)
    wait_s = context.failures.wait_s(address)
    if wait_s:
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS,
            f"too many wrong keys from this address; try again in {wait_s} s",
            {"Retry-After": str(wait_s)},
        )
    caller = access.authenticate(context.database, token)
    if caller is None:
        context.failures.add(address)
        raise HTTPException(HTTPStatus.UNAUTHORIZED, "there is no such key, or it has ended")
    response.set_cookie(
        COOKIE,
        access.start_session(context.database, caller),
        max_age=access.SESSION_S,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
