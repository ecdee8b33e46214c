"""The spans of a trace, by what they did."""

# ruff: noqa: PLR0913 - a constructor takes one keyword a field

from __future__ import annotations

from scorewright.authoring.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from scorewright.authoring.metrics import AgentMetrics, LLMMetrics, SpanMetrics
from scorewright.authoring.value import Value, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any, TypeVar

    from scorewright.authoring.messages import ToolDefinition

    Kind = TypeVar("Kind", bound=Message)

#: Longest content `format_messages` shows of one message.
MAX_SHOWN_CHARS = 2_000


class Span(Value):
    """What every span has: an identity, a place in the trace and a time."""

    __slots__ = ("name", "parent_span_id", "span_id", "start_time")

    #: The word `format_spans` puts before the name.
    kind: str = "span"

    def __init__(
        self,
        span_id: str = "",
        name: str = "",
        *,
        parent_span_id: str | None = None,
        start_time: datetime | None = None,
    ) -> None:
        self.span_id = span_id
        self.name = name
        self.parent_span_id = parent_span_id
        #: Aware, UTC.
        self.start_time = start_time


class ChainSpan(Span):
    """A step of the application that is no model call, tool, retrieval or agent."""

    __slots__ = ("metrics",)
    kind = "chain"

    def __init__(
        self,
        span_id: str = "",
        name: str = "",
        *,
        parent_span_id: str | None = None,
        start_time: datetime | None = None,
        metrics: SpanMetrics | None = None,
    ) -> None:
        super().__init__(span_id, name, parent_span_id=parent_span_id, start_time=start_time)
        self.metrics = SpanMetrics() if metrics is None else metrics


class ToolSpan(ChainSpan):
    """One call of a tool."""

    __slots__ = ("arguments", "result", "tool_call_id")
    kind = "tool"

    def __init__(
        self,
        span_id: str = "",
        name: str = "",
        *,
        parent_span_id: str | None = None,
        start_time: datetime | None = None,
        arguments: dict[str, Any] | None = None,
        result: Any = None,
        tool_call_id: str | None = None,
        metrics: SpanMetrics | None = None,
    ) -> None:
        super().__init__(
            span_id, name, parent_span_id=parent_span_id, start_time=start_time, metrics=metrics
        )
        self.arguments: dict[str, Any] = {} if arguments is None else arguments
        self.result = result
        #: The model's own id of the call.
        self.tool_call_id = tool_call_id


class RetrievedDocument(Value):
    """One passage a retrieval found; a score of 0 is a score, a missing one is None."""

    __slots__ = ("content", "id", "metadata", "score")

    def __init__(
        self,
        id: str | None = None,  # noqa: A002 - the field's name in every protocol
        content: str | None = None,
        *,
        score: float | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.content = content
        self.score = score
        self.metadata: dict[str, Any] = {} if metadata is None else metadata


class RetrieverSpan(ChainSpan):
    """One search for passages."""

    __slots__ = ("documents", "query", "top_k", "vector_db")
    kind = "retriever"

    def __init__(
        self,
        span_id: str = "",
        name: str = "",
        *,
        parent_span_id: str | None = None,
        start_time: datetime | None = None,
        query: str | None = None,
        documents: list[RetrievedDocument] | None = None,
        vector_db: str | None = None,
        top_k: int | None = None,
        metrics: SpanMetrics | None = None,
    ) -> None:
        super().__init__(
            span_id, name, parent_span_id=parent_span_id, start_time=start_time, metrics=metrics
        )
        self.query = query
        self.documents: list[RetrievedDocument] = [] if documents is None else documents
        self.vector_db = vector_db
        self.top_k = top_k


class AgentSpan(Span):
    """The work of one agent; its steps are the spans below it."""

    __slots__ = (
        "available_tools",
        "framework",
        "input",
        "max_iterations",
        "metrics",
        "model",
        "output",
        "system_prompt",
    )
    kind = "agent"

    def __init__(
        self,
        span_id: str = "",
        name: str = "",
        *,
        parent_span_id: str | None = None,
        start_time: datetime | None = None,
        framework: str | None = None,
        model: str | None = None,
        system_prompt: str | None = None,
        available_tools: list[ToolDefinition] | None = None,
        max_iterations: int | None = None,
        input: Any = None,  # noqa: A002 - the seed's word
        output: Any = None,
        metrics: AgentMetrics | None = None,
    ) -> None:
        super().__init__(span_id, name, parent_span_id=parent_span_id, start_time=start_time)
        self.framework = framework
        self.model = model
        self.system_prompt = system_prompt
        self.available_tools: list[ToolDefinition] = (
            [] if available_tools is None else available_tools
        )
        self.max_iterations = max_iterations
        self.input = as_text(input)
        self.output = as_text(output)
        self.metrics = AgentMetrics() if metrics is None else metrics


class LLMSpan(Span):
    """One model call: the messages it was given and the text it wrote."""

    __slots__ = (
        "available_tools",
        "input",
        "metrics",
        "model",
        "output",
        "temperature",
        "vendor",
    )
    kind = "llm"

    def __init__(
        self,
        span_id: str = "",
        name: str = "",
        *,
        parent_span_id: str | None = None,
        start_time: datetime | None = None,
        input: list[Message] | None = None,  # noqa: A002 - the seed's word
        output: Any = None,
        available_tools: list[ToolDefinition] | None = None,
        model: str | None = None,
        vendor: str | None = None,
        temperature: float | None = None,
        metrics: LLMMetrics | None = None,
    ) -> None:
        super().__init__(span_id, name, parent_span_id=parent_span_id, start_time=start_time)
        self.input: list[Message] = [] if input is None else input
        self.output = as_text(output)
        self.available_tools: list[ToolDefinition] = (
            [] if available_tools is None else available_tools
        )
        self.model = model
        self.vendor = vendor
        self.temperature = temperature
        self.metrics = LLMMetrics() if metrics is None else metrics

    def get_system_messages(self) -> list[SystemMessage]:
        """List the instructions, in order."""
        return _of_kind(self.input, SystemMessage)

    def get_user_messages(self) -> list[UserMessage]:
        """List what the user said, in order."""
        return _of_kind(self.input, UserMessage)

    def get_assistant_messages(self) -> list[AssistantMessage]:
        """List the model's earlier turns, in order; its answer to this call is `output`."""
        return _of_kind(self.input, AssistantMessage)

    def get_tool_messages(self) -> list[ToolMessage]:
        """List the tools' answers, in order."""
        return _of_kind(self.input, ToolMessage)

    def format_messages(self) -> str:
        """Write the input messages as text, one `role: content` block each, long contents cut."""
        return "\n".join(f"{one.role}: {_cut(one.content)}" for one in self.input)


def _of_kind(messages: list[Message], kind: type[Kind]) -> list[Kind]:
    return [message for message in messages if isinstance(message, kind)]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARS else text[:MAX_SHOWN_CHARS] + "…"
