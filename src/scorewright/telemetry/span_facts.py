"""What a span means, in the same words whatever wrote it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.messages import Message
from scorewright.telemetry.raw_span import RawSpan

SpanKind: TypeAlias = Literal[
    "llm", "embedding", "agent", "tool", "retriever", "reranker", "chain", "setup", "http"
]
#: Messages are read when they are asked for: most spans are never asked.
Messages: TypeAlias = Callable[[], tuple[Message, ...]]
#: As messages are.
Tools: TypeAlias = Callable[[], "tuple[ToolDefinition, ...]"]


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens of a span; None is unknown. Cached and reasoning tokens are parts of these, never more."""

    input: int | None = None
    output: int | None = None
    total: int | None = None


class Document(msgspec.Struct, frozen=True, gc=False):
    """A passage that a retrieval found; a score of 0 is one."""

    id: str | None = None
    content: str | None = None
    score: float | None = None


class ToolDefinition(msgspec.Struct, frozen=True, gc=False):
    """A tool that was offered to a model; `parameters` is the JSON schema of its arguments, as it was sent."""

    name: str
    description: str | None = None
    parameters: JsonObject = {}


class SpanFacts(msgspec.Struct, gc=False):
    """What the conventions say of one span; None is unknown."""

    kind: SpanKind | None = None
    model: str | None = None
    vendor: str | None = None
    temperature: float | None = None
    time_to_first_token_ms: float | None = None
    #: Offered to the model or the agent.
    available_tools: Tools | None = None
    input_messages: Messages | None = None
    output_messages: Messages | None = None
    #: Recorded as one value, envelopes and all.
    input_value: JsonValue = None
    output_value: JsonValue = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    #: As recorded.
    tool_arguments: JsonValue = None
    tool_result: JsonValue = None
    tool_error: str | None = None
    #: Of a retrieval, where it stands apart from the span's input.
    query: str | None = None
    #: None when the span says nothing of documents.
    documents: tuple[Document, ...] | None = None
    vector_db: str | None = None
    top_k: int | None = None
    usage: Usage | None = None
    #: Of the input tokens: what the provider had read before.
    cached_tokens: int | None = None
    cost_usd: float | None = None
    session_id: str | None = None
    agent_name: str | None = None
    #: What an agent is built with, and the instructions it was given.
    framework: str | None = None
    system_prompt: str | None = None
    #: Where the application runs, such as "production".
    environment: str | None = None

    def fill(self, other: SpanFacts) -> None:
        """Take over what is unknown here."""
        for name, found in zip(_FIELDS, msgspec.structs.astuple(other), strict=True):
            if found is not None and getattr(self, name) is None:
                setattr(self, name, found)


_FIELDS = SpanFacts.__struct_fields__


class Convention(msgspec.Struct, frozen=True):
    """One way of writing facts into spans."""

    name: str
    #: What its attributes' and events' names start with, up to the first dot.
    namespaces: frozenset[str]
    #: None when the span is not of this convention.
    read: Callable[[RawSpan], SpanFacts | None]
