"""No body is larger than it may be: told by its length before it is read, or else while it is.

The only place where bodies are bounded as they are sent, so that no route is without a limit. What a body grows to when it is
unpacked is bounded where that is done: `services.dataset_upload`, `routes.otlp`.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from scorewright.api.problem import problem
from scorewright.services.settings import Settings

#: Of a form, beside its file.
OTHER_PARTS_BYTES: Final = 64 << 10
_UPLOADS: Final = re.compile(r"/api/v1/projects/[^/]+/datasets(/.*)?")


class BodyLimit:
    """Refuses bodies that are too large."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._limit(scope["path"], headers)
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdecimal()) or int(length[:20]) > limit:
            await problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _text(limit))(scope, receive, send)
            return
        left = limit

        async def receive_some() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, _text(limit))
            return message

        await self._app(scope, receive_some, send)

    def _limit(self, path: str, headers: Headers) -> int:
        if path.startswith("/v1/"):
            return self._settings.max_ingest_bytes
        is_form = headers.get("content-type", "").lower().startswith("multipart/form-data")
        if is_form and _UPLOADS.fullmatch(path):
            return self._settings.max_upload_bytes + OTHER_PARTS_BYTES
        return self._settings.max_body_bytes


def _text(limit: int) -> str:
    return f"the body is larger than {limit} bytes; send less at once"
