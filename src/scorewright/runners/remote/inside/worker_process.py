"""One worker as the loop sees it: frames over pipes, marks of its progress, and a way to end it."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
from typing import Any

from scorewright.runners.harness import protocol

_READ_BYTES = 1 << 16
_MAX_LAST_WORDS = 2000
_LAST_GASP_S = 0.2
#: Reads of marks in one turn: one that floods them must not hold the loop.
_MAX_READS = 64


class LostError(Exception):
    """A worker is gone, or has to go; the text is `time`, `closed`, `ran_on` or `protocol`, as the host knows them."""


class WorkerProcess:
    """A process that speaks the harness's protocol on its standard streams.

    Args:
        command: What to start.
        folder: Where it finds Python modules.
    """

    def __init__(self, command: list[str], folder: str) -> None:
        self._process: Any = subprocess.Popen(  # noqa: S603 - our own command
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={
                "PYTHONHASHSEED": "0",
                "PYTHONPATH": os.path.abspath(folder),
                "TZ": "UTC",
                "LANG": "C.UTF-8",
                "PATH": os.defpath,
            },
            start_new_session=True,
        )
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            os.set_blocking(stream.fileno(), False)
        self._outgoing = memoryview(b"")
        self._incoming = bytearray()
        #: Items begun, as it claims.
        self.begun = 0
        self._words = b""
        self._is_open = True
        self._status: int | None = None

    @property
    def last_words(self) -> str:
        """What it wrote to standard error beside its marks."""
        return self._words.decode("utf-8", "replace").strip()

    def send(self, kind: bytes, body: bytes) -> None:
        """Queue a frame; `exchange` writes it."""
        frame = protocol.HEADER.pack(kind, len(body)) + body
        self._outgoing = memoryview(bytes(self._outgoing) + frame)

    def exchange(self, timeout_s: float) -> list[tuple[bytes, bytes]]:
        """Write, wait a little, and return the frames that have arrived.

        Raises:
            LostError: It closed its output, or announced a frame that is too large.
        """
        poll = select.poll()
        poll.register(self._process.stderr, select.POLLIN)
        poll.register(self._process.stdout, select.POLLIN)
        if self._outgoing:
            poll.register(self._process.stdin, select.POLLOUT)
        poll.poll(timeout_s * 1000)
        self._write()
        self._listen()
        return self._frames()

    def end(self) -> int:
        """Kill it and what it started; returns its status as waitpid gives it."""
        if self._status is None:
            with contextlib.suppress(OSError):  # it has ended already
                os.killpg(self._process.pid, signal.SIGKILL)
            code: int = self._process.wait()
            self._status = -code if code < 0 else code << 8
            self._listen()
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                stream.close()
        return self._status

    def _write(self) -> None:
        try:
            while self._outgoing:
                sent = os.write(self._process.stdin.fileno(), self._outgoing[:_READ_BYTES])
                self._outgoing = self._outgoing[sent:]
        except BlockingIOError:
            pass
        except OSError:  # its closed end shows when reading
            self._outgoing = memoryview(b"")

    def _listen(self) -> None:
        """Read marks and last words."""
        for _ in range(_MAX_READS):
            if not (part := _read(self._process.stderr)):
                return
            self.begun += part.count(b"\0")
            self._words = (self._words + part.replace(b"\0", b""))[-_MAX_LAST_WORDS:]

    def _frames(self) -> list[tuple[bytes, bytes]]:
        part = _read(self._process.stdout)
        if part == b"":
            self._is_open = False
        self._incoming += part or b""
        frames: list[tuple[bytes, bytes]] = []
        size = protocol.HEADER.size
        while len(self._incoming) >= size:
            kind, length = protocol.HEADER.unpack_from(self._incoming)
            if length > protocol.MAX_REPLY_BYTES:
                raise LostError("protocol")
            if len(self._incoming) < size + length:
                break
            frames.append((kind, bytes(self._incoming[size : size + length])))
            del self._incoming[: size + length]
        if not frames and not self._is_open:
            raise LostError(self._how_it_closed())
        return frames

    def _how_it_closed(self) -> str:
        try:
            self._process.wait(_LAST_GASP_S)
        except subprocess.TimeoutExpired:
            return "ran_on"
        return "closed"


def _read(stream: Any) -> bytes | None:
    """Return what can be read; None when nothing is there yet, no bytes at the end."""
    try:
        return os.read(stream.fileno(), _READ_BYTES)
    except BlockingIOError:
        return None
