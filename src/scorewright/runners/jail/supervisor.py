"""The host's side of the jail: starts a zygote, asks it for workers, and believes no layer unseen."""

from __future__ import annotations

import msgspec

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.harness import protocol
from scorewright.runners.jail.connection import Connection
from scorewright.runners.jail.launch import LaunchedZygote, launch_zygote
from scorewright.runners.jail.layers import MANDATORY, is_on, missing
from scorewright.runners.process import Channel, WorkerLostError, WorkerProcess

_HELLO_TIMEOUT_S = 10.0
#: What a zygote must have before it may fork at all.
_NEEDED_TO_FORK = frozenset({"single_thread", "no_new_privs"})


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
        self._zygote = Connection(launched) if launched else None
        self._is_ready = False
        self._hello: protocol.Hello | None = None

    def start(self) -> None:
        """Start the zygote without waiting for it."""
        self._started()

    def spawn(self, limits: Limits) -> WorkerProcess:
        """Fork a worker and check its layers before it may see any source."""
        zygote = self._ready_zygote()
        worker = self._fork(zygote, limits)
        try:
            frame = worker.wait_frame(_HELLO_TIMEOUT_S)
        except WorkerLostError:
            frame = None
        if frame is None or frame[0] != protocol.HELLO:
            status = worker.end()
            raise SandboxUnavailableError(
                f"sandbox: a worker ended before its hello (status {status})"
            )
        self._hello = msgspec.json.decode(frame[1], type=protocol.Hello)
        try:
            _require(self._hello.layers, self._required - self._omitted)
        except SandboxUnavailableError:
            worker.end()
            raise
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
        """End the zygote and all its workers. The next `spawn` would start another one."""
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None
            self._is_ready = False

    def _started(self) -> Connection:
        if self._zygote is None:
            self._zygote = Connection(launch_zygote(omitted=self._omitted, prefix=self._prefix))
        return self._zygote

    def _ready_zygote(self) -> Connection:
        zygote = self._started()
        if not self._is_ready:
            try:
                layers = zygote.wait_until_ready()
                _require(layers, _NEEDED_TO_FORK - self._omitted)
            except SandboxUnavailableError:
                self.close()
                raise
            self._is_ready = True
        return zygote

    def _fork(self, zygote: Connection, limits: Limits) -> WorkerProcess:
        try:
            channel = Channel()
        except OSError as error:
            raise SandboxUnavailableError(f"sandbox: no channel to a worker: {error}") from None
        try:
            return zygote.fork(channel, limits.memory_mb)
        except SandboxUnavailableError:
            channel.close()
            self.close()
            raise


def _require(layers: dict[str, str], required: frozenset[str]) -> None:
    if absent := missing(layers, required):
        raise SandboxUnavailableError(
            f"sandbox: mandatory layer missing: {', '.join(absent)}. Nothing was run. "
            "`scorewright runner check` shows what this machine offers; --runner local runs code "
            "you trust without a sandbox."
        )
