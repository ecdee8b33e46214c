"""Each way of writing facts into spans, one module each; the order decides.

A fact comes from the first convention in the list that has it: what a framework says of itself goes before
what a general convention says of the same span.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from scorewright.telemetry.conventions import (
    agenta,
    crewai,
    deployment,
    genai,
    http,
    langfuse,
    langsmith,
    loongsuite,
    mlflow,
    openinference,
    openlit,
    openllmetry,
    pydantic_ai,
    strands,
    vector_stores,
    vercel,
)
from scorewright.telemetry.frameworks import framework_of
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts

CONVENTIONS: Final[tuple[Convention, ...]] = (
    agenta.CONVENTION,
    vercel.CONVENTION,
    openinference.CONVENTION,
    langsmith.CONVENTION,
    mlflow.CONVENTION,
    pydantic_ai.CONVENTION,
    crewai.CONVENTION,
    loongsuite.CONVENTION,
    strands.CONVENTION,
    openlit.CONVENTION,
    openllmetry.CONVENTION,
    vector_stores.CONVENTION,
    genai.CONVENTION,
    langfuse.CONVENTION,
    deployment.CONVENTION,
    http.CONVENTION,
)


_NAMESPACES: Final = frozenset[str]().union(*(one.namespaces for one in CONVENTIONS))


class Namespaces(dict[str, str]):
    """What names start with, remembered: a few hundred names occur, each in many spans."""

    MAX_NAMES: Final = 4096
    MAX_CHARS: Final = 200

    def __init__(self, known: frozenset[str]) -> None:
        """Tell apart the known namespaces; all others are the empty one."""
        super().__init__()
        self._known = known

    def __missing__(self, name: str) -> str:
        """Find a name's namespace for the first time."""
        space = name.partition(".")[0]
        space = space if space in self._known else ""
        if len(name) <= self.MAX_CHARS:
            if len(self) >= self.MAX_NAMES:
                self.clear()
            self[name] = space
        return space


_SPACES: Final = Namespaces(_NAMESPACES)


def read_facts(span: RawSpan) -> SpanFacts:
    """Say what a span means, by all the conventions it follows."""
    spaces = {_SPACES[name] for name in span.attributes}
    if span.events:
        spaces.update(_SPACES[event.name] for event in span.events)
    facts: SpanFacts | None = None
    for convention in _candidates(frozenset(spaces)):
        found = convention.read(span)
        if facts is None:
            facts = found
        elif found is not None:
            facts.fill(found)
    facts = SpanFacts() if facts is None else facts
    if facts.framework is None:
        facts.framework = framework_of(span.scope, facts.vendor)
    return facts


@lru_cache(maxsize=1024)
def _candidates(namespaces: frozenset[str]) -> tuple[Convention, ...]:
    """List the conventions that have one of these namespaces; few sets of them occur, each in many spans."""
    return tuple(one for one in CONVENTIONS if not one.namespaces.isdisjoint(namespaces))
