"""Whether the sandboxes of this machine hold: what a server asks at its start and on demand, and `runner check` shows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from typing import Final

import msgspec

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.runners.base import Runner
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.jail.supervisor import JailRunner, KernelRunner, RestrictedRunner
from scorewright.runners.probes import Probe
from scorewright.runners.selfcheck import SelfCheck, Verdict

TIERS: Final[Mapping[str, Callable[[], KernelRunner]]] = {
    "jail": JailRunner,
    "restricted": RestrictedRunner,
    "deno": DenoRunner,
}
"""What makes the runner of each tier that this machine may have, in the order in which they are shown."""


class Available(msgspec.Struct, frozen=True, tag="available"):
    """Every probe was contained."""


class Unavailable(msgspec.Struct, frozen=True, tag="unavailable"):
    """This machine cannot have it."""

    reason: str


class Breached(msgspec.Struct, frozen=True, tag="breached"):
    """Probes got through: nobody's code should be run by it."""

    #: Their names, at least one.
    probes: tuple[str, ...]


class TierCheck(msgspec.Struct, frozen=True):
    """What was found out about one tier."""

    tier: str
    state: Available | Unavailable | Breached
    #: Each layer by name: "on", a value such as a version, or "off: why". Empty where none was ever reported.
    layers: dict[str, str]
    #: What runs the code, with its version; None where nothing came up.
    engine: str | None
    probes_tried: int
    duration_s: float


class Watch:
    """Is told of a check while it goes on; does nothing by itself."""

    def layers(self, layers: Mapping[str, str]) -> None:
        """The first worker has reported its layers."""

    def verdict(self, verdict: Verdict) -> None:
        """A probe was tried."""


def check_tiers(makers: Mapping[str, Callable[[], KernelRunner]] = TIERS) -> list[TierCheck]:
    """Try the quick probes of several tiers, side by side.

    Args:
        makers: By tier, what makes its runner; each runner is closed in the end.

    Returns:
        A check per tier, in the same order. Nothing is raised for a tier that is not to be had: that is its state.
    """
    runners = [make() for make in makers.values()]
    for runner in runners:
        with suppress(SandboxUnavailableError):  # the check will say so
            runner.start()
    with ThreadPoolExecutor(max(len(runners), 1)) as threads:
        return list(threads.map(_check_and_close, runners))


def check_runner(
    runner: Runner, probes: Sequence[Probe] | None = None, watch: Watch | None = None
) -> TierCheck:
    """Try probes against one runner, which may be at work already, and stays the caller's to close.

    Args:
        runner: Of a tier that has probes.
        probes: To be tried one after the other; unless given, the quick ones of its tier, side by side.
        watch: Is told what happens while it happens.

    Returns:
        What came of it. Nothing is raised for a sandbox that is not to be had.
    """
    began_s = time.monotonic()
    watch = watch or Watch()
    try:
        check = SelfCheck(runner)
    except SandboxUnavailableError as error:
        watch.layers(_layers(runner))
        return _tier_check(runner, Unavailable(str(error)), 0, began_s)
    with closing(check):
        watch.layers(_layers(runner))
        tried, through = 0, list[str]()
        quick = check.suite.quick
        verdicts = (
            check.try_all(quick, at_once=len(quick)) if probes is None else check.try_all(probes)
        )
        for verdict in verdicts:
            tried += 1
            if not verdict.passed:
                through.append(verdict.probe.name)
            watch.verdict(verdict)
    state = Breached(tuple(through)) if through else Available()
    return _tier_check(runner, state, tried, began_s)


def _check_and_close(runner: KernelRunner) -> TierCheck:
    try:
        return check_runner(runner)
    finally:
        runner.close()


def _tier_check(
    runner: Runner, state: Available | Unavailable | Breached, tried: int, began_s: float
) -> TierCheck:
    report = runner.report()
    return TierCheck(
        tier=runner.tier,
        state=state,
        layers=_layers(runner),
        engine=None if report is None else report.engine,
        probes_tried=tried,
        duration_s=time.monotonic() - began_s,
    )


def _layers(runner: Runner) -> dict[str, str]:
    return runner.layers() if isinstance(runner, KernelRunner) else {}
