"""What commands read from the environment."""

from __future__ import annotations

import os

from scorewright.domain.errors import UsageError

_RUNNER = "SCOREWRIGHT_RUNNER"
_REQUIRE = "SCOREWRIGHT_RUNNER_REQUIRE"


def runner_name(known: tuple[str, ...]) -> str:
    """Return the runner that is set for every run; `auto` when none is.

    Args:
        known: What there is.

    Raises:
        UsageError: The caller's: it names none, or one that is no sandbox.
    """
    name = os.environ.get(_RUNNER) or "auto"
    allowed = [one for one in known if one != "local"]
    if name == "local":
        raise UsageError(
            f"{_RUNNER}=local: running without a sandbox has to be asked for each time, with --runner local; "
            f"set it to one of {', '.join(allowed)}"
        )
    if name not in known:
        raise UsageError(
            f"{_RUNNER}={name}: there is no such runner; set it to one of {', '.join(allowed)}"
        )
    return name


def required_layers() -> frozenset[str]:
    """Return the layers without which nothing may run, beside the mandatory ones."""
    return frozenset(filter(None, os.environ.get(_REQUIRE, "").split(",")))
