"""The host's side of the jail: starts a zygote, asks it for workers, and believes no layer unseen."""

from __future__ import annotations

import array
import select
import socket
import subprocess
import time

import msgspec

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.harness import protocol
from scorewright.runners.jail.launch import LaunchedZygote, launch_zygote
from scorewright.runners.jail.layers import MANDATORY, is_on, missing
from scorewright.runners.jail.messages import Exited, Forked, Ready, Request
from scorewright.runners.process import Channel, WorkerLostError, WorkerProcess

_START_TIMEOUT_S = 30.0
_SPAWN_TIMEOUT_S = 10.0
_EXIT_TIMEOUT_S = 5.0
_CONTROL_BYTES = 65536

class JailRunner:
    """Python behind seccomp, Landlock, namespaces, an empty root, limits and no capability.

    Args:
        required: Layers to insist on beside the mandatory ones.
        launched: A zygote that is booting already.
        omitted: Layers to leave out: only for the self-check's negative control, never for author code.
        prefix: Command to start the zygote through: only for tests that simulate other machines.
    """

    tier = "jail"
    jailed = True

    def __init__(
        self,
        *,
        required: frozenset[str] = frozenset(),
        launched: LaunchedZygote | None = None,
        omitted: frozenset[str] = frozenset(),
        prefix: tuple[str, ...] = (),
    ) -> None:
        self._required = MANDATORY | required
        self._omitted = omitted
        self._prefix = prefix
        self._process = launched.process if launched else None
        self._control = launched.control if launched else None
        self._is_ready = False
        self._exits: dict[int, int] = {}
        self._hello: protocol.Hello | None = None

    def start(self) -> None:
        """Start the zygote without waiting for it."""
        if self._process is None:
            zygote = launch_zygote(omitted=self._omitted, prefix=self._prefix)
            self._process, self._control = zygote.process, zygote.control

    def spawn(self, limits: Limits) -> WorkerProcess:
        """Fork a worker and check its layers before it may see any source."""
        self.start()
        self._wait_until_ready()
        channel = Channel()
        worker = self._fork(channel, limits)
        try:
            frame = worker.wait_frame(_SPAWN_TIMEOUT_S)
        except WorkerLostError:
            frame = None
        if frame is None or frame[0] != protocol.HELLO:
            status = worker.end()
            raise SandboxUnavailableError(f"sandbox: a worker ended before its hello (status {status})")
        self._hello = msgspec.json.decode(frame[1], type=protocol.Hello)
        if absent := missing(self._hello.layers, self._required - self._omitted):
            worker.end()
            raise SandboxUnavailableError(_refusal(absent))
        return worker

    def report(self) -> RunnerReport | None:
        """Say which layers the last worker had; None before the first."""
        if self._hello is None:
            return None
        layers = self._hello.layers
        on = tuple(sorted(name for name in layers if is_on(layers[name])))
        off = [f"{name} ({layers[name]})" for name in sorted(layers) if name not in on]
        return RunnerReport(self.tier, self._hello.engine, on, off)

    def layers(self) -> dict[str, str]:
        """Return every layer's state by name, as the last worker reported it."""
        return dict(self._hello.layers) if self._hello else {}

    def close(self) -> None:
        """Close the control socket: the zygote ends, and the kernel ends its workers with it."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            try:
                self._process.wait(_EXIT_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None
            self._is_ready = False

    def _wait_until_ready(self) -> None:
        if self._is_ready:
            return
        message = self._receive(_START_TIMEOUT_S)
        if not isinstance(message, Ready):
            raise SandboxUnavailableError(f"sandbox: the zygote did not start: {self._last_words()}")
        absent = missing(message.layers, frozenset({"single_thread", "no_new_privs"}) - self._omitted)
        if absent:
            raise SandboxUnavailableError(_refusal(absent))
        self._is_ready = True

    def _fork(self, channel: Channel, limits: Limits) -> WorkerProcess:
        assert self._control is not None  # noqa: S101 - start() made it
        request = msgspec.json.encode(Request(limits.memory_mb))
        handed = array.array("i", [channel.far.fileno(), channel.page_fd])
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, handed)]
        try:
            self._control.sendmsg([request], rights)
        except OSError:
            raise SandboxUnavailableError(f"sandbox: the zygote is gone: {self._last_words()}") from None
        channel.close_far_ends()
        deadline = time.monotonic() + _SPAWN_TIMEOUT_S
        while (left := deadline - time.monotonic()) > 0:
            message, pidfd = self._receive_with_descriptor(left)
            if isinstance(message, Forked):
                pid = message.pid
                return WorkerProcess(channel, pidfd, lambda: self._exit_status(pid))
            if message is None:
                break
            self._note(message)
        raise SandboxUnavailableError(f"sandbox: no worker was forked: {self._last_words()}")

    def _exit_status(self, pid: int) -> int | None:
        deadline = time.monotonic() + _EXIT_TIMEOUT_S
        while pid not in self._exits and (left := deadline - time.monotonic()) > 0:
            message = self._receive(left)
            if message is None:
                return None
            self._note(message)
        return self._exits.pop(pid, None)

    def _note(self, message: Ready | Forked | Exited) -> None:
        if isinstance(message, Exited):
            self._exits[message.pid] = message.status

    def _receive(self, timeout_s: float) -> Ready | Forked | Exited | None:
        return self._receive_with_descriptor(timeout_s)[0]

    def _receive_with_descriptor(self, timeout_s: float) -> tuple[Ready | Forked | Exited | None, int]:
        """Return the zygote's next message and the descriptor that came along; None when it is gone."""
        if self._control is None or not select.select([self._control], [], [], timeout_s)[0]:
            return None, -1
        try:
            data, ancillary, *_ = self._control.recvmsg(_CONTROL_BYTES, socket.CMSG_SPACE(4))
        except OSError:
            return None, -1
        if not data:
            return None, -1
        descriptors = array.array("i")
        for _, _, raw in ancillary:
            descriptors.frombytes(raw[: len(raw) - len(raw) % descriptors.itemsize])
        message = msgspec.json.decode(data, type=Ready | Forked | Exited)
        return message, descriptors[0] if descriptors else -1

    def _last_words(self) -> str:
        """Return the end of what a zygote that failed wrote to its error stream."""
        process = self._process
        if process is None or process.stderr is None:
            return "no process"
        process.kill()
        _, errors = process.communicate()
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        return lines[-1][:500] if lines else f"exit status {process.returncode}"


def _refusal(absent: list[str]) -> str:
    return (
        f"sandbox: mandatory layer missing: {', '.join(absent)}. Nothing was run. "
        "`scorewright runner check` shows what this machine offers; --runner local runs code you trust "
        "without a sandbox."
    )
