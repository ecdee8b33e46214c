"""The host's end of one worker: frames over a non-blocking socket, its progress, a way to kill."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from itertools import islice

from scorewright.runners.harness import protocol
from scorewright.runners.progress import Progress, SharedPage

_READ_BYTES = 1 << 18
#: Bytes the kernel should buffer each way, so that two batches rarely wait for the other side.
_BUFFER_BYTES = 1 << 20
#: Buffers that one sendmsg may be given (IOV_MAX is 1,024).
_MAX_PIECES = 1000
#: Bytes taken from one worker before others get their turn: one that floods its socket must not hold the host.
_MAX_TURN_BYTES = 2 * protocol.MAX_REPLY_BYTES

CLOSED = "closed its connection"
CLOSED_AND_RAN_ON = "closed its connection and ran on"


def wait_readable(descriptor: int, timeout_s: float) -> bool:
    """Wait until a descriptor can be read, or its other end is closed; tell whether it can.

    Not by select(2), which knows no descriptor above 1023.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(math.ceil(timeout_s * 1000)))


class WorkerLostError(Exception):
    """The worker's end of the socket is closed, or it sent what no worker sends.

    Caught in `session`: it is an author's failure, or a reason to start another worker.
    """


class Channel:
    """A socket pair and a place for progress, made by the host; the far ends go to a new worker.

    Args:
        make_progress: Makes that place.
    """

    def __init__(self, make_progress: Callable[[], Progress] = SharedPage) -> None:
        self.near, self.far = socket.socketpair()
        try:
            for end in (self.near, self.far):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
            self.progress = make_progress()
        except OSError:
            self.near.close()
            self.far.close()
            raise

    def close_far_ends(self) -> None:
        """Let go of what only the worker should hold, so that its end shows as a closed socket."""
        self.far.close()
        self.progress.handed_over()

    def close(self) -> None:
        """Let go of everything: there will be no worker."""
        self.close_far_ends()
        self.near.close()
        self.progress.close()


class WorkerProcess:
    """One worker as the host sees it.

    Args:
        channel: Its far ends have been handed over and closed.
        pidfd: Owned from now on.
        exit_status: Waits (bounded) for the process's end and returns its status as waitpid gives it,
            or None when it could not be learnt.
    """

    def __init__(self, channel: Channel, pidfd: int, exit_status: Callable[[], int | None]) -> None:
        self._socket = channel.near
        self._socket.setblocking(False)
        #: Where batches can be laid, if anywhere.
        self.memory = channel.progress.memory
        self._progress = channel.progress
        self._pidfd = pidfd
        self._exit_status = exit_status
        self._incoming = bytearray()
        self._outgoing: deque[bytes | memoryview] = deque()

    def fileno(self) -> int:
        """Return the socket's descriptor, for poll."""
        return self._socket.fileno()

    @property
    def item_number(self) -> int:
        """Number of the item begun, counted over the worker's life; as the worker claims."""
        return self._progress.item_number

    @property
    def phase(self) -> int:
        """What the worker claims to be doing."""
        return self._progress.phase

    def last_words(self) -> str:
        """Return what the worker's runtime said when it died; before `end`."""
        return self._progress.last_words()

    @property
    def wants_to_write(self) -> bool:
        """Whether frames wait for room in the socket."""
        return bool(self._outgoing)

    def send(self, kind: bytes, pieces: Sequence[bytes]) -> None:
        """Queue a frame whose body is given in pieces, and write what fits; nothing is copied."""
        length = sum(map(len, pieces))
        self._outgoing.append(protocol.HEADER.pack(kind, length))
        self._outgoing.extend(piece for piece in pieces if piece)
        self.flush()

    def flush(self) -> None:
        """Write what fits of the queued frames. A closed socket shows when reading."""
        try:
            while self._outgoing:
                sent = self._socket.sendmsg(islice(self._outgoing, _MAX_PIECES))
                while sent:
                    piece = self._outgoing.popleft()
                    if len(piece) > sent:
                        self._outgoing.appendleft(memoryview(piece)[sent:])
                        break
                    sent -= len(piece)
        except BlockingIOError:
            pass
        except OSError:
            self._outgoing.clear()

    def write_all(self, timeout_s: float) -> None:
        """Write all queued frames, unless there is no room for them in time."""
        poll = select.poll()
        poll.register(self._socket.fileno(), select.POLLOUT)
        while self._outgoing and poll.poll(timeout_s * 1000):
            self.flush()

    def receive(self) -> list[tuple[bytes, bytes]]:
        """Return the frames that have arrived whole, without waiting.

        Raises:
            WorkerLostError: The socket was closed with no frame left, or a frame breaks the rules.
        """
        closed = self._fill()
        frames = self._parse()
        if closed and not frames:
            raise WorkerLostError(CLOSED)
        return frames

    def _fill(self) -> bool:
        end = len(self._incoming) + _MAX_TURN_BYTES
        while len(self._incoming) < end:
            try:
                part = self._socket.recv(_READ_BYTES)
            except BlockingIOError:
                return False
            except OSError:
                return True
            if not part:
                return True
            self._incoming += part
            if len(part) < _READ_BYTES:
                break
        return False

    def _parse(self) -> list[tuple[bytes, bytes]]:
        frames: list[tuple[bytes, bytes]] = []
        buffer, at, size = self._incoming, 0, protocol.HEADER.size
        while len(buffer) - at >= size:
            kind, length = protocol.HEADER.unpack_from(buffer, at)
            if length > protocol.MAX_REPLY_BYTES:
                raise WorkerLostError(f"announced an answer of {length:,} bytes")
            if len(buffer) - at - size < length:
                break
            frames.append((kind, bytes(memoryview(buffer)[at + size : at + size + length])))
            at += size + length
        if at:
            del buffer[:at]
        return frames

    def wait_frame(self, timeout_s: float) -> tuple[bytes, bytes] | None:
        """Wait for one frame; None when none came in time. Only where nothing else may follow it.

        Raises:
            WorkerLostError: As for `receive`.
        """
        deadline = time.monotonic() + timeout_s
        while (left := deadline - time.monotonic()) > 0:
            if wait_readable(self._socket.fileno(), left) and (frames := self.receive()):
                return frames[0]
        return None

    def kill(self) -> None:
        """End the process now, whatever it does."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def end(self) -> int | None:
        """Kill the process, wait for its end, let go of everything, and return its exit status."""
        self.kill()
        status = self._exit_status()
        self._socket.close()
        self._progress.close()
        os.close(self._pidfd)
        return status

    def ends_within(self, timeout_s: float) -> bool:
        """Tell whether the process ends by itself within `timeout_s`."""
        return wait_readable(self._pidfd, timeout_s)
