"""`Trace`, `AgentTrace` and `LLMSpan` out of an item of a trace source.

Most evaluators look at a few fields of a trace and never at its spans. So an object is given what it
needs to make each field, and makes it when it is first asked for: spans and steps cost nothing before.
"""

from __future__ import annotations

from scorewright.authoring.agent_trace import AgentTrace
from scorewright.authoring.compact_span import (
    make_messages,
    make_spans,
    make_tool_calls,
    make_tools,
)
from scorewright.authoring.lenient import as_time
from scorewright.authoring.metrics import AgentMetrics, LLMMetrics, make_usage
from scorewright.authoring.spans import LLMSpan, ToolSpan
from scorewright.authoring.steps import LLMReasoning, ToolExecution, UserInput
from scorewright.authoring.trace import Trace, tell_tools
from scorewright.authoring.value import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from scorewright.authoring.spans import Span
    from scorewright.authoring.steps import Step
    from scorewright.authoring.value import Makers

    Item: TypeAlias = dict[str, Any]
    Whole: TypeAlias = Callable[[], dict[str, Any]]


_new = object.__new__


def trace_from_item(item: Item, whole: Whole) -> Trace:
    """Make the trace that a trace-level evaluator sees.

    Args:
        item: The decoded item; `trace` with its light members is enough.
        whole: Gives the whole decoded item; called at most once, when the spans are first asked for.
    """
    if "agent" in item:
        document = whole()
        return trace_from_item(_part_of_agent(item, document), lambda: document)
    trace = _new(Trace)
    told: dict[str, Any] = item["trace"]
    # To call what would put these in place takes as long as all that is done here.
    trace._parts = (_TRACE, item, whole)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - not for authors
    trace._metrics = told["metrics"]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - as above
    # To put a text in place takes less than to be asked for it.
    asked, answered = told["input"], told["output"]
    if isinstance(asked, str) or asked is None:
        trace.input = asked
    if isinstance(answered, str) or answered is None:
        trace.output = answered
    return trace


def _part_of_agent(item: Item, document: Item) -> Item:
    """Make an item of the agent's part of a trace, which tells of that part alone."""
    agent, spans = item["agent"], document["spans"]
    metrics: dict[str, Any] = agent["metrics"]
    return {
        "traceId": item.get("traceId"),
        "session": item["session"],
        "trace": {
            "start_time": spans[0].get("start_time") if spans else None,
            "input": agent.get("input"),
            "output": agent.get("output"),
            "metrics": {
                "total_duration_ms": metrics.get("duration_ms"),
                "token_usage": metrics.get("token_usage"),
                "cost_usd": metrics.get("cost_usd"),
                "error_count": sum(
                    span.get("status") == "ERROR" or span.get("error") is not None for span in spans
                ),
            },
        },
    }


def agent_trace_from_item(item: Item, whole: Whole) -> AgentTrace:
    """Make the agent trace that an agent-level evaluator sees.

    Args:
        item: The decoded item; `agent` is enough.
        whole: Gives the whole decoded item; called at most once, when the steps are first asked for.
    """
    return AgentTrace._lazily(_AGENT, item, whole)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - not for authors


def llm_span_from_item(item: Item) -> LLMSpan:
    """Make the model call that an LLM-level evaluator sees, of the decoded item's `llm`."""
    return _llm_span(item["llm"])


def _spans(trace: Trace, _item: Item, whole: Whole) -> list[Span]:
    document = whole()
    spans = make_spans(document["spans"])
    told: list[dict[str, Any]] = document["trace"].get("tool_context") or []
    if told and not any(isinstance(span, ToolSpan) for span in spans):
        tell_tools(trace, [_told_tool(call) for call in told])
    return spans


def _told_tool(call: dict[str, Any]) -> ToolExecution:
    result = call.get("result")
    return ToolExecution(
        call["name"],
        call.get("arguments"),
        tool_output=result,
        content=as_text(result),
        error=call.get("error"),
    )


