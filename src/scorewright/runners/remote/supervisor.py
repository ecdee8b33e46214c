"""Evaluators in remote sandboxes: one sandbox per evaluator and run, its network blocked, batches of many items."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Final, TypeAlias

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.deno.dialect import ScriptDialect
from scorewright.runners.harness import protocol
from scorewright.runners.remote.call import call_bound_s
from scorewright.runners.remote.dialect import RemoteDialect
from scorewright.runners.remote.lease import Lease, Pause, pause
from scorewright.runners.remote.link import RemoteWorker
from scorewright.runners.remote.provider import Provider
from scorewright.runners.remote.python_dialect import RemotePythonDialect

Translate: TypeAlias = Callable[[protocol.Load], tuple[str, list[int] | None]]
"""From a script's source to JavaScript, and the author's line of each line of that."""

#: Seconds that a sandbox outlives its last call, beyond what a call may take.
_IDLE_S: Final = 300.0
_ENGINE: Final = r"(cpython|pypy|node) [0-9][\w.+-]{0,30}( / v8 [\w.+-]{1,40})?"
_PROVIDERS_OWN: Final = "kernel layers (what keeps the code in is up to the provider)"
_CLOCK_RUNS: Final = "clock (Python's runs, so that results are not reproducible)"


class RemoteRunner:
    """Workers in sandboxes that a provider runs.

    Args:
        provider: Where sandboxes come from; closed with the runner.
        translate: Makes JavaScript of TypeScript.
        notice: Told of what a person should look after, such as a sandbox that could not be removed.
        pause: Waits between attempts.
    """

    tier = "remote"
    jailed = True
    pure = False
    #: So that a batch and the upload of its items make two requests for 128 items at most.
    least_batch = 128
    most_workers = 1

    def __init__(
        self,
        provider: Provider,
        *,
        translate: Translate,
        notice: Callable[[str], None],
        pause: Pause = pause,
    ) -> None:
        self._provider = provider
        self._translate = translate
        self._notice = notice
        self._pause = pause
        self._run_id = secrets.token_hex(8)
        self._workers: list[RemoteWorker] = []
        self._engine = ""
        self._missing = [_PROVIDERS_OWN]

    def start(self) -> None:
        """Nothing: a sandbox is paid for from its first second, so it is made for the first batch."""

    def spawn(self, limits: Limits) -> RemoteWorker:
        """Return a worker whose sandbox is made once there is something to do."""
        lease = Lease(
            self._provider,
            labels={"scorewright-run": self._run_id},
            idle_s=_IDLE_S + call_bound_s(limits.timeout_s),
            notice=self._notice,
            pause=self._pause,
        )
        worker = RemoteWorker(
            self._provider,
            lease,
            memory_mb=limits.memory_mb,
            note_engine=self._note_engine,
            pause=self._pause,
        )
        self._workers.append(worker)
        return worker

    def prepare(self, limits: Limits) -> None:
        """Nothing: a sandbox that nobody may need costs money."""

    def dialect(self, load: protocol.Load) -> RemoteDialect:
        """Return how the sandbox is spoken to; TypeScript is translated first, on this machine."""
        if load.language == "python":
            self._missing = [_CLOCK_RUNS, _PROVIDERS_OWN]
            return RemoteDialect(RemotePythonDialect(load), "python")
        try:
            source, lines = self._translate(load)
        except SandboxUnavailableError as error:
            raise SandboxUnavailableError(
                f"{load.filename}: TypeScript is translated on this machine, in the sandbox of Deno, which it cannot "
                f"give; write JavaScript, or run it elsewhere. ({error})"
            ) from None
        return RemoteDialect(ScriptDialect(load, source, lines), "javascript")

    def report(self) -> RunnerReport | None:
        """Say what the provider was asked for; None before the first answer."""
        if not self._engine:
            return None
        engine = f"{self._provider.name} / {self._engine}"
        return RunnerReport(self.tier, engine, ("network_blocked", "vm"), self._missing)

    def close(self) -> None:
        """Remove every sandbox."""
        try:
            for worker in self._workers:
                worker.end()
            for worker in self._workers:
                worker.join()
            self._workers.clear()
        finally:
            self._provider.close()

    def _note_engine(self, engine: str) -> None:
        if not self._engine:  # the same for all sandboxes of a snapshot
            # The author's code could have written it: no more than a name and a version is believed.
            self._engine = engine if re.fullmatch(_ENGINE, engine) else "an engine that hides"
