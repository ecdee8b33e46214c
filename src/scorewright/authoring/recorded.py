"""Recorded traces in the form the agenta seed documents, read into a `Trace`.

Whatever is not in that form is left out; nothing here raises for a malformed trace. The tree is
walked with a stack of our own, as its depth is up to whoever recorded it.
"""

from __future__ import annotations

from scorewright.authoring.lenient import as_object, as_objects, as_str, parse_object
from scorewright.authoring.metrics import TokenUsage, TraceMetrics
from scorewright.authoring.recorded_span import Node, make_span
from scorewright.authoring.trace import Trace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    #: A span, its id where it has one, and its parent's index and id.
    _Waiting: TypeAlias = tuple[dict[str, Any], str | None, int, str | None]


def read_trace(recorded: Any) -> Trace | None:
    """Read a recorded trace.

    Args:
        recorded: The trace as an object, or as its JSON text.

    Returns:
        The trace, its root first and every span before the spans below it; None when `recorded` holds
        no span at all.
    """
    document = parse_object(recorded)
    nodes = list(_walk(document))
    if not nodes:
        return None
    root = nodes[0]
    return Trace(
        as_str(document.get("trace_id")) or "",
        input=root.data.get("inputs"),
        output=root.data.get("outputs"),
        spans=[make_span(node) for node in nodes],
        metrics=_measure(nodes),
        timestamp=root.start_time,
        session_id=as_str(document.get("session_id", root.part("session").get("id"))),
    )


def _walk(document: dict[str, Any]) -> Iterator[Node]:
    """Give the spans, each before its children and after its elder siblings' children."""
    top: list[_Waiting] = [(entry, key, -1, None) for key, entry in _entries(document.get("spans"))]
    waiting = top[::-1]
    number = 0
    while waiting:
        entry, key, parent, parent_span_id = waiting.pop()
        span_id = key or f"span-{number}"
        yield Node(entry, span_id, parent=parent, parent_span_id=parent_span_id)
        children = _entries(entry.get("children"))
        waiting.extend((child, key, number, span_id) for key, child in reversed(children))
        number += 1


def _entries(spans: Any) -> list[tuple[str | None, dict[str, Any]]]:
    """List spans with their ids, whether they came as an object by id or as a list."""
    if isinstance(spans, list):
        return [(as_str(entry.get("span_id")), entry) for entry in as_objects(spans)]
    return [(key, entry) for key, entry in as_object(spans).items() if isinstance(entry, dict)]


def _measure(nodes: list[Node]) -> TraceMetrics:
    return TraceMetrics(
        nodes[0].duration_ms,
        token_usage=_sum_tokens(_leaf_most(nodes, [node.token_usage for node in nodes])),
        error_count=sum(node.is_error for node in nodes),
        cost_usd=_sum(_leaf_most(nodes, [node.cost_usd for node in nodes])),
    )


def _leaf_most(nodes: list[Node], values: list[Any]) -> list[Any]:
    """Pick the values of spans below which no other span has one: a wrapper repeats its children.

    Source: contracts §7, rule 1.
    """
    covered = [False] * len(nodes)
    found: list[Any] = []
    for number in range(len(nodes) - 1, -1, -1):
        value, parent = values[number], nodes[number].parent
        if value is not None and not covered[number]:
            found.append(value)
        if parent >= 0 and (value is not None or covered[number]):
            covered[parent] = True
    return found


def _sum_tokens(usages: list[TokenUsage]) -> TokenUsage | None:
    if not usages:
        return None
    return TokenUsage(
        _sum([usage.input_tokens for usage in usages]),
        _sum([usage.output_tokens for usage in usages]),
        total_tokens=_sum([usage.total_tokens for usage in usages]),
    )


def _sum(values: list[Any]) -> Any:
    """Add up what is known; None when nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
