"""The attack probes: hostile evaluators with what has to become of them, run by `runners.selfcheck`.

They ship with the product, so that every operator can see on the machine at hand what the documentation claims.
A new probe is one more entry in its family's module (`python` or `script`); tests and `scorewright runner check` find
it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from scorewright.domain.source_language import Language
from scorewright.runners.probes import python, remote, script
from scorewright.runners.probes.probe import Expect, Probe


@dataclass(frozen=True, slots=True)
class Suite:
    """What a tier is attacked with."""

    #: What the neighbour is written in that lives beside the probes.
    language: Language
    probes: tuple[Probe, ...]
    #: One of each dangerous kind, for a check at start-up: together they take a fraction of a second.
    quick: tuple[Probe, ...]
    #: What a probe may take on top of its items' time limits: starting, ending, a machine under load.
    patience_s: float = 15.0


def judged_by_escape(probes: Iterable[Probe]) -> tuple[Probe, ...]:
    """Return the same probes, for a tier that ends many of them in other ways.

    All that counts then is that nothing escaped, and that the neighbour is well.
    """
    return tuple(replace(probe, expect=Expect.HARMLESS) for probe in probes)


SUITES: Final[Mapping[str, Suite]] = {
    "jail": Suite("python", python.PROBES, python.QUICK),
    # Its language policy refuses many of them before they do anything.
    "restricted": Suite("python", judged_by_escape(python.PROBES), judged_by_escape(python.QUICK)),
    "deno": Suite("javascript", script.PROBES, script.QUICK),
    # A sandbox may take a minute to come up.
    "remote": Suite("python", remote.PROBES, remote.QUICK, patience_s=180.0),
}
"""By tier. A tier that is not here cannot be checked."""
