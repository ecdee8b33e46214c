"""Time and memory of whole processes, compared side by side.

A shared machine drifts by a factor of two within minutes. Variants therefore take turns, and what is
compared is the ratio inside one round; absolute times are printed for orientation only.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TypeVar

_SAMPLE_INTERVAL_S = 0.05
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with what it was measured against."""

    name: str
    unit: str
    #: One value a round, in order.
    rounds: tuple[float, ...]
    #: The most (`at_most`) or least it may be; None where there is no promise.
    budget: float | None = None
    at_most: bool = True

    @property
    def median(self) -> float:
        return median(self.rounds)

    @property
    def kept(self) -> bool | None:
        """Whether the budget is kept; None without one."""
        if self.budget is None:
            return None
        return self.median <= self.budget if self.at_most else self.median >= self.budget


@dataclass(frozen=True, slots=True)
class Finished:
    """A process that has ended well."""

    wall_s: float
    #: Of the process and all below it.
    cpu_s: float
    stdout: str
    #: Largest resident size of any one process of the tree, by the operating system's account.
    peak_process_bytes: int
    #: Largest size of the whole tree at one moment; 0 unless it was sampled.
    peak_tree_bytes: int = 0


@dataclass(slots=True)
class TreeSampler:
    """Adds up, again and again, what a process and all below it hold; peaks shorter than the interval are missed."""

    pid: int
    peak_bytes: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        threading.Thread(target=self._sample, daemon=True).start()

    def _sample(self) -> None:
        while not self._ended.wait(_SAMPLE_INTERVAL_S):
            self.peak_bytes = max(self.peak_bytes, resident_bytes_of_tree(self.pid))

    def stop(self) -> None:
        self._ended.set()


def run_process(command: Sequence[str | Path], *, sample_tree: bool = False) -> Finished:
    """Run a command to its end.

    Args:
        command: program and arguments.
        sample_tree: also watch the memory of the process and all below it, which takes some CPU.

    Raises:
        subprocess.CalledProcessError: the command ended with another status than 0.
    """
    # Byte code is wanted, as a user's processes have it.
    environment = {key: os.environ[key] for key in os.environ.keys() - {"PYTHONDONTWRITEBYTECODE"}}
    start = time.perf_counter()
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, text=True, env=environment
    )
    sampler = TreeSampler(process.pid)
    if sample_tree:
        sampler.start()
    stdout = process.stdout.read() if process.stdout else ""
    # wait4, as Popen.wait would throw the process's account away.
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    sampler.stop()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args, output=stdout)
    cpu_s = usage.ru_utime + usage.ru_stime
    return Finished(wall_s, cpu_s, stdout, usage.ru_maxrss * 1024, sampler.peak_bytes)


def take_turns(rounds: int, variants: Mapping[str, Callable[[], T]]) -> dict[str, list[T]]:
    """Call every variant once a round, after one round that does not count.

    Args:
        rounds: how many rounds count.
        variants: each returns what it measured.

    Returns:
        For every variant what it returned in each round.
    """
    measured: dict[str, list[T]] = {name: [] for name in variants}
    for number in range(rounds + 1):
        for name, measure in variants.items():
            value = measure()
            if number:
                measured[name].append(value)
    return measured


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> tuple[float, ...]:
    """Divide round by round."""
    return tuple(a / b for a, b in zip(numerators, denominators, strict=True))


def resident_bytes_of_tree(pid: int) -> int:
    """Add up what a process and all below it hold.

    Shared pages are counted by share (PSS) where the kernel shows it and in full (RSS) elsewhere, so
    the figure errs on the large side.
    """
    return sum(map(_resident_bytes, _tree(pid)))


def cpu_s_of_tree(pid: int) -> float:
    """Add up the CPU time of a process and all below it, those included that have ended and were waited for."""
    ticks = 0
    for one in _tree(pid):
        try:
            stat = Path(f"/proc/{one}/stat").read_text()
        except OSError:
            continue
        ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _tree(root: int) -> list[int]:
    """A process and all that descend from it, as far as they still live."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            # "PID (name) state PPID ...", where the name may hold spaces and brackets itself
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        children.setdefault(parent, []).append(int(stat.parent.name))
    pids = [root]
    for pid in pids:
        pids += children.get(pid, [])
    return pids


def _resident_bytes(pid: int) -> int:
    """Proportional size of a process, else its resident size; 0 when it is gone."""
    for name, key in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        try:
            lines = Path(f"/proc/{pid}/{name}").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            if line.startswith(key):
                return int(line.split()[1]) * 1024
    return 0
