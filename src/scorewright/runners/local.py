"""No sandbox: the harness in a forked process, for code you trust.

Time and memory are bounded, results go through the same funnel, one item cannot harm the next one's. Files, the
network, installed packages and the environment are all there, and the clock runs: results are not
reproducible, and each says "no sandbox".
"""

from __future__ import annotations

import os
import platform
import resource
import signal
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.base import Limits, RunnerReport
from scorewright.runners.dialect import PythonDialect
from scorewright.runners.harness import protocol
from scorewright.runners.process import Channel, WorkerLostError, WorkerProcess, wait_readable
from scorewright.runners.progress import SharedPage

_EXIT_TIMEOUT_S = 5.0
_HELLO_TIMEOUT_S = 10.0


class LocalRunner:
    """Forks a worker from this very process.

    Args:
        evaluate: A function to call as it is, closures included; None when sources are loaded.
    """

    tier = "local"
    jailed = False
    pure = False
    least_batch = 1
    most_workers = None

    def __init__(self, evaluate: Callable[..., Any] | None = None) -> None:
        self._evaluate = evaluate

    def start(self) -> None:
        """Nothing to prepare."""

    def spawn(self, limits: Limits) -> WorkerProcess:
        """Fork a worker."""
        page = SharedPage()
        channel = Channel(lambda: page)
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            _run_child(channel, page.memory, limits, self._evaluate, parent)
        channel.close_far_ends()
        worker = WorkerProcess(channel, os.pidfd_open(pid), lambda: _wait(pid))
        try:
            is_up = worker.wait_frame(_HELLO_TIMEOUT_S) is not None
        except WorkerLostError:
            is_up = False
        if not is_up:
            worker.end()
            raise SandboxUnavailableError("local: the worker process did not start")
        return worker

    def prepare(self, limits: Limits) -> None:
        """Nothing: a fork is quick."""

    def dialect(self, load: protocol.Load) -> PythonDialect:
        """Return how Python's harness is spoken to."""
        return PythonDialect(load)

    def report(self) -> RunnerReport:
        """Say that there is no layer."""
        engine = f"{sys.implementation.name} {platform.python_version()}"
        return RunnerReport(
            self.tier, engine, (), ("no sandbox: the code ran with your own rights",)
        )

    def close(self) -> None:
        """Workers are ended by their sessions."""


def _wait(pid: int) -> int | None:
    pidfd = os.pidfd_open(pid)
    try:
        if not wait_readable(pidfd, _EXIT_TIMEOUT_S):
            return None
    finally:
        os.close(pidfd)
    return os.waitpid(pid, 0)[1]


def _run_child(
    channel: Channel,
    memory: protocol.SharedMemory,
    limits: Limits,
    evaluate: Callable[..., Any] | None,
    parent: int,
) -> NoReturn:
    # Imported in the child alone: the host needs none of it.
    from scorewright.runners.harness import worker
    from scorewright.runners.jail.kernel.privileges import die_with_parent

    try:
        # A fork holds its siblings' sockets too, so that no closed socket tells it that the host has gone.
        die_with_parent(parent)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the host to act on
        channel.near.close()
        _bound_memory(limits.memory_mb)
        hello = protocol.Hello(layers={}, engine="local")
        worker.serve(channel.far.fileno(), memory, hello, jailed=False, evaluate=evaluate)
    finally:  # a fork never returns into its parent's program
        os._exit(worker.HARNESS_BROKE)


def _bound_memory(memory_mb: int) -> None:
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limit = used + (memory_mb << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
