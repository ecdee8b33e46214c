"""What every runner offers, and what the engine asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from scorewright.runners.dialect import Dialect
from scorewright.runners.harness.protocol import Load, SharedMemory


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


class Worker(Protocol):
    """One worker as a session sees it: a process of this machine, or a sandbox somewhere else."""

    @property
    def memory(self) -> SharedMemory | None:
        """Where batches can be laid; None where they go as frames."""
        ...

    @property
    def item_number(self) -> int:
        """Number of the item begun, counted over the worker's life; as the worker claims."""
        ...

    @property
    def phase(self) -> int:
        """What the worker claims to be doing."""
        ...

    @property
    def wants_to_write(self) -> bool:
        """Whether frames wait for room to be written."""
        ...

    def fileno(self) -> int:
        """Return a descriptor that can be read when frames may have arrived."""
        ...

    def send(self, kind: bytes, pieces: Sequence[bytes]) -> None:
        """Queue a frame whose body is given in pieces."""
        ...

    def flush(self) -> None:
        """Write what can be written of the queued frames."""
        ...

    def receive(self) -> list[tuple[bytes, bytes]]:
        """Return the frames that have arrived whole, without waiting.

        Raises:
            WorkerLostError: There will be no more, or one breaks the rules.
        """
        ...

    def kill(self) -> None:
        """End it now, whatever it does."""
        ...

    def last_words(self) -> str:
        """Return what the worker's runtime said when it died; before `end`."""
        ...

    def ends_within(self, timeout_s: float) -> bool:
        """Tell whether it ends by itself within `timeout_s`."""
        ...

    def end(self) -> int | None:
        """End it, let go of everything, and return its exit status as waitpid gives it, if there is one."""
        ...


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

    @property
    def pure(self) -> bool:
        """Whether results are reproducible: the same item gives the same result, today and tomorrow."""
        ...

    @property
    def least_batch(self) -> int:
        """Items that one batch should have at least, where there are as many: above 1 where each batch is costly."""
        ...

    @property
    def most_workers(self) -> int | None:
        """Workers that one evaluator may have at a time; None for no bound."""
        ...

    def start(self) -> None:
        """Begin to get ready, without waiting."""
        ...

    def spawn(self, limits: Limits) -> Worker:
        """Return a worker with every mandatory layer in place, that has read no source yet.

        Raises:
            SandboxUnavailableError: It cannot be had; ours or the machine's, never the author's fault.
        """
        ...

    def prepare(self, limits: Limits) -> None:
        """Have a worker ready for the next `spawn` with these limits, where starting one takes long; never waits."""
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
