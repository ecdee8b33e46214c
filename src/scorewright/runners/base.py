"""What every runner offers, and what the engine asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from scorewright.runners.dialect import Dialect
from scorewright.runners.harness.protocol import Load
from scorewright.runners.process import WorkerProcess


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on what one evaluator may use."""

    #: Wall time of one item, in seconds.
    timeout_s: float = 10.0
    #: Memory of one worker beyond the interpreter's own, in MiB.
    memory_mb: int = 256
    #: Prints kept of one item, in bytes.
    max_output_bytes: int = 8192


class RunnerReport(msgspec.Struct, frozen=True):
    """What stood between author code and the machine; stored and shown with every run."""

    tier: str
    engine: str
    #: The layers that hold.
    layers: tuple[str, ...]
    #: The layers that do not, with the reason.
    missing: Sequence[str] = ()


class Runner(Protocol):
    """Executes author code behind one kind of boundary."""

    @property
    def tier(self) -> str:
        """Name of the boundary."""
        ...

    @property
    def jailed(self) -> bool:
        """Whether hostile code is contained: decides about the frozen clock and the stamp on results."""
        ...

    def start(self) -> None:
        """Begin to get ready, without waiting."""
        ...

    def spawn(self, limits: Limits) -> WorkerProcess:
        """Return a worker with every mandatory layer in place, that has read no source yet.

        Raises:
            SandboxUnavailableError: It cannot be had; ours or the machine's, never the author's fault.
        """
        ...

    def dialect(self, load: Load) -> Dialect:
        """Return how its workers are spoken to about one evaluator.

        Raises:
            EvaluatorError: The author's: the source cannot be made ready for them.
        """
        ...

    def report(self) -> RunnerReport | None:
        """Say which layers the last worker had; None before the first `spawn`."""
        ...

    def close(self) -> None:
        """End every process of this runner."""
        ...
