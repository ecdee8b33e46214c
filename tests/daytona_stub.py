"""Daytona's API on the loopback: sandboxes are folders, code runs there as a process, and much can go wrong on demand.

The shape follows the published API; `tests/contract/test_daytona_client.py` drives it with the vendor's own SDK.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from email.message import Message
from email.parser import BytesParser
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import unquote, urlsplit

from deno import find_deno_bin

KEY = "dtn_secret_key_of_the_tests"
SNAPSHOT = "evaluators"


class Sandbox:
    """One sandbox: a folder, and the processes in it."""

    def __init__(self, sandbox_id: str, wanted: dict[str, Any]) -> None:
        self.sandbox_id = sandbox_id
        #: The body of the call that made it.
        self.wanted = wanted
        self.folder = Path(tempfile.mkdtemp(prefix="daytona-stub-"))
        self.processes: set[subprocess.Popen[bytes]] = set()
        self.looks = 0

    def run(self, code: str, timeout_s: float | None) -> bytes:
        """Run a program, and return exit code and all that it printed, as the API does."""
        with subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={"PATH": f"{_with_node(self.folder)}:{os.defpath}", "HOME": str(self.folder)},
            start_new_session=True,
        ) as process:
            self.processes.add(process)
            try:
                output, _ = process.communicate(timeout=timeout_s)
            except subprocess.TimeoutExpired:
                _kill(process)
                output, _ = process.communicate()
            self.processes.discard(process)
        printed = output.decode("utf-8", "replace")
        said: dict[str, Any] = {
            "exitCode": process.returncode,
            "result": printed,
            "artifacts": {"charts": []},
        }
        return json.dumps(said).encode()

    def remove(self) -> None:
        """End what runs in it."""
        for process in list(self.processes):
            _kill(process)
        for pid in _processes_in(self.folder):  # what the program started
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


class Answer:
    """What is sent: by the stub, or in its place.

    Args:
        status: The HTTP status.
        body: Bytes, or what makes them once somebody looks: what code printed, for whoever wants it run.
        headers: Beside the length.
        pause_s: Between one byte of the body and the next; all at once unless given.
    """

    def __init__(
        self,
        status: int,
        body: bytes | Callable[[], bytes] = b"{}",
        headers: dict[str, str] | None = None,
        pause_s: float = 0.0,
    ) -> None:
        self.status = status
        self.headers = headers or {}
        self.pause_s = pause_s
        self._body = body

    @cached_property
    def body(self) -> bytes:
        return self._body if isinstance(self._body, bytes) else self._body()


#: Given the method, the path and the true answer: another one, or the same. None hangs up.
Trouble = Callable[[str, str, Answer], "Answer | None"]


class DaytonaStub:
    """A server; a context manager that starts and stops it."""

    def __init__(self) -> None:
        self.living: dict[str, Sandbox] = {}
        #: Every sandbox there ever was, in order.
        self.made: list[Sandbox] = []
        #: Method and path's last part, per request, in order.
        self.requests: list[str] = []
        #: What goes wrong.
        self.trouble: Trouble = lambda _method, _path, answer: answer
        #: How often a new sandbox is looked at until it is started.
        self.looks_until_started = 0
        #: The state that every sandbox stays in; usually none.
        self.stuck_state = ""
        self.blocks_network = True
        #: Set once code is about to be run.
        self.running = threading.Event()
        self._lock = threading.Lock()
        stub = self

        class Handler(_Handler):
            server_stub = stub

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for sandbox in list(self.living.values()):
            sandbox.remove()

    @property
    def url(self) -> str:
        """The API's address."""
        return f"http://127.0.0.1:{self._server.server_port}/api"

    @property
    def environment(self) -> dict[str, str]:
        """What leads a client here."""
        return {"DAYTONA_API_KEY": KEY, "DAYTONA_API_URL": self.url, "DAYTONA_SNAPSHOT": SNAPSHOT}

    @property
    def counts(self) -> Counter[str]:
        """How many requests of each kind there were."""
        return Counter(self.requests)

    def answer(self, method: str, path: str, headers: Message, body: bytes) -> Answer | None:
        """Do what a request asks for."""
        with self._lock:
            self.requests.append(f"{method} {path.rstrip('/').rpartition('/')[2]}")
        if headers.get("Authorization") != f"Bearer {KEY}":
            return self.trouble(method, path, _json({"message": f"not {KEY}"}, 401))
        return self.trouble(method, path, self._done(method, path, headers, body))

    def _done(self, method: str, path: str, headers: Message, body: bytes) -> Answer:
        if (method, path) == ("POST", "/api/sandbox"):
            return self._create(json.loads(body))
        if found := re.fullmatch(r"/api/sandbox/([^/]+)", path):
            return self._of_sandbox(method, unquote(found[1]))
        if found := re.fullmatch(r"/toolbox/([^/]+)/(.+)", path):
            sandbox = self.living.get(found[1])
            if sandbox is None:
                return _json({"message": "no such sandbox"}, 404)
            if found[2] == "process/code-run":
                self.running.set()
            return _in_sandbox(sandbox, found[2], headers, body)
        return _json({}, 404)

    def _create(self, wanted: dict[str, Any]) -> Answer:
        with self._lock:
            sandbox = Sandbox(f"sb{len(self.made) + 1}", wanted)
            self.made.append(sandbox)
            self.living[sandbox.sandbox_id] = sandbox
        return _json(self._document(sandbox))

    def _of_sandbox(self, method: str, name: str) -> Answer:
        with self._lock:
            named = [
                s for s in self.living.values() if name in (s.sandbox_id, s.wanted.get("name"))
            ]
        if not named:
            return _json({"message": "no such sandbox"}, 404)
        if method == "DELETE":
            del self.living[named[0].sandbox_id]
            named[0].remove()
        else:
            named[0].looks += 1
        return _json(self._document(named[0]))

    def _document(self, sandbox: Sandbox) -> dict[str, Any]:
        is_started = sandbox.looks >= self.looks_until_started
        state = self.stuck_state or ("started" if is_started else "creating")
        wanted = sandbox.wanted
        return {
            "id": sandbox.sandbox_id,
            "name": wanted.get("name", sandbox.sandbox_id),
            "organizationId": "o",
            "snapshot": wanted.get("snapshot", "s"),
            "user": "daytona",
            "env": {},
            "labels": wanted.get("labels", {}),
            "public": False,
            "networkBlockAll": self.blocks_network and wanted.get("networkBlockAll", False),
            "target": wanted.get("target", "eu"),
            "cpu": 1,
            "gpu": 0,
            "memory": 1,
            "disk": 3,
            "state": state,
            "desiredState": "started",
            "errorReason": "out of luck" if state == "error" else None,
            "autoStopInterval": wanted.get("autoStopInterval", 15),
            "autoArchiveInterval": 0,
            "autoDeleteInterval": wanted.get("autoDeleteInterval", -1),
            "volumes": [],
            "createdAt": "2026-01-01T00:00:00Z",
            "updatedAt": "2026-01-01T00:00:00Z",
            "class": "small",
            "daemonVersion": "1",
            "toolboxProxyUrl": f"{self.url.removesuffix('/api')}/toolbox",
            "kvm": False,
        }


