"""The body of `scorewright runner check`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, assert_never

import msgspec
from rich.table import Table
from rich.text import Text

from scorewright.cli.console import open_console
from scorewright.cli.environment import required_layers
from scorewright.cli.speech import say
from scorewright.domain.errors import SandboxUnavailableError, UsageError
from scorewright.runners.base import Runner
from scorewright.runners.deno.layers import PURPOSES as DENO_PURPOSES
from scorewright.runners.jail.layers import ON, PURPOSES, is_on
from scorewright.runners.jail.supervisor import KernelRunner
from scorewright.runners.probes import SUITES, Probe
from scorewright.runners.selfcheck import Verdict
from scorewright.services.runner_choice import required_of
from scorewright.services.self_check import (
    TIERS,
    Available,
    Breached,
    TierCheck,
    Unavailable,
    Watch,
    check_runner,
)

_EXIT_PASSED, _EXIT_FAILED, _EXIT_UNAVAILABLE = 0, 1, 3
_LOCAL: Final = "local"
_REMOTE: Final = "remote"
_NO_SANDBOX: Final = (
    "local is no sandbox: code runs with your own rights, and nothing is contained. "
    "No probe was run, since it would have attacked this machine. Use it for code you trust."
)


def check_command(name: str | None, *, quick: bool = False, as_json: bool = False) -> int:
    """Attack the sandboxes of this machine and print a verdict per probe.

    Args:
        name: The runner; every one that is a sandbox of this machine's when None. Remote sandboxes are paid for, and
            so have to be named.
        quick: Try only the probes that a server tries when it starts.
        as_json: Print one JSON document instead of tables.

    Returns:
        0 when every probe was contained, 1 when one was not, 3 when a sandbox is not to be had.

    Raises:
        UsageError: No runner has this name.
    """
    makers = _makers(name)
    report = _Document() if as_json else _Tables()
    checks = [_check(tier, make, report, quick=quick) for tier, make in makers.items()]
    report.sum_up(checks, is_whole=name is None)
    return _exit_code(checks)


def _makers(name: str | None) -> Mapping[str, Callable[[], Runner] | None]:
    if name is None:
        return TIERS
    if name == _LOCAL:
        return {name: None}
    makers: Mapping[str, Callable[[], Runner]] = {**TIERS, _REMOTE: _make_remote}
    if name not in makers:
        known = ", ".join((*makers, _LOCAL))
        raise UsageError(f"runner {name}: there is no such runner; use one of {known}")
    return {name: makers[name]}


def _make_remote() -> Runner:
    from scorewright.services.runner_choice import Runners

    return Runners(_REMOTE, environ=os.environ, notice=say).of("python")


def _check(
    tier: str, make: Callable[[], Runner] | None, report: _Report, *, quick: bool
) -> TierCheck:
    report.begin(tier)
    if make is None:
        check = TierCheck(tier, Unavailable(_NO_SANDBOX), {}, None, 0, 0.0)
    else:
        try:
            runner = make()
        except SandboxUnavailableError as error:
            check = TierCheck(tier, Unavailable(str(error)), {}, None, 0, 0.0)
        else:
            if isinstance(runner, KernelRunner):
                runner.insist_on(required_of(tier, required_layers()))
            check = _attack(runner, None if quick else SUITES[tier].probes, report)
    report.end(check)
    return check


def _attack(runner: Runner, probes: Sequence[Probe] | None, report: _Report) -> TierCheck:
    try:
        return check_runner(runner, probes, report)
    finally:
        runner.close()


def _exit_code(checks: Sequence[TierCheck]) -> int:
    states = [type(check.state) for check in checks]
    if Breached in states:  # a sandbox that leaks is worse than one that is not there
        return _EXIT_FAILED
    return _EXIT_UNAVAILABLE if Unavailable in states else _EXIT_PASSED


def _failed(check: TierCheck) -> int:
    return len(check.state.probes) if isinstance(check.state, Breached) else 0


class _Report(Watch):
    """What both forms of output are told."""

    def begin(self, tier: str) -> None:
        """The next tier's turn has come."""

    def end(self, check: TierCheck) -> None:
        """This is what came of it."""

    def sum_up(self, checks: Sequence[TierCheck], *, is_whole: bool) -> None:
        """Nothing more will come; `is_whole` when no runner was named."""


