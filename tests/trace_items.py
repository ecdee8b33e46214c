"""Items of trace sources, as tests write them: the members that matter to them, in the platform's own form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

TRACE_ID = "31d6cfe04b9011ec800142010a800042"
_HEAVY = frozenset(
    "tool_context agent_trajectory rag_context rag_retrieval_queries rag_retrieval_documents rag_llm_output attributes".split()
)
_METRICS: dict[str, Any] = {
    "total_duration_ms": None,
    "token_usage": None,
    "cost_usd": None,
    "error_count": 0,
    "has_errors": False,
    "span_count": 0,
    "llm_call_count": 0,
    "tool_call_count": 0,
}


def a_span(span_id: str, parent: int = -1, kind: str = "span", **known: Any) -> dict[str, Any]:
    """Make a compact span."""
    return {
        "span_id": span_id,
        "parent": parent,
        "name": f"name of {span_id}",
        "kind": kind,
        "start_time": "2026-01-02T03:04:05.123456Z",
        "end_time": "2026-01-02T03:04:06.123456Z",
        "duration_ms": 1000.0,
        "status": "UNSET",
        **known,
        "attributes": known.get("attributes", {}),
    }


def an_item(
    spans: Sequence[dict[str, Any]] = (),
    *,
    trace: dict[str, Any] | None = None,
    metrics: dict[str, Any] | None = None,
    **members: Any,
) -> dict[str, Any]:
    """Make a decoded item: `agent`, `llm`, `trajectory` and `session` are further members."""
    known: dict[str, Any] = {
        "trace_id": TRACE_ID,
        "name": "root",
        "start_time": "2026-01-02T03:04:05.123456Z",
        "end_time": "2026-01-02T03:04:06.123456Z",
        "input": None,
        "output": None,
        "status": "UNSET",
        "models": [],
        "agents": [],
        "service": None,
        "environment": None,
        **(trace or {}),
    }
    heavy = {name: known.pop(name) for name in list(known) if name in _HEAVY}
    light = {name: members.pop(name) for name in ("agent", "llm") if name in members}
    return {
        "head": 0,
        "traceId": TRACE_ID,
        "session": members.pop("session", {"id": None}),
        **light,
        "trace": {**known, "metrics": {**_METRICS, **(metrics or {})}, "attributes": {}, **heavy},
        **members,
        "spans": list(spans),
    }


def encode_item(item: dict[str, Any]) -> bytes:
    """Write an item as its source does: with the length of its light part at the head."""
    trace = item["trace"]
    light_trace = {name: value for name, value in trace.items() if name not in _HEAVY}
    light = {
        name: item[name] for name in ("traceId", "session", "agent", "llm") if name in item
    } | {"trace": light_trace}
    head = b'{"head":%10d,'
    start = head % 0 + _dump(light)[1:-2]
    rest_of_trace = {name: value for name, value in trace.items() if name in _HEAVY}
    rest = {name: value for name, value in item.items() if name not in light and name != "head"}
    written = head % len(start) + _dump(light)[1:-2] + b"," + _dump(rest_of_trace)[1:]
    return written + b"," + _dump(rest)[1:]


def _dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


TOKENS = {
    "input_tokens": 50,
    "output_tokens": 20,
    "total_tokens": 70,
    "cache_read_tokens": None,
}
#: As `traces inspect` reads case 042, which the documented shape (case 057) was made from.
CAPITAL = [
    a_span(
        "31d6cfe04b901142",
        kind="chain",
        name="capital_app",
        status="OK",
        duration_ms=2500.0,
        input={"country": "France", "correct_answer": "Paris"},
        output="The capital is Paris",
        tokens=TOKENS,
        subtree_tokens=TOKENS,
        cost_usd=0.001,
        subtree_cost_usd=0.001,
        ag={
            "type": {"trace": "invocation", "span": "workflow"},
            "data": {
                "inputs": {"country": "France", "correct_answer": "Paris"},
                "outputs": {"content": "no", "__default__": "The capital is Paris"},
                "parameters": {"temperature": 0.2},
            },
            "metrics": {
                "unit": {
                    "tokens": {"prompt": 50, "completion": 20, "total": 70},
                    "costs": {"total": 0.001},
                }
            },
            "refs": {"application": {"id": "0190-app"}},
        },
        attributes={"service": "x"},
    ),
    a_span(
        "b",
        0,
        "retriever",
        name="retrieve",
        status="OK",
        duration_ms=300.0,
        query="capital of France",
        ag={"type": {"span": "query"}, "data": {"inputs": {"query": "capital of France"}}},
        documents=[{"id": None, "content": "Paris is the capital of France.", "score": None}],
    ),
    a_span(
        "c",
        0,
        "llm",
        name="chat gpt-4o-mini",
        status="OK",
        duration_ms=1950.0,
        tokens=TOKENS,
        cost_usd=0.001,
        output="The capital is Paris",
        ag={
            "type": {"span": "chat"},
            "data": {
                "inputs": {"prompt": [{"role": "user", "content": "Capital of France?"}]},
                "outputs": {"completion": [{"role": "assistant", "content": "Paris"}]},
            },
        },
    ),
]
