"""What an agent-level evaluator is given."""

# ruff: noqa: PLR0913 - a constructor takes one keyword a field

from __future__ import annotations

from scorewright.authoring.metrics import AgentMetrics
from scorewright.authoring.steps import LLMReasoning, ToolExecution
from scorewright.authoring.value import LazyValue, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from scorewright.authoring.messages import ToolDefinition
    from scorewright.authoring.steps import Step


class AgentTrace(LazyValue):
    """One agent's share of a trace: who it is, what it was asked, what it did and answered.

    Source: amp seed, "Select Evaluation Level"; contracts §4.
    """

    __slots__ = (
        "agent_id",
        "agent_name",
        "available_tools",
        "framework",
        "input",
        "metrics",
        "model",
        "output",
        "steps",
        "system_prompt",
    )

    def __init__(
        self,
        agent_id: str = "",
        agent_name: str = "",
        *,
        framework: str | None = None,
        model: str | None = None,
        system_prompt: str | None = None,
        available_tools: list[ToolDefinition] | None = None,
        input: Any = None,  # noqa: A002 - the seed's word
        output: Any = None,
        steps: list[Step] | None = None,
        metrics: AgentMetrics | None = None,
    ) -> None:
        self.agent_id = agent_id
        self.agent_name = agent_name
        self.framework = framework
        self.model = model
        self.system_prompt = system_prompt
        self.available_tools: list[ToolDefinition] = (
            [] if available_tools is None else available_tools
        )
        #: Text; None when it was not captured.
        self.input = as_text(input)
        self.output = as_text(output)
        #: In the order they happened.
        self.steps: list[Step] = [] if steps is None else steps
        self.metrics = AgentMetrics() if metrics is None else metrics

    def get_tool_steps(self) -> list[ToolExecution]:
        """List the tools that ran, in order."""
        return [step for step in self.steps if isinstance(step, ToolExecution)]

    def get_llm_steps(self) -> list[LLMReasoning]:
        """List what the model said, in order."""
        return [step for step in self.steps if isinstance(step, LLMReasoning)]

    def get_error_steps(self) -> list[ToolExecution]:
        """List the tools that failed, in order."""
        return [step for step in self.get_tool_steps() if step.error is not None]

    def get_sub_agents(self) -> list[AgentTrace]:
        """List the agents that ran inside this one's tools, in order."""
        nested = [one for step in self.get_tool_steps() for one in step.nested_traces]
        return [one for one in nested if isinstance(one, AgentTrace)]

    def format_steps(self) -> str:
        """Write the steps as text, one numbered block each, long contents cut."""
        from scorewright.authoring.evidence import format_steps

        return format_steps(self.steps)
