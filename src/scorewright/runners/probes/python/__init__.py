"""Probes in Python: what hostile evaluators try in the jail."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import Probe, hurried
from scorewright.runners.probes.python import (
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

PROBES: Final[tuple[Probe, ...]] = (
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

#: One of each dangerous kind, in a hurry.
QUICK: Final = hurried(
    PROBES,
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
