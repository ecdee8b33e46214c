"""Run a command, and tell what it leaves behind.

Started as a program, this file adopts whatever the command orphans: each process that is left shows up as a child
of it, and processes of others on the machine do not.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from command_line import PROGRAM, CommandLine, Finished, environment

_PR_SET_CHILD_SUBREAPER = 36
#: Orphans that end within this time were only on their way out.
_PATIENCE_S = 10
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, not written to


@dataclass(slots=True)
class Watched:
    """A command under way; once it has ended, what it left behind."""

    process: subprocess.Popen[str]
    #: The command's own process, below the one that watches it.
    pid: int
    #: Largest resident set of the command, in MiB.
    peak_mb: int = 0
    processes: list[str] = field(default_factory=list[str])
    files: list[str] = field(default_factory=list[str])

    @property
    def left(self) -> list[str]:
        """Everything that should not be there any more."""
        return [*self.processes, *self.files]

    def finish(self) -> Finished:
        """Wait for the command's end."""
        stdout, stderr = self.process.communicate()
        return Finished(self.process.returncode, stdout, stderr)


@contextmanager
def watch(cli: CommandLine, *arguments: str | Path) -> Generator[Watched]:
    """Start a command; what it left is known when the block is left."""
    before = _files(cli.folder)
    named = {Path(argument).name for argument in map(str, arguments)}
    with tempfile.TemporaryDirectory(dir=cli.folder.parent) as temporary:
        read_end, write_end = os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(write_end), *PROGRAM, *map(str, arguments)],
            cwd=cli.folder,
            env=environment({"TMPDIR": temporary}),
            pass_fds=[write_end],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        os.close(write_end)
        with open(read_end, encoding="utf-8") as report, process:
            watched = Watched(process, int(report.readline()))
            yield watched
            process.communicate()
            watched.peak_mb = int(report.readline()) >> 10
            watched.processes = report.read().splitlines()
        there = {path.name for path in Path(temporary).iterdir()}
        watched.files = sorted((_files(cli.folder) - before - named) | there)


def run_watched(cli: CommandLine, *arguments: str | Path) -> tuple[Finished, Watched]:
    """Run a command to its end."""
    with watch(cli, *arguments) as watched:
        finished = watched.finish()
    return finished, watched


def _files(folder: Path) -> set[str]:
    ours = _SHARED_MEMORY.glob("*scorewright*") if _SHARED_MEMORY.is_dir() else ()
    return {path.name for path in (*folder.iterdir(), *ours)}


def _main(report: IO[str], command: Sequence[str]) -> int:
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "cannot adopt orphans")
    child = os.posix_spawn(command[0], command, os.environ)
    print(child, file=report, flush=True)
    _, status, used = os.wait4(child, 0)
    print(used.ru_maxrss, file=report)
    _wait_for_orphans()
    for pid in _children():
        line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        print(f"process {line.decode(errors='replace')!r:.200}", file=report)
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _wait_for_orphans() -> None:
    def give_up(_number: int, _frame: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(_PATIENCE_S)
    try:
        while True:
            os.wait()
    except (ChildProcessError, TimeoutError):
        signal.alarm(0)


def _children() -> list[int]:
    return [int(pid) for pid in Path("/proc/thread-self/children").read_text().split()]


if __name__ == "__main__":
    with open(int(sys.argv[1]), "w", encoding="utf-8") as own_report:
        own_code = _main(own_report, sys.argv[2:])
    sys.exit(own_code)
