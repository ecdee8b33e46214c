"""POST requests that may be sent again: with an Idempotency-Key they are done once. Source: IETF draft httpapi-idempotency-key-header.

A router opts in with `APIRouter(route_class=OnceRoute)`. Not for answers that hold a secret: they are kept for a day.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final

import structlog
from fastapi import Depends, Header, Request, Response
from fastapi.routing import APIRoute
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.types import Message

from scorewright.api.access import allow
from scorewright.api.context import context_of, project_of
from scorewright.domain.errors import UsageError
from scorewright.services import once
from scorewright.services.access import Caller
from scorewright.services.audit import under_claim
from scorewright.services.once import Claim
from scorewright.storage.database import Database

_KEPT_HEADERS: Final = ("content-type", "etag", "location")
_MAX_KEY_CHARS: Final = 200
_BOUNDARY: Final = re.compile(r'boundary="?([^";,]{1,200})"?')
_Handler = Callable[[Request], Coroutine[Any, Any, Response]]
_log = structlog.get_logger(__name__)


def _described(
    _key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            max_length=_MAX_KEY_CHARS,
            description="of your making, new for each request; the same again is answered as before, for 24 hours",
        ),
    ] = None,
) -> None:
    """Let the description of the API have the header."""


class OnceRoute(APIRoute):
    """A route whose POST is done once for each Idempotency-Key."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        if "POST" in (options.get("methods") or ()):
            options["dependencies"] = [*(options.get("dependencies") or ()), Depends(_described)]
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> _Handler:
        """Return what answers a request."""
        handler = super().get_route_handler()

        async def answer(request: Request) -> Response:
            key = request.headers.get("idempotency-key")
            if key is None or request.method != "POST":
                return await handler(request)
            return await _answer_once(request, key, handler)

        return answer


async def _answer_once(request: Request, key: str, handler: _Handler) -> Response:
    if not 0 < len(key) <= _MAX_KEY_CHARS:
        raise UsageError(f"Idempotency-Key: give 1 to {_MAX_KEY_CHARS} characters").at(
            "Idempotency-Key"
        )
    database = context_of(request).database
    claimed = await run_in_threadpool(_claim, request, key)
    body = _ReadBody(request)
    if claimed.status is not None:
        await body.finish()
        once.check_same(claimed, body.sha256())
        return Response(claimed.body, claimed.status, claimed.headers)
    try:
        with under_claim(claimed.id):
            response = await handler(Request(request.scope, body.receive))
        is_done = response.status_code < 400
    except BaseException:
        await run_in_threadpool(once.give_up, database, claimed)
        raise
    if not is_done:
        await run_in_threadpool(once.give_up, database, claimed)
        return response
    await body.finish()
    await run_in_threadpool(_keep, database, claimed, response, body.sha256())
    return response


def _claim(request: Request, key: str) -> Claim:
    # Before the key is looked up: an answer is kept for those who may ask for it.
    caller: Caller = allow(request)
    context = context_of(request)
    project_id = project_of(request.path_params["project"], context)
    url = request.url
    operation = f"{request.method} {url.path}?{url.query} {caller.actor.id}"
    return once.claim(context.database, project_id, key, operation)


def _keep(database: Database, claimed: Claim, response: Response, body_sha256: str) -> None:
    """Keep an answer; what was done is done, so a failure of this one must not look like one of that."""
    content = getattr(response, "body", None)  # what is streamed has none
    try:
        once.finish(
            database,
            claimed,
            body_sha256=body_sha256,
            status=response.status_code,
            headers={
                name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers
            },
            body=content if isinstance(content, bytes) else None,
        )
    except SQLAlchemyError as error:
        _log.warning("answer is not kept", key_id=claimed.id, error=type(error).__name__)


class _ReadBody:
    """Hashes a body while it is read. Of a form without its boundary, which clients make anew each time."""

    def __init__(self, request: Request) -> None:
        self._receive = request.receive
        self._hash = hashlib.sha256()
        found = _BOUNDARY.search(request.headers.get("content-type", ""))
        self._boundary = b"" if found is None else found[1].encode("latin-1")
        self._left = b""
        self._is_whole = False

    async def receive(self) -> Message:
        """Receive a part, as the request itself would."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._add(message.get("body", b""))
            self._is_whole = not message.get("more_body", False)
        else:  # the caller has gone
            self._is_whole = True
        return message

    async def finish(self) -> None:
        """Read what nobody has read."""
        while not self._is_whole:
            await self.receive()

    def sha256(self) -> str:
        """Return the hash of what was read."""
        whole = self._hash.copy()
        whole.update(self._left)
        return whole.hexdigest()

    def _add(self, part: bytes) -> None:
        if not self._boundary:
            self._hash.update(part)
            return
        read = (self._left + part).replace(self._boundary, b"")
        # The end may be the start of a boundary.
        kept = min(len(read), len(self._boundary) - 1)
        self._hash.update(read[: len(read) - kept])
        self._left = read[len(read) - kept :]
