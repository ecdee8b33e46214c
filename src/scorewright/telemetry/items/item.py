"""Items as bytes, each with the number that tells where its light members end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.assembly import Trace, input_of, output_of, session_of
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.items.agent import agent_object
from scorewright.telemetry.items.chat import message_objects, whole_talk, without_repetition
from scorewright.telemetry.items.compact import EncodedSpans
from scorewright.telemetry.items.head import members_of, with_head
from scorewright.telemetry.items.model_call import model_call_object
from scorewright.telemetry.items.nesting import Nesting
from scorewright.telemetry.items.reading import Reading, Scope
from scorewright.telemetry.items.steps import steps_in
from scorewright.telemetry.items.told_events import speakers_in
from scorewright.telemetry.items.whole import heavy_members, light_members


def trace_item(trace: Trace) -> bytes:
    """Make the item of a whole trace."""
    return ItemsOfTrace(trace).whole()


def agent_items(trace: Trace) -> Iterator[tuple[str, bytes]]:
    """Make an item of each agent's span, by start; none where a trace has no agent.

    Yields:
        The span's id, and its item.
    """
    return ItemsOfTrace(trace).agents()


def llm_items(trace: Trace) -> Iterator[tuple[str, bytes]]:
    """Make an item of each model call, by start; wrappers of others are none.

    Yields:
        The span's id, and its item.
    """
    return ItemsOfTrace(trace).model_calls()


class ItemsOfTrace:
    """All items of one trace; what they share is read and written once."""

    def __init__(self, trace: Trace) -> None:
        self._parts = _Parts(trace)

    def whole(self) -> bytes:
        """Make the item of the trace itself."""
        return self._parts.item_of_trace({})

    def agents(self) -> Iterator[tuple[str, bytes]]:
        """Make the items of the agents, as `agent_items` does."""
        parts, reading = self._parts, self._parts.reading
        agents = [position for position in reading.order if reading.facts[position].kind == "agent"]
        nesting = Nesting(reading.trace.tree.parents, frozenset(agents))
        for position in agents:
            scope = reading.scope(position, nesting)
            front: JsonObject = {"agent": agent_object(reading, position, scope)}
            trajectory: JsonObject = {
                "messages": _messages(reading, scope),
                "steps": [*steps_in(reading, scope)],
            }
            item = parts.item_of_span(front, position, nesting, {"trajectory": trajectory})
            yield reading.spans[position].span_id, item

    def model_calls(self) -> Iterator[tuple[str, bytes]]:
        """Make the items of the model calls, as `llm_items` does."""
        parts, reading = self._parts, self._parts.reading
        nesting = Nesting(reading.trace.tree.parents, reading.model_calls)
        for position in reading.in_order(reading.model_calls):
            front: JsonObject = {"llm": model_call_object(reading, position)}
            yield reading.spans[position].span_id, parts.item_of_span(front, position, nesting, {})


def conversation_item(turns: Sequence[Trace], *, with_previous: bool) -> bytes:
    """Make the item of a conversation.

    Args:
        turns: Its traces in order, at least one; what is told of a trace is told of the last.
        with_previous: Whether earlier turns tell their input and output, as the last one always does.
    """
    told: list[JsonValue] = []
    for number, turn in enumerate(turns, 1):
        root = turn.root
        one: JsonObject = {
            "turn": number,
            "traceId": root.trace_id,
            "start_time": iso_utc(root.start_ns),
            "duration_ms": root.duration_ms,
        }
        if with_previous or number == len(turns):
            one["input"], one["output"] = input_of(turn), output_of(turn)
        told.append(one)
    session_id = next((found for turn in turns if (found := session_of(turn))), None)
    conversation: JsonObject = {"id": session_id, "turn_count": len(turns), "turns": told}
    parts = _Parts(turns[-1], session_id)
    return parts.item_of_trace({"conversation": conversation})


def _messages(reading: Reading, scope: Scope) -> list[JsonValue]:
    """Write what was said to and by an agent's models, or else to and by the agent itself."""
    positions = [
        position for position in scope.model_calls if any(whole_talk(reading.facts[position]))
    ]
    talk = without_repetition(
        (position, whole_talk(reading.facts[position]))
        for position in positions or speakers_in(reading, scope)
    )
    return message_objects(said.message for said in talk)


class _Parts:
    """What the items of a trace share: each is written once."""

    def __init__(self, trace: Trace, session_id: str | None = None) -> None:
        self.reading = Reading(trace)
        self._session_id = session_of(trace) if session_id is None else session_id
        self._light = members_of(light_members(self.reading))
        self._spans = EncodedSpans(self.reading)

    def item_of_trace(self, behind: JsonObject) -> bytes:
        """Put the item of the whole trace together, with members that stand behind `trace`."""
        everything = range(len(self.reading.spans))
        return self._item({}, heavy_members(self.reading), behind, everything)

    def item_of_span(
        self, front: JsonObject, top: int, nesting: Nesting, behind: JsonObject
    ) -> bytes:
        """Put the item of a span together.

        Args:
            front: Light members that stand before `trace`.
            top: The span.
            nesting: Tells what is left out of what stands below it.
            behind: Members that stand behind `trace`.
        """
        positions = self.reading.within(top, nesting)
        left_out = self.reading.ends[top] - top - len(positions)
        return self._item(front, {}, {**behind, "spans_left_out": left_out}, positions)

    def _item(
        self, front: JsonObject, heavy: JsonObject, behind: JsonObject, positions: Sequence[int]
    ) -> bytes:
        root, top = self.reading.trace.root, self.reading.spans[positions[0]]
        session: JsonObject = {"id": self._session_id}
        front = {"traceId": root.trace_id, "session": session, **front}
        heavy = {**heavy, "attributes": top.attributes}
        return with_head(front, self._light, heavy, behind, self._spans.at(positions))