_TRACE: Makers = {
    "trace_id": lambda _trace, item, _whole: item.get("traceId") or "",
    "input": lambda _trace, item, _whole: as_text(item["trace"].get("input")),
    "output": lambda _trace, item, _whole: as_text(item["trace"].get("output")),
    "timestamp": lambda _trace, item, _whole: as_time(item["trace"].get("start_time")),
    "session_id": lambda _trace, item, _whole: item["session"]["id"],
    "spans": _spans,
}

_AGENT: Makers = {
    "agent_id": lambda _agent, item, _whole: item["agent"].get("agent_id") or "",
    "agent_name": lambda _agent, item, _whole: item["agent"].get("agent_name") or "",
    "framework": lambda _agent, item, _whole: item["agent"].get("framework"),
    "model": lambda _agent, item, _whole: item["agent"].get("model"),
    "system_prompt": lambda _agent, item, _whole: item["agent"].get("system_prompt"),
    "available_tools": lambda _agent, item, _whole: make_tools(
        item["agent"].get("available_tools")
    ),
    "input": lambda _agent, item, _whole: as_text(item["agent"].get("input")),
    "output": lambda _agent, item, _whole: as_text(item["agent"].get("output")),
    "metrics": lambda _agent, item, _whole: _agent_metrics(item["agent"]),
    "steps": lambda _agent, _item, whole: _steps(whole()["trajectory"]["steps"]),
}


def _agent_metrics(agent: dict[str, Any]) -> AgentMetrics:
    metrics: dict[str, Any] = agent["metrics"]
    return AgentMetrics(
        **_outcome(metrics),
        token_usage=make_usage(metrics.get("token_usage")),
        cost_usd=metrics.get("cost_usd"),
    )


def _outcome(metrics: dict[str, Any]) -> dict[str, Any]:
    return {
        name: metrics.get(name) for name in ("duration_ms", "error", "error_type", "error_message")
    }


def _llm_span(call: dict[str, Any]) -> LLMSpan:
    metrics: dict[str, Any] = call["metrics"]
    return LLMSpan(
        call.get("span_id") or "",
        call.get("name") or "",
        parent_span_id=call.get("parent_span_id"),
        start_time=as_time(call.get("start_time")),
        input=make_messages(call.get("input")),
        output=call.get("output"),
        available_tools=make_tools(call.get("available_tools")),
        model=call.get("model"),
        vendor=call.get("vendor"),
        temperature=call.get("temperature"),
        metrics=LLMMetrics(
            **_outcome(metrics),
            token_usage=make_usage(metrics.get("token_usage")),
            time_to_first_token_ms=metrics.get("time_to_first_token_ms"),
            cost_usd=metrics.get("cost_usd"),
        ),
    )


def _steps(recorded: list[dict[str, Any]]) -> list[Step]:
    return [_step(one) for one in recorded]


def _step(step: dict[str, Any]) -> Step:
    match step["type"]:
        case "user":
            return UserInput(as_text(step["content"]) or "")
        case "llm":
            return LLMReasoning(
                as_text(step["content"]) or "",
                tool_calls=make_tool_calls(step.get("tool_calls")),
                llm_span_id=step.get("span_id"),
                is_response=step.get("is_response", False),
            )
        case _:
            return ToolExecution(
                step["name"],
                step.get("arguments"),
                tool_output=step.get("result"),
                tool_call_id=step.get("call_id"),
                content=as_text(step.get("result")),
                error=step.get("error"),
                duration_ms=step.get("duration_ms"),
                nested_traces=[_nested(one) for one in step.get("nested") or ()],
            )


def _nested(recorded: dict[str, Any]) -> AgentTrace | LLMSpan:
    """Make what ran inside of a tool; the item nests it no deeper than a few levels."""
    if recorded["kind"] == "llm":
        return _llm_span(recorded)
    return agent_trace_from_item(
        {"agent": recorded}, lambda: {"trajectory": {"steps": recorded["steps"]}}
    )
