"""What a trace-level evaluator is given."""

# ruff: noqa: PLR0913 - a constructor takes one keyword a field

from __future__ import annotations

from scorewright.authoring.metrics import TraceMetrics, make_trace_metrics
from scorewright.authoring.spans import AgentSpan, LLMSpan, RetrieverSpan, Span, ToolSpan
from scorewright.authoring.steps import ToolExecution
from scorewright.authoring.value import LazyValue, as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

#: `format_spans` indents no deeper: a runaway recursion must not turn into a square of blanks.
MAX_INDENT = 32


class Trace(LazyValue):
    """One execution of the application, from the user's question to the answer.

    `input` and `output` are text (a structured value as its JSON text) and None when not captured;
    `metrics` are None where nothing was measured.

    Source: amp seed, "Select Evaluation Level"; contracts §4.
    """

    __slots__ = (
        "_metrics",
        "_told_tools",
        "input",
        "output",
        "session_id",
        "spans",
        "timestamp",
        "trace_id",
    )

    #: As the item has them, until somebody looks: most that look at a trace look at its metrics, and this is the quickest.
    _metrics: TraceMetrics | dict[str, Any]
    #: Tools that ran as messages tell; only where no span stands for one, and then known once the spans are read.
    _told_tools: list[ToolExecution]

    def __init__(
        self,
        trace_id: str = "",
        *,
        input: Any = None,  # noqa: A002 - the seed's word
        output: Any = None,
        spans: list[Span] | None = None,
        metrics: TraceMetrics | None = None,
        timestamp: datetime | None = None,
        session_id: str | None = None,
    ) -> None:
        self.trace_id = trace_id
        self.input = as_text(input)
        self.output = as_text(output)
        #: The root first.
        self.spans: list[Span] = [] if spans is None else spans
        self.metrics = TraceMetrics() if metrics is None else metrics
        #: When it began: aware, UTC.
        self.timestamp = timestamp
        self.session_id = session_id

    @property
    def metrics(self) -> TraceMetrics:
        """What was measured; a member of it is None where nothing was."""
        known = self._metrics
        if isinstance(known, dict):
            known = self._metrics = make_trace_metrics(known)
        return known

    @metrics.setter
    def metrics(self, metrics: TraceMetrics) -> None:
        self._metrics = metrics

    def get_tool_calls(self) -> list[ToolSpan]:
        """List the tool spans, in order."""
        return [span for span in self.spans if isinstance(span, ToolSpan)]

    def get_llm_calls(self) -> list[LLMSpan]:
        """List the model calls, in order; a model's span around another one is its wrapper, and no call.

        A tool or an agent in between makes it a call of its own.
        """
        by_id = {span.span_id: span for span in self.spans}
        around: set[str] = set()
        for span in self.spans:
            above = span.parent_span_id if isinstance(span, LLMSpan) else None
            while above in by_id and above not in around:
                parent = by_id[above]
                around.add(above)
                above = None if isinstance(parent, ToolSpan | AgentSpan) else parent.parent_span_id
        calls = [span for span in self.spans if isinstance(span, LLMSpan)]
        return [call for call in calls if call.span_id not in around]

    def get_retrievals(self) -> list[RetrieverSpan]:
        """List the retrievals, in order."""
        return [span for span in self.spans if isinstance(span, RetrieverSpan)]

    def get_agents(self) -> list[AgentSpan]:
        """List the agents, in order."""
        return [span for span in self.spans if isinstance(span, AgentSpan)]

    def get_tool_steps(self) -> list[ToolExecution]:
        """List the tools that ran, in order, in the form `AgentTrace.get_tool_steps` gives them.

        Where no span stands for a tool, they are the calls that the messages tell of.
        """
        calls = self.get_tool_calls()
        told: list[ToolExecution] = [] if calls else getattr(self, "_told_tools", [])
        return [_tool_step(span) for span in calls] or list(told)

    def format_spans(self) -> str:
        """Write the spans as an indented tree, one line each: kind, name, duration, error."""
        depth: dict[str, int] = {}
        lines: list[str] = []
        for span in self.spans:
            level = depth.get(span.parent_span_id or "", -1) + 1
            depth[span.span_id] = level
            lines.append("  " * min(level, MAX_INDENT) + _line(span))
        return "\n".join(lines)

    def format_evidence(self) -> str:
        """Write what the answer can rest on as text: the first tools and retrievals, long values cut."""
        from scorewright.authoring.evidence import format_evidence

        return format_evidence(self)


def tell_tools(trace: Trace, tools: list[ToolExecution]) -> None:
    """Give a trace the tools that ran but have no span."""
    trace._told_tools = tools  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - not for authors


def _tool_step(span: ToolSpan) -> ToolExecution:
    metrics = span.metrics
    error = metrics.error_message or metrics.error_type or "failed" if metrics.error else None
    return ToolExecution(
        span.name,
        span.arguments,
        tool_output=span.result,
        tool_call_id=span.tool_call_id,
        content=as_text(span.result),
        error=error,
        duration_ms=metrics.duration_ms,
    )


def _line(span: Span) -> str:
    metrics = getattr(span, "metrics", None)
    duration_ms = getattr(metrics, "duration_ms", None)
    took = "" if duration_ms is None else f" ({duration_ms:,.0f} ms)"
    failed = " ERROR" if getattr(metrics, "error", None) else ""
    return f"{span.kind} {span.name}{took}{failed}"
