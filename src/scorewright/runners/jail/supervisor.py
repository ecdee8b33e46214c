"""The host's side of a jail: starts a fork server, asks it for workers, and believes no layer unseen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache

import msgspec

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.dialect import Dialect, PythonDialect
from scorewright.runners.harness import protocol
from scorewright.runners.jail.connection import Connection
from scorewright.runners.jail.launch import LaunchedZygote, launch_zygote
from scorewright.runners.jail.layers import MANDATORY, is_on, missing
from scorewright.runners.process import Channel, WorkerLostError, WorkerProcess
from scorewright.runners.progress import Progress, SharedPage

_HELLO_TIMEOUT_S = 10.0
_MAX_LAST_WORDS = 300
#: What a zygote must have before it may fork at all.
_NEEDED_TO_FORK = frozenset({"single_thread", "no_new_privs"})


class KernelJail(ABC):
    """Workers of a fork server, behind layers of the kernel; what they do, subclasses say.

    Args:
        required: Layers to insist on beside the mandatory ones.
        launched: A fork server that is booting already.
        omitted: Layers to leave out: only for the self-check's negative control, never for author code.
        prefix: Command to start the fork server through: only for tests that simulate other machines.
    """

    #: Layers without which no worker may read a source.
    mandatory: frozenset[str]

    def __init__(
        self,
        *,
        required: frozenset[str] = frozenset(),
        launched: LaunchedZygote | None = None,
        omitted: frozenset[str] = frozenset(),
        prefix: tuple[str, ...] = (),
    ) -> None:
        self._required = self.mandatory | required
        self._omitted = omitted
        self._prefix = prefix
        self._zygote = Connection(launched) if launched else None
        self._is_ready = False
        #: The last worker's.
        self.hello: protocol.Hello | None = None
        #: Started for the next one who needs a worker, by memory limit; their hello may not have come yet.
        self.spares: dict[int, WorkerProcess] = {}

    def insist_on(self, layers: frozenset[str]) -> None:
        """Give no worker without these layers either."""
        self._required |= layers

    @abstractmethod
    def launch(self, omitted: frozenset[str], prefix: tuple[str, ...]) -> LaunchedZygote:
        """Start a fork server without waiting for it."""

    @abstractmethod
    def make_progress(self) -> Progress:
        """Return where a new worker shows how far it is."""

    def start(self) -> None:
        """Start the fork server without waiting for it."""
        self._started()

    def spawn(self, limits: Limits) -> WorkerProcess:
        """Fork a worker and check its layers before it may see any source."""
        spare = self.spares.pop(limits.memory_mb, None)
        if spare is not None:
            try:
                return self._checked(spare)
            except SandboxUnavailableError:  # it has died while it waited
                pass
        return self.spawn_program("", limits)

    def prepare(self, limits: Limits) -> None:
        """Start a worker for the next `spawn`, unless there is one."""
        if self._is_ready and not self.spares:
            self.spares[limits.memory_mb] = self._fork(self._ready_zygote(), limits, "")

    def spawn_program(self, program: str, limits: Limits) -> WorkerProcess:
        """Like `spawn`, for another program of the fork server than the one that runs evaluators."""
        zygote = self._ready_zygote()
        return self._checked(self._fork(zygote, limits, program))

    def _checked(self, worker: WorkerProcess) -> WorkerProcess:
        """Return a new worker once it has said which layers it has, and these are enough."""
        try:
            frame = worker.wait_frame(_HELLO_TIMEOUT_S)
        except WorkerLostError:
            frame = None
        if frame is None or frame[0] != protocol.HELLO:
            last_words = worker.last_words()
            status = worker.end()
            raise SandboxUnavailableError(
                f"sandbox: a worker ended before its hello (status {status})"
                f"{': ' if last_words else ''}{last_words[-_MAX_LAST_WORDS:]}"
            )
        self.hello = msgspec.json.decode(frame[1], type=protocol.Hello)
        try:
            _require(self.hello.layers, self._required - self._omitted)
        except SandboxUnavailableError:
            worker.end()
            raise
        return worker

    def layers(self) -> dict[str, str]:
        """Return every layer's state by name, as the last worker reported it."""
        return dict(self.hello.layers) if self.hello else {}

    def close(self) -> None:
        """End the zygote and all its workers. The next `spawn` would start another one."""
        while self.spares:
            _, spare = self.spares.popitem()
            spare.end()
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None
            self._is_ready = False

    def _started(self) -> Connection:
        if self._zygote is None:
            self._zygote = Connection(self.launch(self._omitted, self._prefix))
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

    def _fork(self, zygote: Connection, limits: Limits, program: str) -> WorkerProcess:
        try:
            channel = Channel(self.make_progress)
        except OSError as error:
            raise SandboxUnavailableError(f"sandbox: no channel to a worker: {error}") from None
        try:
            return zygote.fork(channel, limits.memory_mb, program)
        except SandboxUnavailableError:
            channel.close()
            self.close()
            raise


class KernelRunner(KernelJail):
    """Such workers that execute evaluators; of which language, subclasses say."""

    tier: str
    jailed = True
    pure = True
    least_batch = 1
    most_workers = None

    @abstractmethod
    def dialect(self, load: protocol.Load) -> Dialect:
        """Return how its workers are spoken to about one evaluator."""

    def report(self) -> RunnerReport | None:
        """Say which layers the last worker had; None before the first."""
        if self.hello is None:
            return None
        layers = self.hello.layers
        on = tuple(sorted(name for name in layers if is_on(layers[name])))
        off = [f"{name} ({layers[name]})" for name in sorted(layers) if name not in on]
        return RunnerReport(self.tier, self.hello.engine, on, off)


class JailRunner(KernelRunner):
    """Python behind seccomp, Landlock, namespaces, an empty root, limits and no capability."""

    tier = "jail"
    mandatory = MANDATORY
    #: What the author's language is narrowed to.
    policy: protocol.Policy = ""
    #: What the hashes of texts are made with; another one is for the purity check alone.
    hash_seed = 0

    def launch(self, omitted: frozenset[str], prefix: tuple[str, ...]) -> LaunchedZygote:
        """Start the zygote."""
        return launch_zygote(
            omitted=omitted, prefix=prefix, policy=self.policy, hash_seed=self.hash_seed
        )

    def make_progress(self) -> Progress:
        """Return a page that host and worker share."""
        return SharedPage()

    def dialect(self, load: protocol.Load) -> PythonDialect:
        """Return how Python's harness is spoken to."""
        return PythonDialect(msgspec.structs.replace(load, policy=self.policy))


class RestrictedRunner(JailRunner):
    """The jail, whose workers apply RestrictedPython's policy as well: a matter of compatibility, not of safety."""

    tier = "restricted"
    policy = "restricted"

    def report(self) -> RunnerReport | None:
        """Say which layers the last worker had; the engine includes the policy, since its version decides too."""
        report = super().report()
        if report is None:
            return None
        return msgspec.structs.replace(report, engine=f"{report.engine}, {_policy_version()}")


@cache
def _policy_version() -> str:
    from importlib.metadata import version

    return f"RestrictedPython {version('RestrictedPython')}"


def _require(layers: dict[str, str], required: frozenset[str]) -> None:
    if absent := missing(layers, required):
        raise SandboxUnavailableError(
            f"sandbox: mandatory layer missing: {', '.join(absent)}. Nothing was run. "
            "`scorewright runner check` shows what this machine offers; --runner local runs code "
            "you trust without a sandbox."
        )
