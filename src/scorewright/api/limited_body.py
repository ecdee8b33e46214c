"""Routes whose bodies are bounded: the rest of a body that is too large is not read."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

from scorewright.api.context import Context, context_of

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def limited_route(
    limit_bytes: Callable[[Context], int], base: type[APIRoute] = APIRoute
) -> type[APIRoute]:
    """Return the class of routes that refuse bodies above a limit.

    Args:
        limit_bytes: Says the limit, by what the server works with.
        base: What else these routes do, inside of the limit.
    """

    class LimitedRoute(base):
        def get_route_handler(self) -> _Handler:
            handle = super().get_route_handler()

            async def handle_limited(request: Request) -> Response:
                most = limit_bytes(context_of(request))
                said = request.headers.get("content-length", "")
                if said.isdecimal() and len(said) < 20 and int(said) > most:
                    raise _too_large(most)
                return await handle(Request(request.scope, _counted(request.receive, most)))

            return handle_limited

    return LimitedRoute


def _counted(receive: Receive, most: int) -> Receive:
    size = 0

    async def receive_counted() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise _too_large(most)
        return message

    return receive_counted


def _too_large(most: int) -> HTTPException:
    # Errors of other classes would be taken for a body that cannot be parsed.
    return HTTPException(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the body is larger than {most:,} bytes; send less at a time",
    )
