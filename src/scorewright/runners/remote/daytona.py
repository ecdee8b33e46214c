"""Daytona's REST API, as far as evaluators need it: five calls, without the vendor's SDK and its hundred packages.

`tests/contract/test_daytona_client.py` holds it against that SDK.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx
import msgspec

from scorewright.domain.errors import SandboxUnavailableError, UsageError
from scorewright.runners.remote.provider import CodeRun, ProviderError, Sandbox

_API_URL: Final = "https://app.daytona.io/api"
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})
#: Seconds of waiting for any answer but that of running code.
_TIMEOUT_S: Final = 60.0
#: Seconds by which our patience outlasts the provider's, so that it is the one to say what went wrong.
_MARGIN_S: Final = 20.0
_MAX_ANSWER_BYTES: Final = 1 << 20
#: The loop's largest answer in base64, and what else was printed.
_MAX_OUTPUT_BYTES: Final = 16 << 20
_MAX_SHOWN: Final = 300
_PASSING: Final = frozenset({408, 409, 425, 429})
_ADVICE: Final = {
    401: "check DAYTONA_API_KEY",
    402: "check the account's credit and limits at the provider",
    403: "check the rights of DAYTONA_API_KEY, and the account's limits at the provider",
}
_NEVER_READY: Final = frozenset(
    "error build_failed destroyed destroying stopped stopping archived archiving paused".split()
)


@dataclass(frozen=True, slots=True)
class DaytonaSettings:
    """Where the account is, and what its sandboxes are made of."""

    #: Shown nowhere.
    api_key: str = field(repr=False)
    api_url: str = _API_URL
    #: Region; the account's own when None.
    target: str | None = None
    #: Name of the snapshot; the account's own when None.
    snapshot: str | None = None


def read_settings(environ: Mapping[str, str]) -> DaytonaSettings:
    """Read the settings from the variables that the vendor's own tools read.

    Raises:
        SandboxUnavailableError: The caller's account is not known: there is no key.
        UsageError: The caller's: an address that the key must not be sent to.
    """
    key = environ.get("DAYTONA_API_KEY", "").strip()
    if not key:
        raise SandboxUnavailableError(
            "runner remote: DAYTONA_API_KEY is not set; set it to a key of your Daytona account. Nothing was run"
        )
    url = (environ.get("DAYTONA_API_URL") or _API_URL).rstrip("/")
    if not _is_safe(url):
        raise UsageError(
            f"DAYTONA_API_URL={url}: the key would travel in the open; use an https:// address"
        )
    return DaytonaSettings(
        api_key=key,
        api_url=url,
        target=environ.get("DAYTONA_TARGET") or None,
        snapshot=environ.get("DAYTONA_SNAPSHOT_CODE") or environ.get("DAYTONA_SNAPSHOT") or None,
    )


class _SandboxDocument(msgspec.Struct, rename="camel"):
    """What is read of the API's sandbox object."""

    id: str
    toolbox_proxy_url: str
    network_block_all: bool
    state: str | None = None
    error_reason: str | None = None


class _RunDocument(msgspec.Struct, rename="camel"):
    exit_code: int = -1
    result: str = ""


class _RefusalDocument(msgspec.Struct):
    message: str


