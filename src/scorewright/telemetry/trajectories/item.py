"""What an evaluator sees of an uploaded trajectory: the item of an agent, with spans made of its messages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Final, assert_never, cast

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.items.chat import call_objects, message_objects, tool_objects
from scorewright.telemetry.items.head import members_of, with_head
from scorewright.telemetry.messages import last_text
from scorewright.telemetry.span_facts import Usage
from scorewright.telemetry.tool_calls import CalledTool
from scorewright.telemetry.trajectories.events import Asked, Event, Said, Used, events_of
from scorewright.telemetry.trajectories.model import NOTHING, Spent, Trajectory, Turn

#: Id of the span that stands for the agent; the others are called by their step.
_AGENT_ID: Final = "agent"
#: Of earlier messages, repeated in the spans of model calls: a long talk repeats itself with every turn.
MAX_REPEATED_BYTES: Final = 16 << 20


def trajectory_item(trajectory: Trajectory) -> bytes:
    """Make the item: one JSON object whose `head` tells where its light members end."""
    return _Parts(trajectory).item()


class _Parts:
    """What an item is made of."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._told = trajectory
        self._turns = trajectory.turns
        self._events = events_of(trajectory.turns)
        self._answers = [event for event in self._events if isinstance(event, Said)]
        #: By the number of the step.
        self._called = {
            number: event.read()
            for number, event in enumerate(self._events, 1)
            if isinstance(event, Used)
        }
        messages = tuple(turn.message for turn in self._turns)
        self._input = last_text(messages, "user")
        self._output = _final_answer(self._turns)
        self._system_prompt = next(
            (one.text for one in messages if one.role == "system" and one.text is not None), None
        )

    def item(self) -> bytes:
        front: JsonObject = {
            "traceId": self._told.trace_id,
            "session": {"id": self._told.session_id},
            "agent": self._agent(),
        }
        behind: JsonObject = {
            "trajectory": {
                "messages": cast("JsonValue", msgspec.Raw(_list(self._messages))),
                "steps": [self._step(*numbered) for numbered in enumerate(self._events, 1)],
            },
            **self._told.others,
            "spans_left_out": 0,
        }
        light, spans = members_of(self._light()), msgspec.json.encode(self._spans())
        return with_head(front, light, {"attributes": {}}, behind, spans)

    # ── The whole ────────────────────────────────────────────────────────────────────────────────

    def _light(self) -> JsonObject:
        start_ns, end_ns = self._times
        errors = sum(called.error is not None for called in self._called.values())
        agent_name = self._told.agent_name
        models = [self._model_of(answer.turn) for answer in self._answers] or [self._told.model]
        return {
            "trace_id": self._told.trace_id,
            "name": agent_name,
            "start_time": iso_utc(start_ns),
            "end_time": iso_utc(end_ns),
            "input": self._input,
            "output": self._output,
            "status": "UNSET",
            "models": [model for model in dict.fromkeys(models) if model is not None],
            "agents": [] if agent_name is None else [agent_name],
            "service": None,
            "environment": None,
            "metrics": {
                "total_duration_ms": self._duration_ms,
                "token_usage": _tokens(self._spent),
                "cost_usd": self._spent.cost_usd,
                "error_count": errors,
                "has_errors": errors > 0,
                "span_count": 1 + len(self._answers) + len(self._called),
                "llm_call_count": len(self._answers),
                "tool_call_count": len(self._called),
            },
        }

    def _agent(self) -> JsonObject:
        return {
            "agent_id": _AGENT_ID,
            "agent_name": self._told.agent_name,
            "framework": None,
            "model": self._model,
            "system_prompt": self._system_prompt,
            "available_tools": self._available_tools,
            "input": self._input,
            "output": self._output,
            "metrics": {
                "duration_ms": self._duration_ms,
                "error": False,
                "error_type": None,
                "error_message": None,
                "token_usage": _tokens(self._spent),
                "cost_usd": self._spent.cost_usd,
            },
        }

    @property
    def _model(self) -> str | None:
        told = (answer.turn.model for answer in self._answers)
        return self._told.model or next((model for model in told if model is not None), None)

    def _model_of(self, turn: Turn) -> str | None:
        return turn.model or self._told.model

    @property
    def _available_tools(self) -> list[JsonValue] | None:
        return None if self._told.tools is None else tool_objects(self._told.tools)

    @cached_property
    def _spent(self) -> Spent:
        """What the turns took in sum, and where none tells, what the whole is said to have taken."""
        found = _sum_of(answer.turn.spent for answer in self._answers)
        whole = self._told.spent
        tokens = found if found.usage is not None else whole
        cost = whole.cost_usd if found.cost_usd is None else found.cost_usd
        return Spent(tokens.usage, tokens.cached_tokens, cost)

    @cached_property
    def _times(self) -> tuple[int | None, int | None]:
        times = [turn.at_ns for turn in self._turns if turn.at_ns is not None]
        return (times[0], times[-1]) if len(times) > 1 else (times[0] if times else None, None)

    @property
    def _duration_ms(self) -> float | None:
        start_ns, end_ns = self._times
        if start_ns is None or end_ns is None or end_ns < start_ns:
            return None
        return (end_ns - start_ns) / 1e6

    # ── Step by step ─────────────────────────────────────────────────────────────────────────────

    def _step(self, number: int, event: Event) -> JsonObject:
        match event:
            case Asked():
                return {"type": "user", "content": event.text}
            case Said():
                message = event.turn.message
                return {
                    "type": "llm",
                    "content": message.text or "",
                    "tool_calls": call_objects(message.calls),
                    "span_id": _span_id(number),
                    "is_response": event is self._answers[-1] and not message.calls,
                }
            case Used():
                called = self._called[number]
                return {
                    "type": "tool",
                    "name": called.name,
                    "arguments": called.arguments,
                    "result": called.result,
                    "call_id": event.call_id,
                    "error": called.error,
                    "duration_ms": None,
                    "nested": [],
                }
            case _:
                assert_never(event)

    @cached_property
    def _written(self) -> list[list[bytes]]:
        """The messages of each turn, written once."""
        return [
            [msgspec.json.encode(told) for told in message_objects([turn.message])]
            for turn in self._turns
        ]

    @cached_property
    def _messages(self) -> list[bytes]:
        return [told for messages in self._written for told in messages]

    # ── Spans ────────────────────────────────────────────────────────────────────────────────────

    def _spans(self) -> list[JsonValue]:
        histories = self._histories()
        spans: list[JsonValue] = [self._root_span()]
        for number, event in enumerate(self._events, 1):
            if isinstance(event, Said):
                spans.append(self._answer_span(number, event, histories.get(event.position)))
            elif isinstance(event, Used):
                spans.append(_tool_span(number, event.call_id, self._called[number]))
        return spans

    def _root_span(self) -> JsonObject:
        start_ns, end_ns = self._times
        told = self._told
        is_summed = _sum_of(answer.turn.spent for answer in self._answers) != NOTHING
        tokens, cost = (
            ("subtree_tokens", "subtree_cost_usd") if is_summed else ("tokens", "cost_usd")
        )
        return {
            **_span(_AGENT_ID, -1, told.agent_name or "agent", "agent"),
            "start_time": iso_utc(start_ns),
            "end_time": iso_utc(end_ns),
            "duration_ms": self._duration_ms,
            **_known(
                input=self._input,
                output=self._output,
                agent=told.agent_name,
                model=self._model,
                system_prompt=self._system_prompt,
                available_tools=self._available_tools,
            ),
            **_known(**{tokens: _tokens(self._spent), cost: self._spent.cost_usd}),
            "attributes": {},
        }

    def _answer_span(self, number: int, said: Said, history: bytes | None) -> JsonObject:
        turn = said.turn
        model = self._model_of(turn)
        answered = msgspec.structs.replace(turn.message, results=())
        return {
            **_span(_span_id(number), 0, model or "llm", "llm"),
            "start_time": iso_utc(turn.at_ns),
            **_known(
                output=turn.message.text,
                model=model,
                messages=None if history is None else cast("JsonValue", msgspec.Raw(history)),
                completion=message_objects([answered]),
                available_tools=self._available_tools,
                tokens=_tokens(turn.spent),
                cost_usd=turn.spent.cost_usd,
            ),
            "attributes": {},
        }

    def _histories(self) -> dict[int, bytes]:
        """Write what came before each model call, by its turn, until too much was repeated."""
        histories: dict[int, bytes] = {}
        before: list[bytes] = []
        done = size = repeated = 0
        for answer in self._answers:
            for messages in self._written[done : answer.position]:
                before.extend(messages)
                size += sum(map(len, messages))
            done = answer.position
            repeated += size
            if repeated > MAX_REPEATED_BYTES:
                break
            histories[answer.position] = _list(before)
        return histories


