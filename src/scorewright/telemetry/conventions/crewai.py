"""CrewAI: a crew's inputs and tasks and an agent's role, which its spans carry beside another convention's attributes."""

from __future__ import annotations

from functools import partial
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import text, value
from scorewright.telemetry.container import container
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts
from scorewright.telemetry.tool_definitions import read_tools

#: An agent's instructions come in these parts; OpenLLMetry and OpenInference name them differently.
_PARTS: Final = ("role", "backstory", "goal")


def read(span: RawSpan) -> SpanFacts | None:
    """Read what a crew was asked, by its inputs or else its tasks, and what an agent was told to be."""
    attributes = span.attributes
    inputs = _parsed(attributes.get("crew_inputs"))
    asked: JsonValue = inputs if isinstance(inputs, dict) and inputs else None
    if asked is None:
        asked = _descriptions(_parsed(attributes.get("crew_tasks")))
    told = _instructions(attributes)
    tools = value(attributes, "crewai.agent.tools", "agent.tools")
    if asked is None and told is None and tools is None:
        return None
    return SpanFacts(
        input_value=asked,
        system_prompt=told,
        available_tools=None if tools is None else partial(read_tools, tools),
    )


def _instructions(attributes: JsonObject) -> str | None:
    parts = [text(attributes, f"crewai.agent.{part}", f"agent.{part}") for part in _PARTS]
    return "\n".join(part for part in parts if part is not None) or None


def _parsed(raw: JsonValue) -> JsonValue:
    return container(raw) if isinstance(raw, str) else raw


def _descriptions(tasks: JsonValue) -> str | None:
    found = [
        task["description"]
        for task in (tasks if isinstance(tasks, list) else ())
        if isinstance(task, dict) and isinstance(task.get("description"), str)
    ]
    return "\n\n".join(map(str, found)) or None


CONVENTION: Final = Convention(
    "crewai", frozenset({"crew_inputs", "crew_tasks", "crewai", "agent"}), read
)
