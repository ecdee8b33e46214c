"""One span of a recorded trace: its parts read leniently, and the authoring object made of them."""

from __future__ import annotations

from scorewright.authoring.lenient import (
    as_amount,
    as_count,
    as_list,
    as_number,
    as_object,
    as_objects,
    as_str,
    as_time,
    parse_object,
)
from scorewright.authoring.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from scorewright.authoring.metrics import AgentMetrics, LLMMetrics, SpanMetrics, TokenUsage
from scorewright.authoring.spans import (
    AgentSpan,
    ChainSpan,
    LLMSpan,
    RetrievedDocument,
    RetrieverSpan,
    Span,
    ToolSpan,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

_KINDS = {
    "llm": "llm",
    "chat": "llm",
    "completion": "llm",
    "tool": "tool",
    "function": "tool",
    "agent": "agent",
    "retriever": "retriever",
    "retrieval": "retriever",
    "query": "retriever",
}


class Node:
    """A recorded span with its place in the tree; every part is there, empty where it was not."""

    __slots__ = ("ag", "data", "entry", "metrics", "parent", "parent_span_id", "span_id")

    def __init__(
        self, entry: dict[str, Any], span_id: str, *, parent: int, parent_span_id: str | None
    ) -> None:
        self.entry = entry
        self.span_id = span_id
        #: Index of the parent among the walked spans; -1 for none.
        self.parent = parent
        self.parent_span_id = parent_span_id
        self.ag = as_object(as_object(entry.get("attributes")).get("ag"))
        self.data = self.part("data")
        self.metrics = as_object(self.part("metrics").get("unit"))

    def part(self, name: str) -> dict[str, Any]:
        """Give one of the parts under `attributes.ag`."""
        return as_object(self.ag.get(name))

    @property
    def kind(self) -> str | None:
        """What the span did: `llm`, `tool`, `agent` or `retriever`; None for anything else."""
        word = self.part("type").get("span") or self.entry.get("type")
        return _KINDS.get(word.lower()) if isinstance(word, str) else None

    @property
    def start_time(self) -> datetime | None:
        """When it began: aware, UTC."""
        return as_time(self.entry.get("start_time"))

    @property
    def duration_ms(self) -> float | None:
        """How long it took: as recorded (in seconds), else from start to end."""
        seconds = as_amount(as_object(self.metrics.get("duration")).get("total"))
        if seconds is not None:
            return seconds * 1000
        start, end = self.start_time, as_time(self.entry.get("end_time"))
        if start is None or end is None or end < start:
            return None
        return (end - start).total_seconds() * 1000

    @property
    def is_error(self) -> bool:
        """Whether the span ended in an error."""
        status = self.entry.get("status_code")
        return isinstance(status, str) and status.upper() == "ERROR"

    @property
    def token_usage(self) -> TokenUsage | None:
        """The tokens recorded on this very span."""
        tokens = as_object(self.metrics.get("tokens"))
        read, written, total = (as_count(tokens.get(k)) for k in ("prompt", "completion", "total"))
        if read is None and written is None and total is None:
            return None
        return TokenUsage(read, written, total_tokens=total)

    @property
    def cost_usd(self) -> float | None:
        """The cost recorded on this very span."""
        return as_amount(as_object(self.metrics.get("costs")).get("total"))


def make_span(node: Node) -> Span:
    """Make the authoring object of a recorded span."""
    match node.kind:
        case "llm":
            return _llm_span(node)
        case "tool":
            return _tool_span(node)
        case "retriever":
            return _retriever_span(node)
        case "agent":
            metrics = AgentMetrics(
                token_usage=node.token_usage, cost_usd=node.cost_usd, **_outcome(node)
            )
            inputs, outputs = node.data.get("inputs"), node.data.get("outputs")
            return AgentSpan(**_place(node), input=inputs, output=outputs, metrics=metrics)
        case _:
            return ChainSpan(**_place(node), metrics=SpanMetrics(**_outcome(node)))


def _place(node: Node) -> dict[str, Any]:
    return {
        "span_id": node.span_id,
        "name": as_str(node.entry.get("name")) or "",
        "parent_span_id": node.parent_span_id,
        "start_time": node.start_time,
    }


def _outcome(node: Node) -> dict[str, Any]:
    return {
        "duration_ms": node.duration_ms,
        "error": node.is_error,
        "error_message": as_str(node.entry.get("status_message")),
    }


def _llm_span(node: Node) -> LLMSpan:
    meta = node.part("meta")
    request, response = as_object(meta.get("request")), as_object(meta.get("response"))
    parameters = as_object(node.data.get("parameters"))
    return LLMSpan(
        **_place(node),
        input=_messages(node.data.get("inputs")),
        output=_answer(node.data.get("outputs")),
        model=as_str(request.get("model")) or as_str(response.get("model")),
        vendor=as_str(meta.get("system")),
        temperature=as_number(request.get("temperature", parameters.get("temperature"))),
        metrics=LLMMetrics(token_usage=node.token_usage, cost_usd=node.cost_usd, **_outcome(node)),
    )


def _tool_span(node: Node) -> ToolSpan:
    return ToolSpan(
        **_place(node),
        arguments=parse_object(node.data.get("inputs")),
        result=node.data.get("outputs"),
        metrics=SpanMetrics(**_outcome(node)),
    )


def _retriever_span(node: Node) -> RetrieverSpan:
    inputs, outputs = node.data.get("inputs"), node.data.get("outputs")
    query = as_object(inputs).get("query", inputs)
    found = as_object(outputs).get("documents", outputs)
    return RetrieverSpan(
        **_place(node),
        query=as_str(query),
        documents=[_document(one) for one in as_list(found)],
        metrics=SpanMetrics(**_outcome(node)),
    )


def _document(found: Any) -> RetrievedDocument:
    document = as_object(found)
    return RetrievedDocument(
        as_str(document.get("id")),
        _text(document.get("content", found)),
        score=as_number(document.get("score")),
        metadata=as_object(document.get("metadata")),
    )


def _messages(inputs: Any) -> list[Message]:
    """Read the messages a model was given: a list, an object with one, or a bare prompt."""
    envelope = as_object(inputs)
    said = envelope.get("messages", envelope.get("prompt", inputs))
    return [UserMessage(said)] if isinstance(said, str) else list(map(_message, as_objects(said)))


def _message(recorded: dict[str, Any]) -> Message:
    content = _text(recorded.get("content")) or ""
    match recorded.get("role"):
        case "system" | "developer":
            return SystemMessage(content)
        case "assistant":
            return AssistantMessage(content, tool_calls=_tool_calls(recorded.get("tool_calls")))
        case "tool":
            return ToolMessage(content, tool_call_id=as_str(recorded.get("tool_call_id")))
        case _:
            return UserMessage(content)


def _tool_calls(recorded: Any) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for call in as_objects(recorded):
        function = as_object(call.get("function")) or call
        name = as_str(function.get("name"))
        if name is not None:
            arguments = parse_object(function.get("arguments"))
            calls.append(ToolCall(as_str(call.get("id")), name, arguments=arguments))
    return calls


def _answer(outputs: Any) -> Any:
    """Take the answer out of its envelope: the last message's text, else the value as it is."""
    said = as_object(outputs).get("completion", outputs)
    messages = as_objects(said)
    last = messages[-1] if messages else as_object(said)
    return _text(last["content"]) if "content" in last else said


def _text(content: Any) -> str | None:
    """Join a message's text parts; None when there is no text."""
    if isinstance(content, str):
        return content
    texts = [text for part in as_objects(content) if (text := as_str(part.get("text"))) is not None]
    return "".join(texts) if texts else None
