"""The tools that a trace called: each call once, in call order."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.envelopes import arguments, parsed, result
from scorewright.telemetry.messages import Message, ToolCall, ToolResult
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import SpanFacts

_NAME_BEFORE: Final = ("execute_tool ", "running tool: ", "tool: ")


class CalledTool(msgspec.Struct, frozen=True):
    """One call; None where nothing was recorded, and the error's text where the tool failed."""

    name: str
    arguments: JsonObject | None
    result: JsonValue
    error: str | None


class _Talk(msgspec.Struct):
    """Calls and results that stand in messages, by call."""

    calls: dict[str, ToolCall]
    results: dict[str, ToolResult]


def tool_calls_of(trace: Trace) -> list[CalledTool]:
    """List the tools' spans; in a trace without any, the calls that its messages tell of.

    What a tool's span does not say is taken from the messages, by the id of the call.
    """
    positions = [position for position in trace.calls if trace.facts[position].kind == "tool"]
    if not positions:
        talk = _talk_of(trace)
        return [_of_messages(call, talk.results.get(key)) for key, call in talk.calls.items()]
    sparse = any(_is_sparse(trace.facts[position]) for position in positions)
    talk = _talk_of(trace) if sparse else _Talk({}, {})
    return [
        _of_span(trace.tree.spans[position], trace.facts[position], talk) for position in positions
    ]


def _is_sparse(facts: SpanFacts) -> bool:
    given, returned = facts.tool_arguments, facts.tool_result
    return facts.tool_call_id is not None and (
        returned is None or not isinstance(parsed(given), dict)
    )


def _of_span(span: RawSpan, facts: SpanFacts, talk: _Talk) -> CalledTool:
    given, returned = facts.tool_arguments, facts.tool_result
    error = _error_of(span, facts)
    if facts.tool_call_id is not None:
        call = talk.calls.get(facts.tool_call_id)
        answered = talk.results.get(facts.tool_call_id)
        if call is not None and _says_more(call.arguments, given):
            given = call.arguments
        if returned is None and answered is not None and error is None:
            returned = answered.result
    name = facts.tool_name or _name_of(span.name)
    return CalledTool(name, arguments(given), result(returned), error)


def _says_more(asked: JsonValue, given: JsonValue) -> bool:
    """Tell whether the model's arguments have names where the span has none: LangChain's tools of one argument."""
    if given is None:
        return True
    return isinstance(given, str) and given[:1] != "{" and isinstance(parsed(asked), dict)


def _name_of(name: str) -> str:
    for before in _NAME_BEFORE:
        name = name.removeprefix(before)
    return name.removesuffix(".tool")


def _error_of(span: RawSpan, facts: SpanFacts) -> str | None:
    if span.status != "error":
        return facts.tool_error
    kind = facts.tool_error or ""
    message = span.status_message
    for event in span.events:
        if event.name == "exception":
            kind = kind or str(event.attributes.get("exception.type") or "")
            message = message or str(event.attributes.get("exception.message") or "")
    return ": ".join(dict.fromkeys(part for part in (kind, message) if part)) or "error"


def _of_messages(call: ToolCall, answered: ToolResult | None) -> CalledTool:
    returned = None if answered is None else result(answered.result)
    failed = answered is not None and answered.failed
    error = (returned if isinstance(returned, str) and returned else "error") if failed else None
    return CalledTool(call.name, arguments(call.arguments), returned, error)


def _talk_of(trace: Trace) -> _Talk:
    """Gather calls and results from all messages: histories repeat them, and each counts once."""
    talk = _Talk({}, {})
    for position in trace.calls:
        facts = trace.facts[position]
        for source in (facts.input_messages, facts.output_messages):
            for message in source() if source is not None else ():
                _listen(message, talk)
    return talk


def _listen(message: Message, talk: _Talk) -> None:
    for call in message.calls:
        key = call.call_id or msgspec.json.encode([call.name, call.arguments]).decode()
        talk.calls.setdefault(key, call)
    for answered in message.results:
        if answered.call_id is not None:
            talk.results.setdefault(answered.call_id, answered)
