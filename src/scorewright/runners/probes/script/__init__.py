"""Probes in JavaScript and TypeScript: what hostile evaluators try in Deno, and what Deno's kernel layers refuse by themselves."""

from __future__ import annotations

from typing import Final

from scorewright.runners.probes.probe import Probe, hurried
from scorewright.runners.probes.script import (
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
    "typed arrays that grow",
    "import of node:fs",
    "every permission is given",
    "open a file",
    "TCP connection",
    "fork by the C library",
    "ptrace",
    "error of a forged line",
    "everything that can be reached",
)
