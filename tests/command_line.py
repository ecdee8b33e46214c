"""The command line as its users call it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

#: What any command starts with.
PROGRAM = (sys.executable, "-P", "-m", "scorewright")


@dataclass(frozen=True, slots=True)
class Finished:
    """What a command left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return read_json(self.stdout)

    @property
    def summary(self) -> dict[str, Any]:
        """The summary of a run with one evaluator."""
        (summary,) = self.document["summary"]
        return summary


class CommandLine:
    """Runs commands in a folder that tests may write to.

    Args:
        folder: Where they are run.
        may_reuse: Whether a run may use results of earlier ones: a test that does not ask for it wants to see a run.
    """

    def __init__(self, folder: Path, *, may_reuse: bool = False) -> None:
        self.folder = folder
        self._may_reuse = may_reuse

    def command(self, *arguments: str | Path) -> list[str]:
        """Return the program with its arguments."""
        ours = [str(argument) for argument in arguments]
        if ours[:1] == ["run"] and not self._may_reuse:
            ours.insert(1, "--no-cache")
        return [*PROGRAM, *ours]

    def __call__(self, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Finished:
        return self.through([], *arguments, env=env)

    def through(
        self, starter: Sequence[str], *arguments: str | Path, env: Mapping[str, str] | None = None
    ) -> Finished:
        """Run a command through another one, such as a shell script that pipes its output."""
        done = subprocess.run(
            [*starter, *self.command(*arguments)],
            cwd=self.folder,
            env=environment(env),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            encoding="utf-8",
        )
        return Finished(done.returncode, done.stdout, done.stderr)

    def write(self, name: str, text: str) -> Path:
        """Write a file into the folder."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def write_rows(self, name: str, rows: Iterable[Mapping[str, Any]]) -> Path:
        """Write rows as JSON Lines."""
        return self.write(name, "".join(f"{json.dumps(row)}\n" for row in rows))

    def results(self, name: str) -> list[dict[str, Any]]:
        """Read a JSON Lines results file back, strictly."""
        text = (self.folder / name).read_text(encoding="utf-8")
        return [read_json(line) for line in text.split("\n") if line]


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of commands: this one, less the variables that Scorewright reads."""
    kept = {name: value for name, value in os.environ.items() if "SCOREWRIGHT" not in name}
    return {**kept, **(extra or {})}


def read_json(text: str) -> Any:
    """Read JSON as the standard has it: NaN and Infinity are none."""

    def refuse(token: str) -> NoReturn:
        raise AssertionError(f"{token} is not JSON")

    return json.loads(text, parse_constant=refuse)
