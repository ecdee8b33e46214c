"""Who asks, and whether they may: found out before a byte of the body is read, checked again by each route's scope."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Final, TypeVar, cast

import structlog
from fastapi import Depends, HTTPException, Request, Security
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from scorewright.api.context import Context
from scorewright.api.problem import database_problem, problem
from scorewright.domain.errors import NotFoundError
from scorewright.domain.suggestion import quote
from scorewright.services import access
from scorewright.services.access import ANYONE, Caller
from scorewright.services.audit import act_as
from scorewright.storage.database import UNAVAILABLE
from scorewright.storage.repositories.projects import project_id

Endpoint = TypeVar("Endpoint", bound=Callable[..., object])

COOKIE: Final = "scorewright_session"
#: What anybody may ask for: whether the server lives, how it is asked, and to log in.
PUBLIC: Final = frozenset({"/healthz", "/readyz", "/login", "/api/v1/session", "/openapi.json"})
_SCOPE: Final = "__scorewright_scope__"
_SAFE: Final = ("GET", "HEAD", "OPTIONS")
_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="Scorewright"'}
_bearer: Final = HTTPBearer(auto_error=False, description="an API key")
_cookie: Final = APIKeyCookie(name=COOKIE, auto_error=False, description="a session of the console")


class Gate:
    """Lets nobody through who does not say who they are, except to what is public."""

    def __init__(self, app: ASGIApp, context: Context) -> None:
        self._app = app
        self._context = context

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "websocket":  # there are none, and none would be asked who it is
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if (
            scope["path"] in PUBLIC
        ):  # whoever asks; a server without its database still tells that it lives
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        try:
            caller = await self._identify(connection)
        except UNAVAILABLE as error:
            await database_problem(error)(scope, receive, send)
            return
        if caller is None:
            await self._refuse(connection)(scope, receive, send)
            return
        connection.state.caller = caller
        with act_as(caller.actor), structlog.contextvars.bound_contextvars(actor=caller.actor.id):
            await self._app(scope, receive, send)

    async def _identify(self, connection: HTTPConnection) -> Caller | None:
        if self._context.settings.no_auth:
            return ANYONE
        database = self._context.database
        kind, _, secret = connection.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            caller = await run_in_threadpool(access.authenticate, database, secret.strip())
        elif COOKIE in connection.cookies:
            cookie = connection.cookies[COOKIE]
            caller = await run_in_threadpool(access.authenticate_session, database, cookie)
        else:
            return None
        if caller is None:
            self._context.failures.add(address_of(connection))
        else:
            self._context.last_used.use(caller.actor.id)
        return caller

    def _refuse(self, connection: HTTPConnection) -> ASGIApp:
        wait_s = self._context.failures.wait_s(address_of(connection))
        # A right key works all the same: others behind the same address must not be shut out by a wrong one.
        if wait_s and ("authorization" in connection.headers or COOKIE in connection.cookies):
            return too_many(wait_s)
        return problem(
            HTTPStatus.UNAUTHORIZED,
            "say who you are: send an API key as Authorization: Bearer KEY, or log in",
            headers=_CHALLENGE,
        )


def too_many(wait_s: int) -> ASGIApp:
    """Make the answer to an address that failed too often."""
    return problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        f"too many wrong keys from this address; try again in {wait_s} s",
        headers={"Retry-After": str(wait_s)},
    )


def address_of(connection: HTTPConnection) -> str:
    """Return where a request comes from."""
    return "unknown" if connection.client is None else connection.client.host


def needs(scope: access.Scope) -> Callable[[Endpoint], Endpoint]:
    """Declare the scope that a route needs, where it is not `read` for what only reads and `write` for the rest.

    Stands below the router's decorator.
    """

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _SCOPE, scope)
        return endpoint

    return declare


def scope_of(endpoint: object, method: str) -> access.Scope:
    """Return the scope that a route needs: what `needs` declares, or else by its method."""
    default: access.Scope = "read" if method in _SAFE else "write"
    return getattr(endpoint, _SCOPE, default)


def check_scope(request: Request) -> Caller:
    """Return who asks, who may do what the route of this request does.

    Raises:
        HTTPException: 401 for nobody, 403 for one who may not.
        NotFoundError: The caller's: the project is none of theirs.
    """
    caller = cast("Caller | None", getattr(request.state, "caller", None))
    if caller is None:
        raise HTTPException(HTTPStatus.UNAUTHORIZED, "say who you are", _CHALLENGE)
    needed = scope_of(request.scope.get("endpoint"), request.method)
    if not caller.may(needed):
        raise HTTPException(
            HTTPStatus.FORBIDDEN,
            f"this needs a key with the scope {needed}; yours has {', '.join(sorted(caller.scopes))}",
        )
    return caller


def allow(
    request: Request,
    _bearer: Annotated[object, Security(_bearer)] = None,
    _session: Annotated[object, Security(_cookie)] = None,
) -> Caller:
    """Check a route's scope, and that the project in its path is the caller's: the dependency of every router."""
    caller = check_scope(request)
    named = request.path_params.get("project")
    if named is not None and caller.project_id is not None:
        database = cast("Context", request.app.state.context).database
        if project_id(database, named) != caller.project_id:
            raise NotFoundError(f"there is no project {quote(named)}")
    return caller


InCaller = Annotated[Caller, Depends(allow)]
