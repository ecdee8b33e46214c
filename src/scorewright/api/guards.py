"""What a browser could be misled to ask is refused: by another host name, or by another site's page."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from scorewright.api.problem import problem
from scorewright.services.settings import Settings

_SAFE: Final = ("GET", "HEAD", "OPTIONS")
#: Asked by load balancers, by whatever name; they tell nothing worth stealing.
_PROBED: Final = ("/healthz", "/readyz")
_OWN_SITES: Final = ("same-origin", "none")


class HostAndOrigin:
    """Serves requests for names of ours, and changes only for pages of ours."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"] in _PROBED:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_ours(headers.get("host", "")):
            refusal = problem(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this server is not asked by this name; its operator may add it to SCOREWRIGHT_ALLOWED_HOSTS",
            )
        elif scope["method"] not in _SAFE and not self._is_own_page(headers):
            refusal = problem(
                HTTPStatus.FORBIDDEN,
                "a page of another origin may not change anything; its operator may add the origin "
                "to SCOREWRIGHT_ALLOWED_ORIGINS",
            )
        else:
            await self._app(scope, receive, send)
            return
        await refusal(scope, receive, send)

    def _is_ours(self, host: str) -> bool:
        name = host.lower()
        before, colon, port = name.rpartition(":")
        if colon and port.isdecimal():
            name = before
        return name.rstrip(".") in self._settings.allowed_hosts

    def _is_own_page(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is None:  # no browser, or one that says it in other words
            return headers.get("sec-fetch-site", "none") in _OWN_SITES
        origin = origin.lower()
        _, separator, place = origin.partition("://")
        # The scheme is left out: behind a proxy the page came by https, and we are asked by http.
        is_same = bool(separator) and place == headers.get("host", "").lower()
        return is_same or origin in self._settings.allowed_origins
