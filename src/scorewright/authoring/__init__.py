"""What an author's code sees: the objects it is given and the ones it returns.

The same modules run on the host and inside every sandbox, so they use the standard library only and
import next to nothing.
"""

from scorewright.authoring.agent_trace import AgentTrace
from scorewright.authoring.eval_result import EvalResult
from scorewright.authoring.from_row import trace_from_row
from scorewright.authoring.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    UserMessage,
)
from scorewright.authoring.metrics import (
    AgentMetrics,
    LLMMetrics,
    SpanMetrics,
    TokenUsage,
    TraceMetrics,
)
from scorewright.authoring.param import UNSET, Param
from scorewright.authoring.spans import (
    AgentSpan,
    ChainSpan,
    LLMSpan,
    RetrievedDocument,
    RetrieverSpan,
    Span,
    ToolSpan,
)
from scorewright.authoring.steps import LLMReasoning, ToolExecution, UserInput
from scorewright.authoring.trace import Trace

__all__ = [
    "UNSET",
    "AgentMetrics",
    "AgentSpan",
    "AgentTrace",
    "AssistantMessage",
    "ChainSpan",
    "EvalResult",
    "LLMMetrics",
    "LLMReasoning",
    "LLMSpan",
    "Message",
    "Param",
    "RetrievedDocument",
    "RetrieverSpan",
    "Span",
    "SpanMetrics",
    "SystemMessage",
    "TokenUsage",
    "ToolCall",
    "ToolDefinition",
    "ToolExecution",
    "ToolMessage",
    "ToolSpan",
    "Trace",
    "TraceMetrics",
    "UserInput",
    "UserMessage",
    "trace_from_row",
]
