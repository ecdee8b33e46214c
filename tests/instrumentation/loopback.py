"""Two servers on the loopback: a model that answers by a script, and what takes traces in."""

from __future__ import annotations

import gzip
import json
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Self

#: What the model calls each tool with, if the tool is offered to it.
ARGUMENTS: Final = {
    "order_status": {"order_id": "A-17"},
    "search_handbook": {"query": "returns"},
}
ANSWER: Final = "Order A-17 was shipped 2 days ago; you may return it within 30 days."
#: Tokens of the call that asks for tools, and of the one that answers: input, output, cached.
FIRST: Final = (40, 8, 16)
SECOND: Final = (60, 12, 32)


@dataclass(frozen=True, slots=True)
class Request:
    """What was posted; the body is unpacked."""

    path: str
    body: bytes
    content_type: str


class Loopback:
    """A server on a free port, in a thread of its own, until it is left; it offers nothing by itself."""

    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        #: What was asked for and is not offered; a test wants none.
        self.refused: list[str] = []

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, _request: Request, /) -> tuple[str, bytes] | None:
        """Return content type and body of an answer; None when there is nothing at this path."""
        return None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(owner: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            content_type = self.headers.get("Content-Type") or ""
            answered = owner.answer(Request(self.path, body, content_type))
            if answered is None:
                owner.refused.append(f"POST {self.path}")
            content_type, content = answered or ("application/json", b"{}")
            self.send_response(404 if answered is None else 200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def do_GET(self) -> None:
            owner.refused.append(f"GET {self.path}")
            self.send_error(404)

        def do_CONNECT(self) -> None:
            owner.refused.append(f"CONNECT {self.path}")
            self.send_error(403)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass  # what went wrong shows in what is missing

    return Handler


class TraceReceiver(Loopback):
    """Takes OTLP over HTTP, and keeps each request as a file.

    Args:
        folder: Where the files are written.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self._lock = threading.Lock()
        self._taken = 0

    def answer(self, request: Request, /) -> tuple[str, bytes] | None:
        """Keep a request for `/v1/traces`."""
        if request.path != "/v1/traces":
            return None
        ending = "json" if request.content_type.startswith("application/json") else "pb"
        with self._lock:
            self._taken += 1
            file = self.folder / f"{self._taken:03}.{ending}"
        file.write_bytes(request.body)
        return request.content_type, b"{}" if ending == "json" else b""


class ModelServer(Loopback):
    """OpenAI's API, as much of it as is called: first every tool it is offered and knows, then the answer."""

    def answer(self, request: Request, /) -> tuple[str, bytes] | None:
        """Answer a chat completion or a response."""
        if request.path == "/v1/chat/completions":
            answered = _chat_completion(json.loads(request.body))
        elif request.path == "/v1/responses":
            answered = _response(json.loads(request.body))
        else:
            return None
        return "application/json", json.dumps(answered).encode()


def _calls(asked: dict[str, Any], names: list[str]) -> list[tuple[str, str, str]]:
    """List id, name and arguments of the tools to call: none when their results are there already."""
    said = asked.get("messages") or asked.get("input")
    answered = json.dumps(said if isinstance(said, list) else [])
    if '"tool_call_id"' in answered or '"function_call_output"' in answered:
        return []
    return [
        (f"call_{name}", name, json.dumps(ARGUMENTS[name])) for name in names if name in ARGUMENTS
    ]


def _chat_completion(asked: dict[str, Any]) -> dict[str, Any]:
    offered: list[dict[str, Any]] = asked.get("tools") or []
    calls = _calls(asked, [tool["function"]["name"] for tool in offered])
    message: dict[str, Any] = {"role": "assistant", "content": None if calls else ANSWER}
    if calls:
        message["tool_calls"] = [
            {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}
            for key, name, arguments in calls
        ]
    read, written, cached = FIRST if calls else SECOND
    return {
        "id": f"chatcmpl-{1 if calls else 2}",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": _dated(asked),
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 4, "audio_tokens": 0},
        },
        "service_tier": "default",
    }


def _response(asked: dict[str, Any]) -> dict[str, Any]:
    offered: list[dict[str, Any]] = asked.get("tools") or []
    calls = _calls(asked, [tool.get("name", "") for tool in offered])
    output: list[dict[str, Any]] = [
        {
            "id": f"fc_{name}",
            "type": "function_call",
            "status": "completed",
            "call_id": key,
            "name": name,
            "arguments": arguments,
        }
        for key, name, arguments in calls
    ] or [
        {
            "id": "msg_1",
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
        }
    ]
    read, written, cached = FIRST if calls else SECOND
    return {
        "id": f"resp_{1 if calls else 2}",
        "object": "response",
        "created_at": 1_760_000_000,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": asked.get("instructions"),
        "model": _dated(asked),
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": offered,
        "top_p": 1.0,
        "metadata": {},
        "usage": {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": read + written,
        },
    }


def _dated(asked: dict[str, Any]) -> str:
    """Name the model as OpenAI does: the one that a short name stands for today."""
    return f"{asked['model']}-2025-04-14"