class Daytona:
    """An account at Daytona.

    Args:
        settings: Which one.
    """

    name = "daytona"

    def __init__(self, settings: DaytonaSettings) -> None:
        self._settings = settings
        self._client = httpx.Client(
            headers={
                "Authorization": f"Bearer {settings.api_key}",
                "Accept-Encoding": "identity",  # so that the bytes that come are the bytes there are
            },
            timeout=_TIMEOUT_S,
        )

    def create(self, labels: Mapping[str, str], *, idle_s: float) -> Sandbox:
        """As in `Provider`."""
        name = f"scorewright-{secrets.token_hex(8)}"
        wanted = {
            "name": name,
            "snapshot": self._settings.snapshot,
            "target": self._settings.target,
            "labels": {"code-toolbox-language": "python", **labels},
            "networkBlockAll": True,
            "autoStopInterval": math.ceil(idle_s / 60),
            # As soon as it stops: whatever becomes of us, nothing is left.
            "autoDeleteInterval": 0,
        }
        body = msgspec.json.encode(
            {key: value for key, value in wanted.items() if value is not None}
        )
        try:
            document = self._sandbox("POST", "/sandbox", body)
        except ProviderError as error:
            if error.is_passing:  # it may have been made all the same
                with contextlib.suppress(ProviderError):
                    self._delete(name)
            raise
        return self._checked(document)

    def look(self, sandbox: Sandbox) -> Sandbox:
        """As in `Provider`."""
        path = f"/sandbox/{quote(sandbox.sandbox_id, safe='')}"
        return self._checked(self._sandbox("GET", path, None))

    def upload(self, sandbox: Sandbox, files: Mapping[str, bytes]) -> None:
        """As in `Provider`."""
        paths = {f"files[{at}].path": name for at, name in enumerate(files)}
        parts = {f"files[{at}].file": (name, files[name]) for at, name in enumerate(files)}
        request = self._client.build_request(
            "POST", f"{sandbox.address}/files/bulk-upload", data=paths, files=parts
        )
        self._answer(request, _MAX_ANSWER_BYTES, of_sandbox=True)

    def run_code(self, sandbox: Sandbox, code: str, *, timeout_s: float) -> CodeRun:
        """As in `Provider`."""
        seconds = math.ceil(timeout_s)
        request = self._client.build_request(
            "POST",
            f"{sandbox.address}/process/code-run",
            content=msgspec.json.encode({"code": code, "language": "python", "timeout": seconds}),
            headers={"Content-Type": "application/json"},
            timeout=httpx.Timeout(_TIMEOUT_S, read=seconds + _MARGIN_S),
        )
        body = self._answer(request, _MAX_OUTPUT_BYTES, of_sandbox=True)
        document = _decoded(body, _RunDocument)
        return CodeRun(document.exit_code, document.result)

    def destroy(self, sandbox: Sandbox) -> None:
        """As in `Provider`."""
        self._delete(sandbox.sandbox_id)

    def close(self) -> None:
        """As in `Provider`."""
        self._client.close()

    def _delete(self, name: str) -> None:
        url = f"{self._settings.api_url}/sandbox/{quote(name, safe='')}"
        with contextlib.suppress(_GoneError):
            self._answer(self._client.build_request("DELETE", url), _MAX_ANSWER_BYTES)

    def _sandbox(self, method: str, path: str, content: bytes | None) -> _SandboxDocument:
        request = self._client.build_request(
            method,
            f"{self._settings.api_url}{path}",
            content=content,
            headers={"Content-Type": "application/json"},
        )
        return _decoded(self._answer(request, _MAX_ANSWER_BYTES), _SandboxDocument)

    def _checked(self, document: _SandboxDocument) -> Sandbox:
        """Return the sandbox, with what keeps it from being what was asked for."""
        flaw, is_passing = "", False
        if not document.network_block_all:
            flaw = "its network is not blocked; check the account's rights at the provider"
        elif not _is_safe(document.toolbox_proxy_url):
            flaw = "it is to be reached without encryption"
        elif document.state in _NEVER_READY:
            reason = document.error_reason or "no reason was given"
            flaw, is_passing = self._shown(f"it is in state {document.state}: {reason}"), True
        return Sandbox(
            document.id,
            f"{document.toolbox_proxy_url.rstrip('/')}/{quote(document.id, safe='')}",
            document.state == "started",
            flaw,
            is_passing,
        )

    def _answer(self, request: httpx.Request, max_bytes: int, *, of_sandbox: bool = False) -> bytes:
        """Send a request and return the body of a good answer.

        Args:
            request: What to send.
            max_bytes: An answer that is larger is refused before it is in memory.
            of_sandbox: Whether it goes to a sandbox, of which there could be another one.
        """
        try:
            # Each read has a limit of its own: an answer that comes byte by byte would never meet it.
            deadline_s = time.monotonic() + _TIMEOUT_S + request.extensions["timeout"]["read"]
            response = self._client.send(request, stream=True)
            with contextlib.closing(response):
                body = bytearray()
                for part in response.iter_raw():
                    body += part
                    if time.monotonic() > deadline_s:
                        raise ProviderError("the answer came too slowly", is_passing=True)
                    if len(body) > max_bytes:
                        raise ProviderError(
                            f"an answer of more than {max_bytes:,} bytes came", is_passing=True
                        )
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            what = self._shown(f"{type(error).__name__}: {error}".rstrip(": "))
            raise ProviderError(f"no answer: {what}", is_passing=True) from None
        if not response.is_success:
            raise self._refusal(response, bytes(body), of_sandbox=of_sandbox)
        return bytes(body)

    def _refusal(self, response: httpx.Response, body: bytes, *, of_sandbox: bool) -> ProviderError:
        status = response.status_code
        said = self._shown(_message(body))
        advice = _ADVICE.get(status, "")
        text = "; ".join(filter(None, (f"HTTP {status}", said, advice)))
        if status == 404 and not of_sandbox:
            return _GoneError(text, is_passing=response.request.method != "POST")
        is_passing = status >= 500 or status in _PASSING or (of_sandbox and not advice)
        return ProviderError(text, is_passing=is_passing, retry_after_s=_retry_after_s(response))

    def _shown(self, text: str) -> str:
        shown = text.replace(self._settings.api_key, "…")
        return "".join(c if c.isprintable() else " " for c in shown)[:_MAX_SHOWN]


class _GoneError(ProviderError):
    """There is no such sandbox."""


def _decoded(body: bytes, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        text = f"an answer of another form came: {str(error)[:_MAX_SHOWN]}"
        raise ProviderError(text, is_passing=True) from None


def _message(body: bytes) -> str:
    """Return what a refusal says to people; all of it where it is in another form."""
    try:
        return msgspec.json.decode(body, type=_RefusalDocument).message
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace").strip()


def _retry_after_s(response: httpx.Response) -> float | None:
    """Read the header's seconds; the date it may hold instead is not worth a clock that could differ."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _is_safe(url: str) -> bool:
    """Whether a key may be sent there."""
    try:
        parts = urlsplit(url)
        return (parts.scheme == "https" and bool(parts.hostname)) or (
            parts.scheme == "http" and parts.hostname in _LOOPBACK
        )
    except ValueError:
        return False
