"""Which runner executes a run."""

from __future__ import annotations

from scorewright.domain.errors import UsageError
from scorewright.domain.suggestion import did_you_mean
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
        UsageError: No runner or layer has this name, or layers are required where there is none.
        SandboxUnavailableError: Later, from `spawn`, when this machine cannot offer it.
    """
    if name in ("auto", "jail"):
        from scorewright.runners.jail.supervisor import JailRunner

        return JailRunner(required=_known(required_layers), launched=launched)
    if name == "local":
        if required_layers:
            layers = ", ".join(sorted(required_layers))
            raise UsageError(f"runner local has no layers, but these are required: {layers}")
        from scorewright.runners.local import LocalRunner

        return LocalRunner()
    raise UsageError(f"there is no runner {name!r}; use one of {', '.join(RUNNERS)}")


def _known(names: frozenset[str]) -> frozenset[str]:
    from scorewright.runners.jail.layers import PURPOSES

    stripped = frozenset(name.strip() for name in names)
    for name in sorted(stripped - PURPOSES.keys()):
        near = did_you_mean(name, PURPOSES)
        raise UsageError(f"there is no layer {name!r}{near}; there are {', '.join(PURPOSES)}")
    return stripped
