"""CrewAI: a crew's inputs and tasks, which its spans carry beside another convention's attributes."""

from __future__ import annotations

from typing import Final

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.container import container
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts


def read(span: RawSpan) -> SpanFacts | None:
    """Read what a crew was asked: its inputs, or else what its tasks say."""
    attributes = span.attributes
    inputs = _parsed(attributes.get("crew_inputs"))
    asked: JsonValue = inputs if isinstance(inputs, dict) and inputs else None
    if asked is None:
        asked = _descriptions(_parsed(attributes.get("crew_tasks")))
    return None if asked is None else SpanFacts(input_value=asked)


def _parsed(raw: JsonValue) -> JsonValue:
    return container(raw) if isinstance(raw, str) else raw


def _descriptions(tasks: JsonValue) -> str | None:
    found = [
        task["description"]
        for task in (tasks if isinstance(tasks, list) else ())
        if isinstance(task, dict) and isinstance(task.get("description"), str)
    ]
    return "\n\n".join(map(str, found)) or None


CONVENTION: Final = Convention("crewai", frozenset({"crew_inputs", "crew_tasks"}), read)
