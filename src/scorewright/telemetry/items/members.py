"""What items hold, by the names that authors write in mappings and filters, in the order to show.

Light members stand in the head of an item, which a reader can take alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_ASKED: Final = {
    "trace.input": "the user's question",
    "trace.output": "the final answer",
}
_WHOLE: Final = {
    "traceId": "the trace's identifier",
    "session.id": "the session or conversation it belongs to",
    "trace.name": "the root span's name",
    "trace.status": "how the root span ended: OK, ERROR or UNSET",
    "trace.start_time": "when it began, UTC",
    "trace.end_time": "when it ended, UTC",
    "trace.models": "the models that were called",
    "trace.agents": "the agents that ran, by name",
    "trace.service": "the service that recorded it",
    "trace.environment": "where the application runs, such as production",
    "trace.metrics.total_duration_ms": "how long it took, in milliseconds",
    "trace.metrics.token_usage.total_tokens": "tokens of all model calls",
    "trace.metrics.token_usage.input_tokens": "tokens that models read",
    "trace.metrics.token_usage.output_tokens": "tokens that models wrote",
    "trace.metrics.token_usage.cache_read_tokens": "of the tokens read, those from a cache",
    "trace.metrics.cost_usd": "what it cost, in US dollars",
    "trace.metrics.error_count": "spans that ended in an error",
    "trace.metrics.has_errors": "whether any span ended in an error",
    "trace.metrics.span_count": "spans",
    "trace.metrics.llm_call_count": "model calls",
    "trace.metrics.tool_call_count": "tool calls",
}
_DERIVED: Final = {
    "trace.tool_context": "the tools called, in order: name, arguments, result, error",
    "trace.agent_trajectory": "what was said and done, step by step",
    "trace.rag_context": "the passages found, as one text",
    "trace.rag_retrieval_queries": "what was searched for",
    "trace.rag_retrieval_documents": "the passages found, each with id and score",
    "trace.rag_llm_output": "what the model wrote after the last search",
}


def _measured(part: str, what: str) -> dict[str, str]:
    """Describe the metrics of an agent or a model call."""
    metrics = f"{part}.metrics"
    return {
        f"{metrics}.duration_ms": f"how long {what} took, in milliseconds",
        f"{metrics}.error": "whether it ended in an error",
        f"{metrics}.error_type": "the error's type",
        f"{metrics}.error_message": "the error's text",
        f"{metrics}.token_usage.total_tokens": "tokens read and written",
        f"{metrics}.token_usage.input_tokens": "tokens read",
        f"{metrics}.token_usage.output_tokens": "tokens written",
        f"{metrics}.token_usage.cache_read_tokens": "of the tokens read, those from a cache",
        f"{metrics}.cost_usd": "what it cost, in US dollars",
    }


_AGENT: Final = {
    "agent.input": "what the agent was asked",
    "agent.output": "what the agent answered",
    "agent.agent_name": "the agent's name",
    "agent.agent_id": "its span's identifier",
    "agent.model": "the model it uses",
    "agent.framework": "what it is built with",
    "agent.system_prompt": "its instructions",
    "agent.available_tools": "the tools it was offered",
    **_measured("agent", "the agent"),
}
_TRAJECTORY: Final = {
    "trajectory.messages": "the messages, in order",
    "trajectory.steps": "what was said and done, step by step",
}

TRACE_MEMBERS: Final[Mapping[str, str]] = MappingProxyType({**_ASKED, **_WHOLE, **_DERIVED})
CONVERSATION_MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **_ASKED,
        "conversation.turns": "the turns, in order: trace, time and, where shown, input and output",
        "conversation.turn_count": "how many turns there are",
        "conversation.id": "the session's identifier",
        **_WHOLE,
        **_DERIVED,
    }
)
AGENT_MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {**_AGENT, **_TRAJECTORY, **_ASKED, **_WHOLE}
)
LLM_MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "llm.input": "the messages that the model was given",
        "llm.output": "the text that it wrote",
        "llm.tool_calls": "the tools that it wanted called",
        "llm.model": "the model",
        "llm.vendor": "who serves it",
        "llm.temperature": "the temperature that was set",
        "llm.available_tools": "the tools it was offered",
        "llm.span_id": "the span's identifier",
        "llm.parent_span_id": "the parent span's identifier",
        "llm.name": "the span's name",
        "llm.start_time": "when the call began, UTC",
        "llm.metrics.time_to_first_token_ms": "how long the first token took, in milliseconds",
        **_measured("llm", "the call"),
        **_ASKED,
        **_WHOLE,
    }
)
LOG_MEMBERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "log.body": "what was logged",
        "log.severity": "how severe it is, as it was written",
        "log.timestamp": "when it was logged, UTC",
        "traceId": "the trace that it belongs to",
    }
)
