"""What an agent did, step by step."""

# ruff: noqa: PLR0913 - a constructor takes one keyword a field

from __future__ import annotations

from scorewright.authoring.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from scorewright.authoring.agent_trace import AgentTrace
    from scorewright.authoring.messages import ToolCall
    from scorewright.authoring.spans import LLMSpan

    Step: TypeAlias = "UserInput | LLMReasoning | ToolExecution"


class UserInput(Value):
    """The user, or the calling agent, said something."""

    __slots__ = ("content",)

    def __init__(self, content: str = "") -> None:
        self.content = content


class LLMReasoning(Value):
    """The model said something, or wanted tools called."""

    __slots__ = ("content", "is_response", "llm_span_id", "tool_calls")

    def __init__(
        self,
        content: str = "",
        *,
        tool_calls: list[ToolCall] | None = None,
        llm_span_id: str | None = None,
        is_response: bool = False,
    ) -> None:
        self.content = content
        self.tool_calls: list[ToolCall] = [] if tool_calls is None else tool_calls
        self.llm_span_id = llm_span_id
        #: Whether this is the agent's answer, not a thought on the way.
        self.is_response = is_response


class ToolExecution(Value):
    """A tool ran."""

    __slots__ = (
        "content",
        "duration_ms",
        "error",
        "nested_traces",
        "tool_call_id",
        "tool_input",
        "tool_name",
        "tool_output",
    )

    def __init__(
        self,
        tool_name: str,
        tool_input: dict[str, Any] | None = None,
        *,
        tool_output: Any = None,
        tool_call_id: str | None = None,
        content: str | None = None,
        error: str | None = None,
        duration_ms: float | None = None,
        nested_traces: list[AgentTrace | LLMSpan] | None = None,
    ) -> None:
        self.tool_name = tool_name
        self.tool_input: dict[str, Any] = {} if tool_input is None else tool_input
        self.tool_output = tool_output
        self.tool_call_id = tool_call_id
        #: The output as text, where it was captured as text.
        self.content = content
        #: What went wrong; None when nothing is known to have.
        self.error = error
        self.duration_ms = duration_ms
        #: Agents and model calls that ran inside the tool.
        self.nested_traces: list[AgentTrace | LLMSpan] = (
            [] if nested_traces is None else nested_traces
        )
