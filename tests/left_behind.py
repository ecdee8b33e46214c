"""Run a command, and tell what it leaves behind: processes, temporary files, and files nobody asked for."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from command_line import CommandLine, Finished, environment

_PROGRAM = Path(__file__).with_name("adopt_orphans.py")
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - looked at, not written to


@dataclass(slots=True)
class Watched:
    """A command under way; once it has ended, what it left behind."""

    process: subprocess.Popen[str]
    #: The command's own process, below the one that watches it.
    pid: int
    #: Largest resident set of the command, in MiB.
    peak_mb: int = 0
    #: Everything that should not be there any more.
    left: list[str] = field(default_factory=list[str])

    def finish(self) -> Finished:
        """Wait for the command's end."""
        stdout, stderr = self.process.communicate()
        return Finished(self.process.returncode, stdout, stderr)


@contextmanager
def watch(cli: CommandLine, *arguments: str | Path) -> Generator[Watched]:
    """Start a command; what it left is known when the block is left."""
    before = _files(cli.folder)
    named = {Path(argument).name for argument in arguments}
    with tempfile.TemporaryDirectory(dir=cli.folder.parent) as temporary:
        read_end, write_end = os.pipe()
        process = subprocess.Popen(
            [sys.executable, _PROGRAM, str(write_end), *cli.command(*arguments)],
            cwd=cli.folder,
            env=environment({"TMPDIR": temporary}),
            pass_fds=[write_end],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        os.close(write_end)
        with os.fdopen(read_end, encoding="utf-8") as report, process:
            watched = Watched(process, int(report.readline()))
            yield watched
            watched.peak_mb = int(report.readline()) >> 10
            watched.left += report.read().splitlines()
        watched.left += [f"file {path.name}" for path in Path(temporary).iterdir()]
        watched.left += [f"file {name}" for name in _files(cli.folder) - before - named]


def run_watched(cli: CommandLine, *arguments: str | Path) -> tuple[Finished, Watched]:
    """Run a command to its end."""
    with watch(cli, *arguments) as watched:
        finished = watched.finish()
    return finished, watched


def _files(folder: Path) -> set[str]:
    ours = _SHARED_MEMORY.glob("*scorewright*") if _SHARED_MEMORY.is_dir() else ()
    return {path.name for path in (*folder.iterdir(), *ours)}
