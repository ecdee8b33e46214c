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

#: One of each dangerous kind, in a hurry: last those that keep a processor from starting the others.
QUICK: Final = hurried(
    PROBES,
    "everything that can be reached",
    "import of node:fs",
    "every permission is given",
    "open a file",
    "TCP connection",
    "fork by the C library",
    "ptrace",
    "error of a forged line",
    "typed arrays that grow",
    "endless loop",
)
