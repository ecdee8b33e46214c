"""OpenTelemetry's name of the place that an application runs in, where a span carries it itself."""

from __future__ import annotations

from typing import Final

from scorewright.telemetry.attribute_values import text
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts


def read(span: RawSpan) -> SpanFacts | None:
    """Read the environment, by its name of today or the one before."""
    found = text(span.attributes, "deployment.environment.name", "deployment.environment")
    return None if found is None else SpanFacts(environment=found)


CONVENTION: Final = Convention("deployment", frozenset({"deployment"}), read)