def _in_sandbox(sandbox: Sandbox, call: str, headers: Message, body: bytes) -> Answer:
    if call == "files/bulk-upload":
        for name, content in _files(headers, body).items():
            (sandbox.folder / name).write_bytes(content)
        return _json({})
    if call == "process/code-run":
        wanted = json.loads(body)
        if len(wanted["code"]) > 128 << 10:  # more than one argument of a command may have
            return _json({"exitCode": 126, "result": "argument list too long"})
        return Answer(200, lambda: sandbox.run(wanted["code"], wanted.get("timeout")))
    return _json({}, 404)


def _files(headers: Message, body: bytes) -> dict[str, bytes]:
    """Read `files[n].path` and `files[n].file` out of a form."""
    kind = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
    form = BytesParser().parsebytes(kind + body)
    parts: dict[str, bytes] = {}
    for part in cast("list[Message]", form.get_payload()):
        name = str(part.get_param("name", header="content-disposition"))
        parts[name] = cast("bytes", part.get_payload(decode=True))
    paths = {
        name[:-5]: content.decode() for name, content in parts.items() if name.endswith(".path")
    }
    return {path: parts[f"{start}.file"] for start, path in paths.items()}


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, json.dumps(value).encode(), {"Content-Type": "application/json"})


def _with_node(folder: Path) -> Path:
    """Return where `node` is found; on a machine without it, something that Deno makes good for."""
    if node := shutil.which("node"):
        return Path(node).parent
    program = folder / "bin" / "node"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec "{find_deno_bin()}" run -A --v8-flags="$1" "$3"\n')
        program.chmod(0o755)
    return program.parent


def _processes_in(folder: Path) -> list[int]:
    found: list[int] = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if link.readlink().is_relative_to(folder):
                found.append(int(link.parent.name))
    return found


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_stub: DaytonaStub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base class
        pass

    def _serve(self) -> None:
        path = urlsplit(self.path).path
        body = self._body()
        answer = self.server_stub.answer(self.command, path, self.headers, body)
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # who asked has gone
            if not answer.pause_s:
                self.wfile.write(answer.body)
            for byte in answer.body if answer.pause_s else b"":
                self.wfile.write(bytes([byte]))
                threading.Event().wait(answer.pause_s)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        return whole

    do_GET = do_POST = do_DELETE = _serve  # noqa: N815 - as in the base class
