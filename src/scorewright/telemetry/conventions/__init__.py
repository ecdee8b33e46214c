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


def read_facts(span: RawSpan) -> SpanFacts:
    """Say what a span means, by all the conventions it follows."""
    names = [name.partition(".")[0] for name in span.attributes]
    if span.events:
        names.extend(event.name.partition(".")[0] for event in span.events)
    facts: SpanFacts | None = None
    for convention in _candidates(_NAMESPACES.intersection(names)):
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
