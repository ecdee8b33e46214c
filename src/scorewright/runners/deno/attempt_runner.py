"""Has one of the launcher's own attempts made where an evaluator would run (`attempts.py`)."""

from __future__ import annotations

from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.deno.attempts import PREFIX
from scorewright.runners.deno.dialect import ScriptDialect
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.process import WorkerProcess


class AttemptRunner:
    """Workers that make one attempt per item, whatever they are given.

    Args:
        deno: Whose launcher starts them; stays its owner's to close.
        name: One of `ATTEMPTS`.
    """

    tier = "deno"
    jailed = True
    pure = True
    least_batch = 1
    most_workers = None

    def __init__(self, deno: DenoRunner, name: str) -> None:
        self._deno = deno
        self._program = f"{PREFIX}{name}"

    def start(self) -> None:
        """As in `Runner`."""
        self._deno.start()

    def spawn(self, limits: Limits) -> WorkerProcess:
        """As in `Runner`."""
        return self._deno.spawn_program(self._program, limits)

    def prepare(self, limits: Limits) -> None:
        """Nothing: every attempt is made once."""

    def dialect(self, load: Load) -> ScriptDialect:
        """As in `Runner`."""
        return self._deno.dialect(load)

    def report(self) -> RunnerReport | None:
        """As in `Runner`."""
        return self._deno.report()

    def close(self) -> None:
        """Nothing of this is its own."""
