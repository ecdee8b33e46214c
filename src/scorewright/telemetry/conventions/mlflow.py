"""MLflow's traces: every attribute is JSON text, texts among them in quotes."""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.attribute_values import amount, count, documents_of, usage_of
from scorewright.telemetry.container import container
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts, SpanKind
from scorewright.telemetry.tool_definitions import read_tools

_KINDS: Final[dict[JsonValue, SpanKind]] = {
    "LLM": "llm",
    "CHAT_MODEL": "llm",
    "AGENT": "agent",
    "TOOL": "tool",
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "EMBEDDING": "embedding",
    "CHAIN": "chain",
    "PARSER": "chain",
    "WORKFLOW": "chain",
    "TASK": "chain",
}


def read(span: RawSpan) -> SpanFacts | None:
    """Read a span with attributes called `mlflow.…`."""
    attributes = span.attributes
    kind = _plain(attributes, "mlflow.spanType")
    tokens = _plain(attributes, "mlflow.chat.tokenUsage")
    tokens = tokens if isinstance(tokens, dict) else {}
    facts = SpanFacts(
        kind=_KINDS.get(kind) if isinstance(kind, str) else None,
        model=_text(attributes, "mlflow.llm.model"),
        vendor=_text(attributes, "mlflow.llm.provider"),
        input_value=_plain(attributes, "mlflow.spanInputs"),
        output_value=_plain(attributes, "mlflow.spanOutputs"),
        session_id=_text(attributes, "mlflow.trace.session"),
        usage=usage_of(
            count(tokens, "input_tokens"),
            count(tokens, "output_tokens"),
            count(tokens, "total_tokens"),
        ),
        cached_tokens=count(tokens, "cache_read_input_tokens"),
    )
    if facts.kind == "tool":
        facts.tool_name = _text(attributes, "mlflow.spanFunctionName")
        facts.tool_arguments, facts.tool_result = facts.input_value, facts.output_value
    elif facts.kind == "retriever":
        facts.documents = documents_of(facts.output_value)
    elif facts.kind == "llm":
        asked = facts.input_value
        facts.temperature = amount(asked, "temperature") if isinstance(asked, dict) else None
        if (tools := attributes.get("mlflow.chat.tools")) is not None:
            facts.available_tools = partial(read_tools, tools)
    return facts


def _plain(attributes: JsonObject, name: str) -> JsonValue:
    """Decode an attribute; a text that is no JSON is itself."""
    raw = attributes.get(name)
    if not isinstance(raw, str):
        return raw
    if raw[:1] in {"{", "["}:
        found = container(raw)
        return raw if found is None else found
    try:
        return msgspec.json.decode(raw.encode())
    except msgspec.DecodeError:
        return raw


def _text(attributes: JsonObject, name: str) -> str | None:
    found = _plain(attributes, name)
    return found if isinstance(found, str) and found else None


CONVENTION: Final = Convention("mlflow", frozenset({"mlflow"}), read)
