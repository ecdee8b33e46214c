"""How deep items look into agents within agents, or model calls within model calls.

The item of each holds what stands below its span. Without an end to that, a trace of some thousand agents, each
inside the other, would make items of gigabytes out of a file of a megabyte.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from scorewright.telemetry.assembly import Trace, agent_calls_of, model_calls_of

#: Levels of agents in an agent's item, or of model calls in a model call's; what lies deeper is left out.
MAX_LEVELS: Final = 8


class Nesting:
    """By position, inside how many of the spans that have items of their own a span lies, itself included."""

    def __init__(self, parents: Sequence[int], tops: Collection[int]) -> None:
        levels: list[int] = []
        for position, parent in enumerate(parents):
            around = levels[parent] if parent >= 0 else 0
            levels.append(around + (position in tops))
        self._levels: Final = levels

    def is_too_deep(self, position: int, top: int) -> bool:
        """Tell whether the item of the span at `top` leaves out one below it."""
        return self._levels[position] - self._levels[top] > MAX_LEVELS

    @property
    def is_any_too_deep(self) -> bool:
        """Whether some item leaves something out."""
        return max(self._levels) > MAX_LEVELS + 1


def notices_of_items(trace: Trace) -> Iterator[str]:
    """Tell what the items of a trace leave out."""
    for what, tops in (("agents", agent_calls_of(trace)), ("model calls", model_calls_of(trace))):
        if Nesting(trace.tree.parents, frozenset(tops)).is_any_too_deep:
            yield f"{what} are nested too deep: the item of each holds {MAX_LEVELS} levels of them, and counts the spans left out"
