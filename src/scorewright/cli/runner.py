"""The body of `scorewright runner check`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from scorewright.domain.errors import SandboxUnavailableError, UsageError
from scorewright.runners.jail.layers import ON, PURPOSES, is_on
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.probes import ALL
from scorewright.runners.selfcheck import Verdict, run_probes

_EXIT_PASSED, _EXIT_FAILED, _EXIT_UNAVAILABLE = 0, 1, 3
_RUNNERS: Final = ("jail", "local")
_NO_SANDBOX: Final = (
    "local is no sandbox: code runs with your own rights, and nothing is contained. "
    "No probe was run, since it would have attacked this machine. Use it for code you trust."
)
#: Columns where output goes to a file or a pipe.
_FILE_WIDTH: Final = 120


def check_command(name: str, *, as_json: bool) -> int:
    """Attack the sandbox of this machine and print a verdict per probe.

    Args:
        name: The runner.
        as_json: Print one JSON document instead of tables.

    Returns:
        0 when every probe was contained, 1 when one was not, 3 when there is no sandbox.

    Raises:
        UsageError: No runner has this name.
    """
    if name not in _RUNNERS:
        raise UsageError(
            f"runner {name}: there is no such runner; use one of {', '.join(_RUNNERS)}"
        )
    report = _Document(name) if as_json else _Tables()
    if name == "local":
        report.say_unavailable(_NO_SANDBOX)
        return _EXIT_UNAVAILABLE
    runner = JailRunner()
    passed = failed = 0
    try:
        for verdict in run_probes(lambda: runner, ALL):
            if not passed + failed:
                report.show_layers(runner.layers())
            passed, failed = passed + verdict.passed, failed + (not verdict.passed)
            report.show(verdict)
    except SandboxUnavailableError as error:
        report.show_layers(runner.layers())
        report.say_unavailable(str(error))
        return _EXIT_UNAVAILABLE
    report.sum_up(passed, failed)
    return _EXIT_FAILED if failed else _EXIT_PASSED


class _Document:
    """One JSON document, printed at the end."""

    def __init__(self, name: str) -> None:
        self._layers: dict[str, str] = {}
        self._verdicts: list[Verdict] = []
        self._name = name

    def show_layers(self, layers: dict[str, str]) -> None:
        self._layers = layers

    def show(self, verdict: Verdict) -> None:
        self._verdicts.append(verdict)

    def say_unavailable(self, why: str) -> None:
        self._print(unavailable=why)

    def sum_up(self, passed: int, failed: int) -> None:
        self._print(passed=passed, failed=failed)

    def _print(self, *, passed: int = 0, failed: int = 0, unavailable: str | None = None) -> None:
        document: dict[str, Any] = {
            "runner": self._name,
            "layers": self._layers,
            "probes": [
                {
                    "name": verdict.probe.name,
                    "family": verdict.probe.family,
                    "passed": verdict.passed,
                    "outcome": verdict.outcome,
                    "duration_ms": round(verdict.duration_ms, 1),
                }
                for verdict in self._verdicts
            ],
            "passed": passed,
            "failed": failed,
            "unavailable": unavailable,
        }
        sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
        sys.stdout.buffer.flush()


class _Tables:
    """Tables for people, each line as soon as it is known."""

    def __init__(self) -> None:
        width = None if sys.stdout.isatty() else _FILE_WIDTH
        self._console = Console(highlight=False, width=width)
        self._family = ""
        self._off: list[str] = []

    def show_layers(self, layers: dict[str, str]) -> None:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("layer", no_wrap=True)
        table.add_column("state", overflow="fold")
        table.add_column("what it takes away", overflow="fold")
        for name, purpose in _in_order(layers):
            state = layers[name]
            on = is_on(state)
            if not on:
                self._off.append(name)
            shown = f"on ({state})" if on and state != ON else state
            table.add_row(name, Text(shown, style="green" if on else "yellow"), purpose)
        if layers:
            self._console.print(table)

    def show(self, verdict: Verdict) -> None:
        probe = verdict.probe
        if probe.family != self._family:
            self._family = probe.family
            self._console.print()
            self._console.print(Text(probe.family, style="bold"))
        mark, style = ("ok", "green") if verdict.passed else ("FAILED", "bold red")
        line = Text.assemble(
            (f"  {mark:7}", style),
            f"{probe.name:46} ",
            (verdict.outcome, "dim" if verdict.passed else style),
        )
        self._console.print(line, no_wrap=verdict.passed, overflow="ellipsis")

    def say_unavailable(self, why: str) -> None:
        self._console.print(Text(why, style="bold red"))

    def sum_up(self, passed: int, failed: int) -> None:
        layers = f"layers off: {', '.join(self._off)}" if self._off else "all layers on"
        style = "bold red" if failed else "bold yellow" if self._off else "bold green"
        text = f"{passed} of {passed + failed} probes contained; {layers}"
        self._console.print()
        self._console.print(Text(text, style=style))


def _in_order(layers: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the layers that were reported with their purpose, in the order of `PURPOSES`."""
    for name, purpose in PURPOSES.items():
        if name in layers:
            yield name, purpose
