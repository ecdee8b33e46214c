"""Tools that a row says were offered to the model, as the APIs of OpenAI, Anthropic and ATIF write them."""

from __future__ import annotations

from collections.abc import Iterator

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.attribute_values import text, value
from scorewright.telemetry.span_facts import ToolDefinition
from scorewright.telemetry.trajectories.amounts import object_in


def tools_of(raw: JsonValue) -> tuple[ToolDefinition, ...] | None:
    """Read a list of definitions; None when there is none."""
    return tuple(_tools(raw)) if isinstance(raw, list) else None


def _tools(raw: list[JsonValue]) -> Iterator[ToolDefinition]:
    for item in raw:
        outer = item if isinstance(item, dict) else {}
        body = object_in(outer, "function") or outer
        name = text(body, "name") or text(body, "type")
        if name is not None:
            schema = value(body, "parameters", "input_schema", "inputSchema")
            parameters = schema if isinstance(schema, dict) else {}
            yield ToolDefinition(name, text(body, "description"), parameters)
