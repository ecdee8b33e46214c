"""A server on the loopback that speaks OpenAI's protocol, and does all that real ones do to their callers.

What it answers is decided by each test: a function from the request's number and body to a `Said`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias, cast

import msgspec

KEY = "sk-secret-of-the-tests"
MODEL = "stub/gpt-4o-mini"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """One answer."""

    text: str = ""
    status: int = 200
    #: In place of a reply: what an error says, or bytes that are none of the protocol's.
    error: dict[str, Any] | None = None
    raw: bytes | None = None
    headers: dict[str, str] = {}
    finish: str = "stop"
    tokens_in: int = 100
    tokens_out: int = 20
    #: Whether it tells tokens.
    tells_usage: bool = True
    #: Hangs up in the middle of it.
    hangs_up: bool = False
    #: Held back until this is set.
    until: Any = None
    delay_s: float = 0.0


Answering: TypeAlias = Callable[[int, dict[str, Any]], Said]


def verdict(score: float = 0.8, explanation: str = "fine", **more: Any) -> Said:
    """Answer as a judge should."""
    text = json.dumps({"explanation": explanation, "score": score})
    return Said(text=text, **more)


def failing(status: int, message: str = "no", code: str | None = None, **headers: str) -> Said:
    """Answer with an error."""
    error = {"message": message, "type": "error", "code": code}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Said(status=status, error=error, headers=named)


class ModelStub:
    """Answers until it is closed; what it was asked is kept."""

    def __init__(self, answer: Answering | None = None) -> None:
        self.answer: Answering = answer or (lambda _number, _body: verdict())
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self.most_at_a_time = 0
        self._at_a_time = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def environment(self) -> dict[str, str]:
        """What a command is told of it."""
        return {"SCOREWRIGHT_CONNECTION_STUB_URL": self.url, "SCOREWRIGHT_CONNECTION_STUB_KEY": KEY}

    @property
    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [request["messages"][-1]["content"] for request in self.requests]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, body: dict[str, Any], authorization: str | None) -> Said:
        with self._lock:
            self.requests.append(body)
            self.authorizations.append(authorization)
            number = len(self.requests)
            self._at_a_time += 1
            self.most_at_a_time = max(self.most_at_a_time, self._at_a_time)
        said = self.answer(number, body)
        if said.until is not None:
            said.until.wait(30)
        if said.delay_s:
            threading.Event().wait(said.delay_s)
        with self._lock:
            self._at_a_time -= 1
        return said

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = cast("dict[str, Any]", json.loads(self.rfile.read(length)))
                said = stub._answer(body, self.headers.get("Authorization"))
                payload = said.raw if said.raw is not None else _payload(said, body["model"])
                self.send_response(said.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(payload)))
                for name, value in said.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if said.hangs_up:
                    self.wfile.write(payload[: len(payload) // 2])
                    self.close_connection = True
                    return
                self.wfile.write(payload)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
                """Say nothing."""

        return Handler


def _payload(said: Said, model: str) -> bytes:
    if said.error is not None:
        return json.dumps({"error": said.error}).encode()
    message = {"role": "assistant", "content": said.text}
    document: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": f"{model}-2024-07-18",
        "choices": [{"index": 0, "message": message, "finish_reason": said.finish}],
    }
    if said.tells_usage:
        document["usage"] = {
            "prompt_tokens": said.tokens_in,
            "completion_tokens": said.tokens_out,
            "total_tokens": said.tokens_in + said.tokens_out,
        }
    return json.dumps(document).encode()
