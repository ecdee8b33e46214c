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
from scorewright.telemetry.items.reading import Reading, Scope
from scorewright.telemetry.items.steps import steps_in
from scorewright.telemetry.items.told_events import speakers_in
from scorewright.telemetry.items.whole import heavy_members, light_members


def trace_item(trace: Trace) -> bytes:
    """Make the item of a whole trace."""
    parts = _Parts(trace)
    return parts.item({}, None, heavy_members(parts.reading), {})


def agent_items(trace: Trace) -> Iterator[tuple[str, bytes]]:
    """Make an item of each agent's span, by start; none where a trace has no agent.

    Yields:
        The span's id, and its item.
    """
    parts = _Parts(trace)
    reading = parts.reading
    for position in reading.order:
        if reading.facts[position].kind == "agent":
            scope = reading.scope(position)
            agent = agent_object(reading, position, scope)
            trajectory: JsonObject = {
                "messages": _messages(reading, scope),
                "steps": [*steps_in(reading, scope)],
            }
            front: JsonObject = {"agent": agent}
            item = parts.item(front, position, {}, {"trajectory": trajectory})
            yield reading.spans[position].span_id, item


def llm_items(trace: Trace) -> Iterator[tuple[str, bytes]]:
    """Make an item of each model call, by start; wrappers of others are none.

    Yields:
        The span's id, and its item.
    """
    parts = _Parts(trace)
    reading = parts.reading
    for position in reading.in_order(reading.model_calls):
        front: JsonObject = {"llm": model_call_object(reading, position)}
        yield reading.spans[position].span_id, parts.item(front, position, {}, {})


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
    return parts.item({}, None, heavy_members(parts.reading), {"conversation": conversation})


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

    def item(
        self, front: JsonObject, top: int | None, heavy: JsonObject, behind: JsonObject
    ) -> bytes:
        """Put an item together.

        Args:
            front: Light members that stand before `trace`.
            top: The span that the item is about; None for the root and all spans.
            heavy: Members of `trace` behind the light ones.
            behind: Members that stand behind `trace`.
        """
        reading = self.reading
        session: JsonObject = {"id": self._session_id}
        front = {"traceId": reading.trace.root.trace_id, "session": session, **front}
        heavy = {**heavy, "attributes": reading.spans[top or 0].attributes}
        return with_head(front, self._light, heavy, behind, self._spans.within(top))
