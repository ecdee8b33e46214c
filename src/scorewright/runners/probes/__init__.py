"""The attack probes: hostile evaluators with what has to become of them, run by `runners.selfcheck`.

They ship with the product, so that every operator can see on the machine at hand what the documentation claims.
A new probe is one more entry in its family's module; tests and `scorewright runner check` find it there.
"""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes import (
    files,
    isolation,
    kernel,
    memory,
    network,
    oddities,
    process,
    protocol,
    time_limits,
)
from scorewright.runners.probes.probe import Expect, Probe

ALL: Final[tuple[Probe, ...]] = (
    *time_limits.PROBES,
    *memory.PROBES,
    *process.PROBES,
    *files.PROBES,
    *network.PROBES,
    *kernel.PROBES,
    *protocol.PROBES,
    *isolation.PROBES,
    *oddities.PROBES,
)

#: One of each kind, for a check at start-up: together they take less than half a second.
_QUICK_NAMES = (
    "endless loop",
    "list that grows",
    "fork",
    "kill itself",
    "open a file",
    "stat a file",
    "TCP connection",
    "executable memory",
    "ptrace",
    "forged frame of 4 GB",
    "environment",
)
QUICK: Final[tuple[Probe, ...]] = tuple(probe for probe in ALL if probe.name in _QUICK_NAMES)

__all__ = ["ALL", "QUICK", "Expect", "Probe"]
