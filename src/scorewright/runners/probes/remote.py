"""Probes for sandboxes at a provider: what Scorewright promises of these, and no more.

Inside, code may do what it likes with a machine of its own: fork, write files, read what the provider put there. What
counts is that it ends, that it reaches nobody, that it knows nothing of ours, and that it spoils only its own results.
Each probe takes a sandbox of its own, and whoever pays for it waits: so there are few.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scorewright.runners.probes import python
from scorewright.runners.probes.probe import Expect, Probe

#: A sandbox elsewhere may be slow, and its clock is not this machine's.
_TIMEOUT_S: Final = 2.0
_BY_NAME: Final = {probe.name: probe for probe in python.PROBES}


def _as_there(name: str, expect: Expect) -> Probe:
    return replace(_BY_NAME[name], expect=expect, timeout_s=_TIMEOUT_S)


PROBES: Final[tuple[Probe, ...]] = (
    _as_there("endless loop", Expect.TIMES_OUT),
    _as_there("loop that swallows everything", Expect.TIMES_OUT),
    _as_there("timer disarmed, then a loop", Expect.TIMES_OUT),
    _as_there("loop while loading", Expect.TIMES_OUT),
    _as_there("list that grows", Expect.CONTAINED),
    _as_there("result of 200 MB", Expect.CONTAINED),
    _as_there("print of 150 MB", Expect.HARMLESS),
    _as_there("end at once", Expect.DIES),
    _as_there("abort", Expect.DIES),
    _as_there("exit while loading", Expect.FAILS),
    Probe(
        "a place on the internet",
        "network",
        """\
import socket

def evaluate(x):
    try:
        socket.create_connection(("example.com", 443), 1.5).close()
    except OSError as error:
        return {"score": 0, "explanation": f"refused: {error}"[:200]}
    return {"score": 1, "explanation": "escaped: example.com answered"}
""",
        Expect.CONTAINED,
        timeout_s=_TIMEOUT_S,
    ),
    Probe(
        "keys in the environment",
        "isolation",
        """\
import os, re

def evaluate(x):
    names = [name for name in os.environ if re.search("KEY|TOKEN|SECRET|PASSW|DAYTONA|SCOREWRIGHT", name)]
    if names:
        return {"score": 1, "explanation": f"escaped: {names}"[:200]}
    return {"score": 0, "explanation": "nothing of the kind"}
""",
        Expect.CLEAN,
        timeout_s=_TIMEOUT_S,
    ),
    _as_there("state kept in the module", Expect.CLEAN),
    _as_there("state kept under the module's name", Expect.CLEAN),
    _as_there("built-in functions wrecked", Expect.CONTAINED),
)

#: Few enough to be tried side by side: a provider counts sandboxes.
QUICK: Final = tuple(
    probe
    for probe in PROBES
    if probe.name
    in {"endless loop", "list that grows", "a place on the internet", "keys in the environment"}
)