def _tool_span(number: int, call_id: str | None, called: CalledTool) -> JsonObject:
    return {
        **_span(_span_id(number), 0, called.name or "tool", "tool"),
        "status": "UNSET" if called.error is None else "ERROR",
        **_known(
            error=called.error,
            input=called.arguments,
            output=called.result,
            tool=called.name or None,
            call_id=call_id,
            arguments=called.arguments,
            result=called.result,
        ),
        "attributes": {},
    }


def _span(span_id: str, parent: int, name: str, kind: str) -> JsonObject:
    """Write the members that every span has, in their order; what is not known of it yet is null."""
    return {
        "span_id": span_id,
        "parent": parent,
        "name": name,
        "kind": kind,
        "start_time": None,
        "end_time": None,
        "duration_ms": None,
        "status": "UNSET",
    }


def _span_id(number: int) -> str:
    return f"step-{number}"


def _known(**members: JsonValue) -> JsonObject:
    return {name: found for name, found in members.items() if found is not None}


def _final_answer(turns: tuple[Turn, ...]) -> str | None:
    """Return the last assistant message's text; None when that wanted tools called: the run ended there."""
    for turn in reversed(turns):
        message = turn.message
        if message.role == "assistant" and (message.text is not None or message.calls):
            return None if message.calls and not message.results else message.text
    return None


def _sum_of(spent: Iterable[Spent]) -> Spent:
    """Add up what is known; the total, and the cost, is when it is for each that tells of tokens."""
    parts = list(spent)
    usages = [part.usage for part in parts if part.usage is not None]
    costs = [part.cost_usd for part in parts if part.cost_usd is not None]
    cached = [part.cached_tokens for part in parts if part.cached_tokens is not None]
    usage = None
    if usages:
        totals = _added([one.total for one in usages])
        is_total = all(one.total is not None for one in usages)
        usage = Usage(
            _added([one.input for one in usages]),
            _added([one.output for one in usages]),
            totals if is_total else None,
        )
    is_cost = all(part.cost_usd is not None for part in parts if part.usage is not None)
    return Spent(usage, _added(cached), sum(costs) if costs and is_cost else None)


def _added(counts: Iterable[int | None]) -> int | None:
    known = [one for one in counts if one is not None]
    return sum(known) if known else None


def _tokens(spent: Spent) -> JsonObject | None:
    usage = spent.usage
    if usage is None:
        return None
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "total_tokens": usage.total,
        "cache_read_tokens": spent.cached_tokens,
    }


def _list(encoded: list[bytes]) -> bytes:
    return b"[" + b",".join(encoded) + b"]"
