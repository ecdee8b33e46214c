"""What is true of every answer, whatever made it: it has a request id and safe headers, is logged and counted."""

from __future__ import annotations

import re
import time
from http import HTTPStatus
from typing import Final

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scorewright.services.server_metrics import ServerMetrics
from scorewright.storage.tables.metadata import new_id

_GOOD_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET: Final = ("/healthz", "/readyz", "/metrics")
#: Where a route itself sends one of these, its own counts.
_HEADERS: Final = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_PROJECTS: Final = "/api/v1/projects/"
_log = structlog.get_logger(__name__)


class RequestLog:
    """The outermost layer: sees answers to errors as well. Never logs a body, a query or a header's value."""

    def __init__(self, app: ASGIApp, metrics: ServerMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _GOOD_ID.fullmatch(given) else new_id()
        began_s = time.perf_counter()
        status = int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_headers)
            finally:
                self._record(scope, status, time.perf_counter() - began_s)

    def _record(self, scope: Scope, status: int, duration_s: float) -> None:
        route = route_of(scope)
        self._metrics.add_request(scope["method"], route, status, duration_s)
        if scope["path"] not in _QUIET:
            _log.info(
                "request",
                method=scope["method"],
                route=route,
                path=scope["path"][:500],
                status=status,
                duration_ms=round(duration_s * 1000, 1),
                actor=_actor(scope),
            )


def route_of(scope: Scope) -> str:
    """Return the pattern of a request's path: there are few of them, whatever is asked for."""
    path = getattr(scope.get("route"), "path", None)
    if path is None:
        return "unmatched"
    # A router knows its own part of the path alone.
    is_part = scope["path"].startswith(_PROJECTS) and not path.startswith("/api/")
    return f"{_PROJECTS}{{project}}{path}" if is_part else str(path)


def _actor(scope: Scope) -> str | None:
    caller = scope.get("state", {}).get("caller")
    return None if caller is None else str(caller.actor.id)