class _Document(_Report):
    """One JSON document, printed at the end."""

    def __init__(self) -> None:
        self._verdicts: list[Verdict] = []
        self._runners: list[dict[str, Any]] = []

    def begin(self, tier: str) -> None:
        del tier
        self._verdicts = []

    def verdict(self, verdict: Verdict) -> None:
        self._verdicts.append(verdict)

    def end(self, check: TierCheck) -> None:
        failed = _failed(check)
        state = check.state
        self._runners.append(
            {
                "runner": check.tier,
                "layers": check.layers,
                "probes": [_described(verdict) for verdict in self._verdicts],
                "passed": check.probes_tried - failed,
                "failed": failed,
                "unavailable": state.reason if isinstance(state, Unavailable) else None,
            }
        )

    def sum_up(self, checks: Sequence[TierCheck], *, is_whole: bool) -> None:
        document = self._runners[0]
        if is_whole:
            failed = sum(map(_failed, checks))
            tried = sum(check.probes_tried for check in checks)
            document = {"runners": self._runners, "passed": tried - failed, "failed": failed}
        sys.stdout.buffer.write(msgspec.json.encode(document) + b"\n")
        sys.stdout.buffer.flush()


def _described(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.probe.name,
        "family": verdict.probe.family,
        "passed": verdict.passed,
        "outcome": verdict.outcome,
        "duration_ms": round(verdict.duration_ms, 1),
    }


class _Tables(_Report):
    """Tables for people, each line as soon as it is known."""

    def __init__(self) -> None:
        self._console = open_console()
        self._family = ""
        self._has_begun = False

    def begin(self, tier: str) -> None:
        if self._has_begun:
            self._console.print()
        self._has_begun = True
        self._family = ""
        self._console.print(Text(f"runner {tier}", style="bold underline"))

    def layers(self, layers: Mapping[str, str]) -> None:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("layer", no_wrap=True)
        table.add_column("state", overflow="fold")
        table.add_column("what it takes away", overflow="fold")
        for name, purpose in _in_order(layers):
            state = layers[name]
            on = is_on(state)
            shown = f"on ({state})" if on and state != ON else state
            table.add_row(name, Text(shown, style="green" if on else "yellow"), purpose)
        if layers:
            self._console.print(table)

    def verdict(self, verdict: Verdict) -> None:
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

    def end(self, check: TierCheck) -> None:
        match check.state:
            case Unavailable():
                self._console.print(Text(check.state.reason, style="bold red"))
            case Available() | Breached():
                self._console.print()
                self._console.print(_summary(check))
            case _:
                assert_never(check.state)

    def sum_up(self, checks: Sequence[TierCheck], *, is_whole: bool) -> None:
        if not is_whole:
            return
        self._console.print()
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for check in checks:
            table.add_row(check.tier, _summary(check))
        self._console.print(table)


def _summary(check: TierCheck) -> Text:
    """Say in one line what came of a tier."""
    if isinstance(check.state, Unavailable):
        return Text(f"unavailable: {check.state.reason}", style="bold red")
    failed = _failed(check)
    contained = f"{check.probes_tried - failed} of {check.probes_tried} probes contained"
    off = [name for name, _ in _in_order(check.layers) if not is_on(check.layers[name])]
    style = "bold red" if failed else "bold yellow" if off else "bold green"
    if not check.layers:  # they are the provider's
        return Text(contained, style=style)
    layers = f"layers off: {', '.join(off)}" if off else "all layers on"
    return Text(f"{contained}; {layers}", style=style)


def _in_order(layers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the layers that were reported with their purpose, the strongest first."""
    for name, purpose in (*PURPOSES.items(), *DENO_PURPOSES.items()):
        if name in layers:
            yield name, purpose
