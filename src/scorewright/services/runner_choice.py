"""Which runner executes a run."""

from __future__ import annotations

from scorewright.domain.errors import UsageError
from scorewright.runners.base import Runner
from scorewright.runners.jail.launch import LaunchedZygote

RUNNERS = ("auto", "jail", "local")


def choose_runner(
    name: str,
    *,
    required_layers: frozenset[str] = frozenset(),
    launched: LaunchedZygote | None = None,
) -> Runner:
    """Return a runner by name; `auto` is the strongest one this machine has, never `local`.

    Args:
        name: One of `RUNNERS`.
        required_layers: Layers without which nothing may run, beside the mandatory ones.
        launched: A zygote that is booting already, for the jail.

    Raises:
        UsageError: No runner has this name.
        SandboxUnavailableError: Later, from `spawn`, when this machine cannot offer it.
    """
    if name in ("auto", "jail"):
        from scorewright.runners.jail.supervisor import JailRunner

        return JailRunner(required=required_layers, launched=launched)
    if name == "local":
        from scorewright.runners.local import LocalRunner

        return LocalRunner()
    raise UsageError(f"--runner {name}: there is no such runner; use one of {', '.join(RUNNERS)}")
