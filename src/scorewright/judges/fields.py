"""What placeholders may name: the fields and methods of the objects that evaluators see, by level.

Only what is listed is reached: a path can never lead out of these objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scorewright.domain.convention import Level
from scorewright.domain.param import ConfigParam
from scorewright.domain.signature import Diagnostic
from scorewright.domain.suggestion import did_you_mean, name_list, quote
from scorewright.judges.template import At, Call, Path, Placeholder, Template, print_path

#: By level, what its object is called in a prompt, and its class.
LEVEL_OBJECTS: Final = {
    Level.TRACE: ("trace", "Trace"),
    Level.AGENT: ("agent_trace", "AgentTrace"),
    Level.LLM: ("llm_span", "LLMSpan"),
}
#: The whole dataset row.
TASK: Final = "task"

_SPAN: Final = {"span_id": "", "name": "", "parent_span_id": "", "start_time": ""}
_OUTCOME: Final = {"duration_ms": "", "error": "", "error_type": "", "error_message": ""}
#: By class, its fields and methods with what they give: a class, a list of it (`[]`), or nothing that is known.
FIELDS: Final[dict[str, dict[str, str]]] = {
    "Trace": {
        "input": "",
        "output": "",
        "trace_id": "",
        "session_id": "",
        "timestamp": "",
        "metrics": "TraceMetrics",
        "spans": "[Span]",
        "get_tool_steps()": "[ToolExecution]",
        "get_tool_calls()": "[ToolSpan]",
        "get_llm_calls()": "[LLMSpan]",
        "get_retrievals()": "[RetrieverSpan]",
        "get_agents()": "[AgentSpan]",
        "format_spans()": "",
        "format_evidence()": "",
    },
    "AgentTrace": {
        "input": "",
        "output": "",
        "agent_id": "",
        "agent_name": "",
        "framework": "",
        "model": "",
        "system_prompt": "",
        "available_tools": "[ToolDefinition]",
        "metrics": "AgentMetrics",
        "steps": "[]",
        "get_tool_steps()": "[ToolExecution]",
        "get_llm_steps()": "[LLMReasoning]",
        "get_error_steps()": "[ToolExecution]",
        "get_sub_agents()": "[AgentTrace]",
        "format_steps()": "",
    },
    "LLMSpan": {
        **_SPAN,
        "input": "[Message]",
        "output": "",
        "model": "",
        "vendor": "",
        "temperature": "",
        "available_tools": "[ToolDefinition]",
        "metrics": "LLMMetrics",
        "get_system_messages()": "[Message]",
        "get_user_messages()": "[Message]",
        "get_assistant_messages()": "[Message]",
        "get_tool_messages()": "[Message]",
        "format_messages()": "",
    },
    "Span": {**_SPAN, "kind": ""},
    "ToolSpan": {
        **_SPAN,
        "arguments": "",
        "result": "",
        "tool_call_id": "",
        "metrics": "SpanMetrics",
    },
    "RetrieverSpan": {
        **_SPAN,
        "query": "",
        "documents": "[RetrievedDocument]",
        "vector_db": "",
        "top_k": "",
        "metrics": "SpanMetrics",
    },
    "AgentSpan": {
        **_SPAN,
        "input": "",
        "output": "",
        "framework": "",
        "model": "",
        "system_prompt": "",
        "available_tools": "[ToolDefinition]",
        "max_iterations": "",
        "metrics": "AgentMetrics",
    },
    "ToolExecution": {
        "tool_name": "",
        "tool_input": "",
        "tool_output": "",
        "tool_call_id": "",
        "content": "",
        "error": "",
        "duration_ms": "",
        "nested_traces": "[]",
    },
    "LLMReasoning": {
        "content": "",
        "tool_calls": "[ToolCall]",
        "llm_span_id": "",
        "is_response": "",
    },
    "ToolCall": {"id": "", "name": "", "arguments": ""},
    "ToolDefinition": {"name": "", "description": "", "parameters": ""},
    "Message": {"role": "", "content": ""},
    "RetrievedDocument": {"id": "", "content": "", "score": "", "metadata": ""},
    "TokenUsage": {
        "input_tokens": "",
        "output_tokens": "",
        "total_tokens": "",
        "cache_read_tokens": "",
    },
    "SpanMetrics": _OUTCOME,
    "LLMMetrics": {
        **_OUTCOME,
        "token_usage": "TokenUsage",
        "time_to_first_token_ms": "",
        "cost_usd": "",
    },
    "AgentMetrics": {**_OUTCOME, "token_usage": "TokenUsage", "cost_usd": ""},
    "TraceMetrics": {
        "total_duration_ms": "",
        "token_usage": "TokenUsage",
        "error_count": "",
        "has_errors": "",
        "cost_usd": "",
    },
}
#: Every method that may be called, whatever the object.
METHODS: Final = frozenset(
    name.removesuffix("()") for fields in FIELDS.values() for name in fields if name.endswith("()")
)


def roots_of(level: Level, params: Iterable[ConfigParam]) -> list[str]:
    """List what a placeholder may begin with."""
    return [LEVEL_OBJECTS[level][0], TASK, *(param.key for param in params)]


def placeholders_of(level: Level, params: Iterable[ConfigParam]) -> list[str]:
    """List the placeholders that an author may begin with, for an editor to offer."""
    root, kind = LEVEL_OBJECTS[level]
    return [*(f"{root}.{name}" for name in FIELDS[kind]), TASK, *(param.key for param in params)]


def check_paths(template: Template, level: Level) -> Iterator[Diagnostic]:
    """Find the paths that lead nowhere, whatever the item."""
    root, kind = LEVEL_OBJECTS[level]
    for path, placeholder in template.paths:
        said = _misstep(path, kind) if path.root == root else _call_of_data(path)
        if said:
            yield _error(placeholder, said)


def _misstep(path: Path, kind: str) -> str | None:
    """Say at which step a path leaves what there is."""
    for place, step in enumerate(path.steps):
        so_far = print_path(Path(path.root, path.steps[:place]))
        if kind.startswith("["):
            if not isinstance(step, At) or isinstance(step.key, str):
                return f"{so_far} is a list; take one of it, as in {so_far}[0]"
            kind = kind[1:-1]
            continue
        if not kind:  # what a trace holds: its shape is known with the item alone
            return _call_of_data(Path(path.root, path.steps[place:]))
        name = step.key if isinstance(step, At) else step.name
        written = f"{name}()" if isinstance(step, Call) else str(name)
        if written not in FIELDS[kind] or isinstance(step, At):
            return _unknown(so_far, written, kind)
        kind = FIELDS[kind][written]
    return None


def _call_of_data(path: Path) -> str | None:
    called = next((step for step in path.steps if isinstance(step, Call)), None)
    return None if called is None else f"{called.name}() cannot be called on a value; remove it"


def _unknown(so_far: str, written: str, kind: str) -> str:
    known = FIELDS[kind]
    if f"{written}()" in known:
        return f"{so_far}.{written} is a method; write {so_far}.{written}()"
    near = did_you_mean(written, known)
    return f"there is no {quote(written)} on {so_far}{near}; use {name_list(known)}"


def _error(placeholder: Placeholder, said: str) -> Diagnostic:
    return Diagnostic(
        severity="error",
        code="unknown_placeholder",
        message=f"prompt: {said}",
        line=placeholder.line,
        column=placeholder.column,
    )
