"""Steps and evidence as bounded text: for a look, a print or a prompt."""

from __future__ import annotations

from scorewright.authoring.steps import LLMReasoning, ToolExecution, UserInput
from scorewright.authoring.value import as_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from scorewright.authoring.messages import ToolCall
    from scorewright.authoring.spans import RetrieverSpan
    from scorewright.authoring.steps import Step
    from scorewright.authoring.trace import Trace

MAX_STEPS = 100
MAX_TOOLS = 10
MAX_RETRIEVALS = 5
MAX_DOCUMENTS = 3
#: Of one message, argument list, result or document.
MAX_CHARS = 500


def format_steps(steps: list[Step]) -> str:
    """Write steps as text, one numbered block each."""
    lines = [f"{number}. {_step(step)}" for number, step in enumerate(steps[:MAX_STEPS], 1)]
    return "\n".join(lines + _rest(len(steps), MAX_STEPS, "steps"))


def format_evidence(trace: Trace) -> str:
    """Write the first tools that ran and the first passages that were found."""
    tools, retrievals = trace.get_tool_steps(), trace.get_retrievals()
    lines = [f"tool {_tool(tool)}" for tool in tools[:MAX_TOOLS]]
    lines += _rest(len(tools), MAX_TOOLS, "tools")
    for retrieval in retrievals[:MAX_RETRIEVALS]:
        lines += _retrieval(retrieval)
    return "\n".join(lines + _rest(len(retrievals), MAX_RETRIEVALS, "retrievals"))


def _step(step: Step) -> str:
    match step:
        case UserInput():
            return f"user: {_cut(step.content)}"
        case LLMReasoning():
            said = f"{'answer' if step.is_response else 'model'}: {_cut(step.content)}"
            called = "; ".join(_wanted(call) for call in step.tool_calls)
            return f"{said} [calls {called}]" if called else said
        case _:
            return f"tool {_tool(step)}"


def _wanted(call: ToolCall) -> str:
    return f"{call.name}({_cut(as_text(call.arguments) or '')})"


def _tool(step: ToolExecution) -> str:
    took = "" if step.duration_ms is None else f" ({step.duration_ms:,.0f} ms)"
    given = f"{step.tool_name}({_cut(as_text(step.tool_input) or '')}){took}"
    if step.error is not None:
        return f"{given} failed: {_cut(step.error)}"
    return f"{given}: {_cut(as_text(step.tool_output) or '')}"


def _retrieval(span: RetrieverSpan) -> list[str]:
    lines = [f"retrieval {_cut(span.query or span.name)}"]
    for document in span.documents[:MAX_DOCUMENTS]:
        score = "" if document.score is None else f" (score {document.score:g})"
        lines.append(f"  document{score}: {_cut(document.content or '')}")
    more = _rest(len(span.documents), MAX_DOCUMENTS, "documents")
    return lines + [f"  {line}" for line in more]


def _rest(count: int, most: int, what: str) -> list[str]:
    return [f"… {count - most:,} more {what}"] if count > most else []


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARS else text[:MAX_CHARS] + "…"
