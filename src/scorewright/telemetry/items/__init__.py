"""What one call of an evaluator sees of a trace: a JSON object, made here once and read inside the sandbox.

Its members stand in `members`. A number of the object's own, `head`, tells how many bytes of it are the light
members, so that a reader who wants only these need not scan the rest.
"""

from scorewright.telemetry.items.compact import compact_spans
from scorewright.telemetry.items.item import (
    ItemsOfTrace,
    agent_items,
    conversation_item,
    llm_items,
    trace_item,
)
from scorewright.telemetry.items.nesting import notices_of_items
from scorewright.telemetry.items.steps import steps_of

__all__ = [
    "ItemsOfTrace",
    "agent_items",
    "compact_spans",
    "conversation_item",
    "llm_items",
    "notices_of_items",
    "steps_of",
    "trace_item",
]
