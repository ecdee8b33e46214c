"""Tools that were offered to a model or an agent, whichever library wrote them down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import text, unfold, value
from scorewright.telemetry.container import container
from scorewright.telemetry.span_facts import ToolDefinition

#: What a definition is wrapped in, from the outside, and what an object has that holds one.
_LAYERS: Final = ("tool", "json_schema", "function", "toolSpec")
_NAMING: Final = frozenset({"name", *_LAYERS})
_SCHEMAS: Final = (
    "parameters",
    "inputSchema",
    "input_schema",
    "parameters_json_schema",
    "json_schema",
)


def read_tools(raw: JsonValue) -> tuple[ToolDefinition, ...]:
    """Read definitions from a list, a single one, or the JSON text of these; a bare text is a tool's name."""
    return tuple(tool for item in _listed(raw) for tool in _tools_of(item))


def unfolded_tools(attributes: JsonObject, prefix: str) -> tuple[ToolDefinition, ...]:
    """Read definitions from the dotted attributes under a prefix."""
    return read_tools(unfold(attributes, prefix))


def _listed(raw: JsonValue) -> list[JsonValue]:
    raw = _parsed(raw)
    return raw if isinstance(raw, list) else [raw]


def _parsed(raw: JsonValue) -> JsonValue:
    found = container(raw) if isinstance(raw, str) else None
    return raw if found is None else found


def _tools_of(item: JsonValue) -> Iterator[ToolDefinition]:
    item = _parsed(item)
    if isinstance(item, str):
        if item:
            yield ToolDefinition(item)
    elif isinstance(item, dict):
        grouped = value(item, "functionDeclarations", "function_declarations")
        for body in grouped if isinstance(grouped, list) else [item]:
            tool = _tool(body) if isinstance(body, dict) else None
            if tool is not None:
                yield tool


def _tool(item: JsonObject) -> ToolDefinition | None:
    """Read one definition, which may stand a level or two further in."""
    for name in _LAYERS:
        inner = _parsed(item.get(name))
        if isinstance(inner, dict) and not _NAMING.isdisjoint(inner):
            item = inner
    name = text(item, "name")
    if name is None:
        return None
    schema = _parsed(value(item, *_SCHEMAS))
    if isinstance(schema, dict) and isinstance(schema.get("json"), dict) and len(schema) == 1:
        schema = schema["json"]
    return ToolDefinition(
        name, text(item, "description"), schema if isinstance(schema, dict) else {}
    )
