"""The members of items by the names that authors map variables to, each with what it holds."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

#: What an item may be about.
Subject: TypeAlias = Literal["trace", "agent", "llm", "conversation"]

_ALL: Final[frozenset[Subject]] = frozenset({"trace", "agent", "llm", "conversation"})
_WHOLE: Final[frozenset[Subject]] = frozenset({"trace", "conversation"})
_AGENT: Final[frozenset[Subject]] = frozenset({"agent"})
_LLM: Final[frozenset[Subject]] = frozenset({"llm"})
_CONVERSATION: Final[frozenset[Subject]] = frozenset({"conversation"})


class Member(msgspec.Struct, frozen=True):
    """One member of items."""

    name: str
    description: str
    subjects: frozenset[Subject] = _ALL
    #: Whether it lies in the part of an item that is read without the rest.
    light: bool = True


def _usage(prefix: str, whose: str, subjects: frozenset[Subject]) -> tuple[Member, ...]:
    described = {
        "input_tokens": "Input tokens of {}",
        "output_tokens": "Output tokens of {}",
        "total_tokens": "Input and output tokens of {}",
        "cache_read_tokens": "Input tokens of {} that the provider had read before",
    }
    return tuple(
        Member(f"{prefix}.token_usage.{name}", text.format(whose), subjects)
        for name, text in described.items()
    )


def _failure(prefix: str, subjects: frozenset[Subject]) -> tuple[Member, ...]:
    return (
        Member(f"{prefix}.error", "Whether it failed", subjects),
        Member(f"{prefix}.error_type", "The type of the error", subjects),
        Member(f"{prefix}.error_message", "The message of the error", subjects),
    )


MEMBERS: Final[tuple[Member, ...]] = (
    Member("traceId", "The trace's id, 32 hexadecimal digits"),
    Member("session.id", "The session or conversation that the trace belongs to"),
    # The agent.
    Member("agent.agent_id", "The id of the agent's span", _AGENT),
    Member("agent.agent_name", "The agent's name, or else that of its span", _AGENT),
    Member("agent.framework", "What the agent is built with", _AGENT),
    Member("agent.model", "The model that the agent uses", _AGENT),
    Member("agent.system_prompt", "The instructions that the agent was given", _AGENT),
    Member("agent.available_tools", "The tools that the agent could call", _AGENT),
    Member("agent.input", "What the agent was asked", _AGENT),
    Member("agent.output", "What the agent answered", _AGENT),
    Member("agent.metrics.duration_ms", "How long the agent took, in milliseconds", _AGENT),
    *_failure("agent.metrics", _AGENT),
    *_usage("agent.metrics", "the agent's model calls", _AGENT),
    Member("agent.metrics.cost_usd", "What the agent's model calls cost, in US dollars", _AGENT),
    # The model call.
    Member("llm.span_id", "The id of the model call's span", _LLM),
    Member("llm.parent_span_id", "The id of the span around it", _LLM),
    Member("llm.name", "The name of its span", _LLM),
    Member("llm.start_time", "When it started", _LLM),
    Member("llm.model", "The model that was called", _LLM),
    Member("llm.vendor", "Who provides the model", _LLM),
    Member("llm.temperature", "The temperature that was set", _LLM),
    Member("llm.input", "The messages that were sent", _LLM),
    Member("llm.output", "The text that the model answered", _LLM),
    Member("llm.tool_calls", "The tools that the model asked for", _LLM),
    Member("llm.available_tools", "The tools that were offered to the model", _LLM),
    Member("llm.metrics.duration_ms", "How long the call took, in milliseconds", _LLM),
    *_failure("llm.metrics", _LLM),
    *_usage("llm.metrics", "the call", _LLM),
    Member("llm.metrics.time_to_first_token_ms", "When the answer began, in milliseconds", _LLM),
    Member("llm.metrics.cost_usd", "What the call cost, in US dollars", _LLM),
    # The trace.
    Member("trace.trace_id", "The trace's id, 32 hexadecimal digits"),
    Member("trace.name", "The name of the root span"),
    Member("trace.start_time", "When the trace started"),
    Member("trace.end_time", "When the trace ended"),
    Member("trace.input", "The user's question"),
    Member("trace.output", "The final answer"),
    Member("trace.status", "The status of the root span: OK, ERROR or UNSET"),
    Member("trace.models", "The models that were called"),
    Member("trace.agents", "The names of the agents that ran"),
    Member("trace.service", "The service that sent the trace"),
    Member("trace.environment", "Where the service runs, such as production"),
    Member("trace.metrics.total_duration_ms", "How long the root span took, in milliseconds"),
    *_usage("trace.metrics", "all model calls", _ALL),
    Member("trace.metrics.cost_usd", "What all model calls cost, in US dollars"),
    Member("trace.metrics.error_count", "How many spans failed"),
    Member("trace.metrics.has_errors", "Whether any span failed"),
    Member("trace.metrics.span_count", "How many spans the trace has"),
    Member("trace.metrics.llm_call_count", "How often a model was called"),
    Member("trace.metrics.tool_call_count", "How often a tool was called"),
    Member(
        "trace.tool_context",
        "The tools that were called, with arguments, results and errors",
        _WHOLE,
        light=False,
    ),
    Member(
        "trace.agent_trajectory",
        "The question, model turns and tools in order",
        _WHOLE,
        light=False,
    ),
    Member("trace.rag_context", "The passages that were found, as one text", _WHOLE, light=False),
    Member("trace.rag_retrieval_queries", "What was searched for", _WHOLE, light=False),
    Member(
        "trace.rag_retrieval_documents",
        "The passages that were found, with ids and scores",
        _WHOLE,
        light=False,
    ),
    Member("trace.rag_llm_output", "The model's answer after the searches", _WHOLE, light=False),
    Member(
        "trace.attributes",
        "The attributes of the root span, or of the agent's or model call's, as they were sent",
        light=False,
    ),
    # What stands behind the trace.
    Member("trajectory.messages", "What was said to and by the agent", _AGENT, light=False),
    Member("trajectory.steps", "The agent's question, turns and tools", _AGENT, light=False),
    Member("conversation.id", "The session that the turns belong to", _CONVERSATION, light=False),
    Member("conversation.turn_count", "How many turns there are", _CONVERSATION, light=False),
    Member("conversation.turns", "The turns in order", _CONVERSATION, light=False),
    Member(
        "spans_left_out",
        "How many spans are left out because they are nested too deep",
        _AGENT | _LLM,
        light=False,
    ),
    Member("spans", "The spans as a list, parents before children", light=False),
)
