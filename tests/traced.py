"""Traces for tests that run evaluators over them: an agent that asks a model, calls a tool, and asks again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: 2026-01-01T00:00:00Z.
BEGAN_NS = 1_767_225_600_000_000_000
_MS = 1_000_000


def attributes(values: Mapping[str, Any]) -> list[dict[str, Any]]:
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return [{"key": key, "value": {kinds[type(one)]: one}} for key, one in values.items()]


def span(
    trace: int,
    number: int,
    name: str,
    parent: int = 0,
    values: Mapping[str, Any] | None = None,
    *,
    ms: float = 10,
    failed: bool = False,
) -> dict[str, Any]:
    """Make a span; traces lie a minute apart, spans a millisecond."""
    start = BEGAN_NS + trace * 60_000 * _MS + number * _MS
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{trace * 100 + number:016x}",
        "parentSpanId": f"{trace * 100 + parent:016x}" if parent else "",
        "name": name,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + int(ms * _MS)),
        "status": {"code": 2} if failed else {},
        "attributes": attributes(values or {}),
    }


def said(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def model_call(
    trace: int, number: int, parent: int, *, asked: str, answered: str, tokens: int = 10
) -> dict[str, Any]:
    values = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-test",
        "gen_ai.input.messages": json.dumps([said("system", "Be kind."), said("user", asked)]),
        "gen_ai.output.messages": json.dumps([said("assistant", answered)]),
        "gen_ai.usage.input_tokens": tokens,
        "gen_ai.usage.output_tokens": 5,
    }
    return span(trace, number, "chat gpt-test", parent, values)


def tool_call(
    trace: int, number: int, parent: int, *, name: str = "search", failed: bool = False
) -> dict[str, Any]:
    values = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.arguments": '{"q": "boots"}',
        "gen_ai.tool.call.result": '["red boots"]',
    }
    return span(trace, number, f"execute_tool {name}", parent, values, failed=failed)


def agent_trace(
    trace: int, *, asked: str = "Which boots?", answered: str = "The red ones.", **root: Any
) -> list[dict[str, Any]]:
    """Make a trace of an agent with two model calls and a tool call between them.

    Args:
        trace: Its number; it begins that many minutes after the first.
        asked: The question.
        answered: The answer; without any, the last model call says nothing.
        root: Further attributes of the root.
    """
    ms = float(root.pop("ms", 40))
    values = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "seller",
        "gen_ai.input.messages": json.dumps([said("user", asked)]),
        **root,
    }
    if answered:
        values["gen_ai.output.messages"] = json.dumps([said("assistant", answered)])
    return [
        span(trace, 1, "invoke_agent seller", 0, values, ms=ms),
        model_call(trace, 2, 1, asked=asked, answered="I look."),
        tool_call(trace, 3, 1),
        model_call(trace, 4, 1, asked=asked, answered=answered),
    ]


def request(
    spans: Iterable[Mapping[str, Any]], *, resource: Mapping[str, Any] | None = None
) -> str:
    """Write spans as one export request, in one line."""
    block: dict[str, Any] = {
        "resource": {"attributes": attributes(resource or {})},
        "scopeSpans": [{"spans": list(spans)}],
    }
    return json.dumps({"resourceSpans": [block]})


def export(*traces: Sequence[Mapping[str, Any]]) -> str:
    """Write traces as a collector's file exporter does: one request a line."""
    return "".join(f"{request(trace)}\n" for trace in traces)
