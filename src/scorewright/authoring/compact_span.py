"""Spans, messages and tools out of an item of a trace source.

Such an item was made by the platform: its shape is trusted, and what is unknown is absent or null.
"""

from __future__ import annotations

from scorewright.authoring.lenient import as_time
from scorewright.authoring.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from scorewright.authoring.metrics import AgentMetrics, LLMMetrics, SpanMetrics, make_usage
from scorewright.authoring.spans import (
    AgentSpan,
    ChainSpan,
    LLMSpan,
    RetrievedDocument,
    RetrieverSpan,
    Span,
    ToolSpan,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def make_spans(compact: list[dict[str, Any]]) -> list[Span]:
    """Make the authoring objects of an item's spans, in their order."""
    ids: list[str] = [span["span_id"] for span in compact]
    return [
        _MAKERS.get(span["kind"], _chain_span)(span, _place(span, ids), _outcome(span))
        for span in compact
    ]


def make_messages(recorded: list[dict[str, Any]] | None) -> list[Message]:
    """Make messages."""
    return [_message(one) for one in recorded or ()]


def make_tool_calls(recorded: list[dict[str, Any]] | None) -> list[ToolCall]:
    """Make the calls that a model wanted."""
    return [
        ToolCall(one.get("id"), one["name"], arguments=one["arguments"]) for one in recorded or ()
    ]


def make_tools(recorded: list[dict[str, Any]] | None) -> list[ToolDefinition]:
    """Make definitions of tools."""
    return [
        ToolDefinition(one["name"], one.get("description"), parameters=one.get("parameters"))
        for one in recorded or ()
    ]


def _place(span: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    parent: int = span["parent"]
    return {
        "span_id": span["span_id"],
        "name": span["name"],
        "parent_span_id": ids[parent] if parent >= 0 else None,
        "start_time": as_time(span["start_time"]),
    }


def _outcome(span: dict[str, Any]) -> dict[str, Any]:
    return {
        "duration_ms": span["duration_ms"],
        "error": span["status"] == "ERROR" or "error" in span,
        "error_type": span.get("error_type"),
        "error_message": span.get("error"),
    }


def _chain_span(_: dict[str, Any], place: dict[str, Any], outcome: dict[str, Any]) -> Span:
    return ChainSpan(**place, metrics=SpanMetrics(**outcome))


def _llm_span(span: dict[str, Any], place: dict[str, Any], outcome: dict[str, Any]) -> Span:
    return LLMSpan(
        **place,
        input=make_messages(span.get("messages")),
        output=span.get("output"),
        available_tools=make_tools(span.get("available_tools")),
        model=span.get("model"),
        vendor=span.get("vendor"),
        temperature=span.get("temperature"),
        metrics=LLMMetrics(
            **outcome,
            token_usage=make_usage(span.get("tokens")),
            time_to_first_token_ms=span.get("time_to_first_token_ms"),
            cost_usd=span.get("cost_usd"),
        ),
    )


def _tool_span(span: dict[str, Any], place: dict[str, Any], outcome: dict[str, Any]) -> Span:
    place["name"] = span.get("tool") or place["name"]
    return ToolSpan(
        **place,
        arguments=span.get("arguments"),
        result=span.get("result"),
        tool_call_id=span.get("call_id"),
        metrics=SpanMetrics(**outcome),
    )


def _retriever_span(span: dict[str, Any], place: dict[str, Any], outcome: dict[str, Any]) -> Span:
    found: list[dict[str, Any]] = span.get("documents") or []
    return RetrieverSpan(
        **place,
        query=span.get("query"),
        documents=[
            RetrievedDocument(one.get("id"), one.get("content"), score=one.get("score"))
            for one in found
        ],
        vector_db=span.get("vector_db"),
        top_k=span.get("top_k"),
        metrics=SpanMetrics(**outcome),
    )


def _agent_span(span: dict[str, Any], place: dict[str, Any], outcome: dict[str, Any]) -> Span:
    place["name"] = span.get("agent") or place["name"]
    return AgentSpan(
        **place,
        framework=span.get("framework"),
        model=span.get("model"),
        system_prompt=span.get("system_prompt"),
        available_tools=make_tools(span.get("available_tools")),
        input=span.get("input"),
        output=span.get("output"),
        metrics=AgentMetrics(
            **outcome,
            token_usage=make_usage(span.get("subtree_tokens", span.get("tokens"))),
            cost_usd=span.get("subtree_cost_usd", span.get("cost_usd")),
        ),
    )


#: All other kinds are steps of the application.
_MAKERS: dict[str, Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], Span]] = {
    "llm": _llm_span,
    "tool": _tool_span,
    "retriever": _retriever_span,
    "agent": _agent_span,
}


def _message(recorded: dict[str, Any]) -> Message:
    content: str = recorded["content"]
    match recorded["role"]:
        case "system":
            return SystemMessage(content)
        case "assistant":
            return AssistantMessage(content, tool_calls=make_tool_calls(recorded.get("tool_calls")))
        case "tool":
            return ToolMessage(content, tool_call_id=recorded.get("tool_call_id"))
        case _:
            return UserMessage(content)
