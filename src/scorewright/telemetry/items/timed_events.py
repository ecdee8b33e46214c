"""Events by the start of the spans that tell them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scorewright.telemetry.assembly import recorded_output
from scorewright.telemetry.items.chat import text_of
from scorewright.telemetry.items.events import (
    Event,
    ModelTurn,
    SearchRun,
    ToolRun,
    ToolTold,
    before_the_answer,
)
from scorewright.telemetry.items.reading import Reading, Scope
from scorewright.telemetry.messages import ToolCall
from scorewright.telemetry.span_facts import SpanFacts
from scorewright.telemetry.tool_calls import key_of, talk_of, tool_of_messages


def timed_events(reading: Reading, scope: Scope) -> list[Event]:
    """List model turns, tools and searches; where no tool has a span, the calls that messages tell of."""
    told = None if scope.tools else _ToldCalls(reading, scope)
    events: list[Event] = []
    for position in scope.positions:
        facts = reading.facts[position]
        if position in reading.model_calls:
            turn = model_turn(position, facts)
            if told is not None:
                events.extend(told.in_history(facts))
            events.append(turn)
            if told is not None:
                events.extend(told.new(turn.calls))
        elif facts.kind == "tool":
            events.append(ToolRun(position))
        elif position in reading.searches:
            events.append(SearchRun(position))
    return events if told is None else before_the_answer(events, told.left())


def model_turn(position: int, facts: SpanFacts) -> ModelTurn:
    """Read what a model answered."""
    said = recorded_output(facts)
    if facts.output_messages is None:
        return ModelTurn(position, None if said is None else text_of(said), ())
    calls = tuple(call for message in facts.output_messages() for call in message.calls)
    return ModelTurn(position, text_of(said), calls)


class _ToldCalls:
    """The tools that messages tell of, each once.

    What an agent's model calls have in their histories may be another agent's doing, so that it counts for
    the whole trace, and for an agent none of whose turns were recorded.
    """

    def __init__(self, reading: Reading, scope: Scope) -> None:
        turns = [reading.facts[position].output_messages for position in scope.model_calls]
        self._trusts_histories = scope.top is None or all(turn is None for turn in turns)
        self._results = reading.talk.results
        positions = scope.positions if self._trusts_histories else ()
        self._left = talk_of(reading.trace, positions).calls
        self._told: set[str] = set()

    def in_history(self, facts: SpanFacts) -> list[Event]:
        """List the calls of a history that were not told before."""
        if not self._trusts_histories or facts.input_messages is None:
            return []
        return self.new(call for message in facts.input_messages() for call in message.calls)

    def new(self, calls: Iterable[ToolCall]) -> list[Event]:
        """List those of some calls that were not told before."""
        return list(self._new(calls))

    def left(self) -> list[Event]:
        """List the calls that none of the model calls told."""
        return self.new(self._left.values())

    def _new(self, calls: Iterable[ToolCall]) -> Iterator[Event]:
        for call in calls:
            key = key_of(call)
            if key not in self._told:
                self._told.add(key)
                yield ToolTold(call.call_id, tool_of_messages(call, self._results.get(key)))
