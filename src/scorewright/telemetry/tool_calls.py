"""The tools that a trace called: each call once, in call order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.envelopes import arguments, parsed, result
from scorewright.telemetry.failures import failure_of
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


class Talk(msgspec.Struct):
    """Calls and results that stand in messages, by call."""

    calls: dict[str, ToolCall]
    results: dict[str, ToolResult]


def tool_calls_of(trace: Trace) -> list[CalledTool]:
    """List the tools' spans; in a trace without any, the calls that its messages tell of.

    What a tool's span does not say is taken from the messages, by the id of the call.
    """
    order = trace.calls
    return [*tools_by_span(trace, order).values()] or told_tools(talk_of(trace, order))


def tools_by_span(trace: Trace, order: Iterable[int]) -> dict[int, CalledTool]:
    """Read the tools' spans among those at some positions, in their order."""
    facts = trace.facts
    positions = [position for position in order if facts[position].kind == "tool"]
    sparse = any(_is_sparse(facts[position]) for position in positions)
    talk = talk_of(trace, trace.calls) if sparse else Talk({}, {})
    return {
        position: _tool_of_span(trace.tree.spans[position], facts[position], talk)
        for position in positions
    }


def told_tools(talk: Talk) -> list[CalledTool]:
    """Read the calls that messages tell of."""
    return [tool_of_messages(call, talk.results.get(key)) for key, call in talk.calls.items()]


def _is_sparse(facts: SpanFacts) -> bool:
    given, returned = facts.tool_arguments, facts.tool_result
    return facts.tool_call_id is not None and (
        returned is None or not isinstance(parsed(given), dict)
    )


def _tool_of_span(span: RawSpan, facts: SpanFacts, talk: Talk) -> CalledTool:
    given, returned = facts.tool_arguments, facts.tool_result
    failure = failure_of(span, facts)
    error = None if failure is None else failure.text
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


def tool_of_messages(call: ToolCall, answered: ToolResult | None) -> CalledTool:
    """Read a call from the message that asked for it and the one that answered."""
    returned = None if answered is None else result(answered.result)
    failed = answered is not None and answered.failed
    error = (returned if isinstance(returned, str) and returned else "error") if failed else None
    return CalledTool(call.name, arguments(call.arguments), returned, error)


def talk_of(trace: Trace, positions: Iterable[int]) -> Talk:
    """Gather calls and results from the messages of some spans: histories repeat them, and each counts once."""
    talk = Talk({}, {})
    for position in positions:
        facts = trace.facts[position]
        for source in (facts.input_messages, facts.output_messages):
            for message in source() if source is not None else ():
                _listen(message, talk)
    return talk


def _listen(message: Message, talk: Talk) -> None:
    for call in message.calls:
        talk.calls.setdefault(key_of(call), call)
    for answered in message.results:
        if answered.call_id is not None:
            talk.results.setdefault(answered.call_id, answered)


def key_of(call: ToolCall) -> str:
    """Return what tells a call from others: its id, or else all it says."""
    return call.call_id or msgspec.json.encode([call.name, call.arguments]).decode()
