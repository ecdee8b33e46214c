"""The host's end of one zygote: requests over the control socket, and what became of the workers."""

from __future__ import annotations

import array
import os
import socket
import time
from functools import partial

import msgspec

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.jail.launch import LaunchedZygote
from scorewright.runners.jail.messages import Exited, Forked, Ready, Request
from scorewright.runners.process import Channel, WorkerProcess, wait_readable

_START_TIMEOUT_S = 30.0
_FORK_TIMEOUT_S = 10.0
_EXIT_TIMEOUT_S = 5.0
_MAX_MESSAGE_BYTES = 65536


class Connection:
    """One zygote from its start to its end."""

    def __init__(self, launched: LaunchedZygote) -> None:
        self._process = launched.process
        self._control = launched.control
        self._exits: dict[int, int] = {}
        self._is_closed = False

    def wait_until_ready(self) -> dict[str, str]:
        """Wait for the zygote's first message and return the state of its layers.

        Raises:
            SandboxUnavailableError: It ended, or did not come up in time.
        """
        message, _ = self._receive(_START_TIMEOUT_S)
        if not isinstance(message, Ready):
            raise self._lost("the zygote did not start")
        return message.layers

    def fork(self, channel: Channel, memory_mb: int, program: str = "") -> WorkerProcess:
        """Have a worker forked that owns the far ends of `channel`.

        Raises:
            SandboxUnavailableError: The zygote is gone, or does not answer.
        """
        handed = array.array("i", [channel.far.fileno(), channel.progress.descriptor])
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handed)]
        try:
            self._control.sendmsg([msgspec.json.encode(Request(memory_mb, program))], rights)
        except OSError:
            raise self._lost("the zygote is gone") from None
        deadline = time.monotonic() + _FORK_TIMEOUT_S
        while (left := deadline - time.monotonic()) > 0:
            message, pidfd = self._receive(left)
            if isinstance(message, Forked) and pidfd < 0:
                raise SandboxUnavailableError(
                    "sandbox: Too many open files: no descriptor was left for a worker"
                )
            if isinstance(message, Forked):
                channel.close_far_ends()
                return WorkerProcess(channel, pidfd, partial(self._exit_status, message.pid))
            if message is None:
                break
            self._note(message)
        raise self._lost("no worker was forked")

    def close(self) -> None:
        """Close the control socket: the zygote ends, and the kernel ends its workers with it."""
        if self._is_closed:
            return
        self._is_closed = True
        self._control.close()
        if self._process.poll() is None:
            # Not Popen.wait with a timeout: that looks every few milliseconds, and every run would wait for it.
            pidfd = os.pidfd_open(self._process.pid)
            if not wait_readable(pidfd, _EXIT_TIMEOUT_S):
                self._process.kill()
            os.close(pidfd)
            self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _exit_status(self, pid: int) -> int | None:
        deadline = time.monotonic() + _EXIT_TIMEOUT_S
        while pid not in self._exits and (left := deadline - time.monotonic()) > 0:
            message, _ = self._receive(left)
            if message is None:
                return None
            self._note(message)
        return self._exits.pop(pid, None)

    def _note(self, message: Ready | Forked | Exited) -> None:
        if isinstance(message, Exited):
            self._exits[message.pid] = message.status

    def _receive(self, timeout_s: float) -> tuple[Ready | Forked | Exited | None, int]:
        """Return the zygote's next message and the descriptor that came along; None when there is none."""
        if self._is_closed or not wait_readable(self._control.fileno(), timeout_s):
            return None, -1
        try:
            data, ancillary, *_ = self._control.recvmsg(
                _MAX_MESSAGE_BYTES, socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC
            )
        except OSError:
            return None, -1
        if not data:
            return None, -1
        descriptors = array.array("i")
        for _, _, raw in ancillary:
            descriptors.frombytes(raw[: len(raw) - len(raw) % descriptors.itemsize])
        message = msgspec.json.decode(data, type=Ready | Forked | Exited)
        return message, descriptors[0] if descriptors else -1

    def _lost(self, what: str) -> SandboxUnavailableError:
        """End what is left of the zygote; the error tells how it ended."""
        self._process.kill()
        _, errors = self._process.communicate()
        self.close()
        lines = (errors or b"").decode("utf-8", "replace").strip().splitlines()
        last_words = lines[-1][:500] if lines else f"exit status {self._process.returncode}"
        return SandboxUnavailableError(f"sandbox: {what}: {last_words}")
