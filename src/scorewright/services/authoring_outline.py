"""What the objects of a level look like to an author, read from the classes themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

from scorewright import authoring
from scorewright.domain.convention import Level

#: What an evaluator of a level is given first, and what can be reached from there.
_CLASSES: Final[dict[Level, tuple[type[Any], ...]]] = {
    Level.TRACE: (
        authoring.Trace,
        authoring.TraceMetrics,
        authoring.TokenUsage,
        authoring.Span,
        authoring.ToolSpan,
        authoring.LLMSpan,
        authoring.LLMMetrics,
        authoring.RetrieverSpan,
        authoring.RetrievedDocument,
        authoring.AgentSpan,
        authoring.ChainSpan,
        authoring.SpanMetrics,
        authoring.ToolExecution,
    ),
    Level.AGENT: (
        authoring.AgentTrace,
        authoring.AgentMetrics,
        authoring.TokenUsage,
        authoring.UserInput,
        authoring.LLMReasoning,
        authoring.ToolExecution,
        authoring.ToolCall,
        authoring.ToolDefinition,
    ),
    Level.LLM: (
        authoring.LLMSpan,
        authoring.LLMMetrics,
        authoring.TokenUsage,
        authoring.SystemMessage,
        authoring.UserMessage,
        authoring.AssistantMessage,
        authoring.ToolMessage,
        authoring.ToolCall,
        authoring.ToolDefinition,
    ),
}


def first_class(level: Level) -> str:
    """Return the name of the class that a level's evaluators are given."""
    return _CLASSES[level][0].__name__


def outline(level: Level) -> str:
    """Write the classes of a level as Python without bodies: fields with their types, methods with what they do."""
    return "\n\n".join("\n".join(_class_lines(each)) for each in _CLASSES[level])


def _class_lines(each: type[Any]) -> Iterator[str]:
    base = each.__bases__[0].__name__
    yield (
        f"class {each.__name__}({base}):"
        if base in authoring.__all__
        else f"class {each.__name__}:"
    )
    for name, parameter in list(inspect.signature(each.__init__).parameters.items())[1:]:
        yield f"    {name}: {_type_of_field(name, str(parameter.annotation))}"
    for name, _ in inspect.getmembers(each, lambda member: isinstance(member, property)):
        if not name.startswith("_"):
            yield f"    {name}: {getattr(each, name).fget.__annotations__['return']}"
    for name, method in inspect.getmembers(each, inspect.isfunction):
        if not name.startswith("_"):
            said = (inspect.getdoc(method) or "").partition("\n")[0]
            returned = inspect.signature(method).return_annotation
            yield f"    def {name}(self) -> {returned}: ...  # {said}"


def _type_of_field(name: str, annotation: str) -> str:
    """Say what a field holds, where its constructor's parameter says what it may be made from."""
    if name in ("input", "output") and annotation == "Any":
        return "str | None"
    without_none = annotation.removesuffix(" | None")
    is_always_there = without_none.startswith("list[") or without_none.endswith("Metrics")
    return without_none if is_always_there else annotation
