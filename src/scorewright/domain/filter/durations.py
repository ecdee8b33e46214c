"""Which unit a field counts time in: its name says so. A duration is compared in that unit."""

from __future__ import annotations

from typing import Final

from scorewright.domain.binding import Path
from scorewright.domain.filter.constant import UNITS_NS

_UNIT_OF_ENDING: Final = {
    "ns": UNITS_NS["ns"],
    "us": UNITS_NS["us"],
    "ms": UNITS_NS["ms"],
    "s": UNITS_NS["s"],
    "min": UNITS_NS["m"],
    "h": UNITS_NS["h"],
}


def unit_ns(path: Path) -> int:
    """Return the nanoseconds of a field's unit, which `latency_ms` has at its end.

    Raises:
        ValueError: The name says none.
    """
    names = [step for step in path if isinstance(step, str)]
    _, underscore, ending = names[-1].rpartition("_")
    if not underscore or ending not in _UNIT_OF_ENDING:
        endings = ", ".join(f"_{one}" for one in _UNIT_OF_ENDING)
        raise ValueError(
            f"the field's name does not end in its unit ({endings}); compare it with a plain number"
        )
    return _UNIT_OF_ENDING[ending]
