"""A trace prepared for being read many times: what its items ask for is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import cached_property
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonValue
from scorewright.telemetry.assembly import Trace, costs_in, input_of, model_calls_of
from scorewright.telemetry.failures import failure_of
from scorewright.telemetry.items.nesting import Nesting
from scorewright.telemetry.items.subtree_sums import Sum, own_tokens, tokens_below
from scorewright.telemetry.messages import Message
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.retrievals import searches_of
from scorewright.telemetry.span_facts import Messages, SpanFacts
from scorewright.telemetry.tool_calls import (
    CalledTool,
    Talk,
    talk_of,
    told_tools,
    tools_by_span,
)


class Scope(msgspec.Struct, frozen=True):
    """A span, or a whole trace, and what is its own: everything below it but for what tools do inside."""

    #: None for the whole trace.
    top: int | None
    #: All that is its own, by start.
    positions: list[int]
    model_calls: list[int]
    tools: list[int]


class Reading:
    """One trace, its messages read at most once, and what every item of it needs."""

    def __init__(self, trace: Trace) -> None:
        self.spans: Final[tuple[RawSpan, ...]] = trace.tree.spans
        self.facts: Final = tuple(_remembering(facts) for facts in trace.facts)
        self.trace: Final = Trace(trace.tree, self.facts)
        #: Positions by start, and by position its place among these.
        self.order: Final = trace.calls
        self.rank: Final = _inverse(self.order)
        #: By position, that of the first span behind all that stands below it.
        self.ends: Final = _ends(trace.tree.parents)
        #: Wrappers are none.
        self.model_calls: Final = frozenset(model_calls_of(trace))
        #: By the position that they start with.
        self.searches: Final = {search.position: search for search in searches_of(self.trace)}
        self.failures: Final = [
            failure_of(span, facts) for span, facts in zip(self.spans, self.facts, strict=True)
        ]
        #: The calls that have a span, by its position and in order.
        self.tools: Final = tools_by_span(self.trace, self.order)
        #: By position, of all that stands below it.
        self.tokens_below: Final = tokens_below(trace)
        self.costs: Final = costs_in(trace)

    @cached_property
    def talk(self) -> Talk:
        """Calls and results in the messages of the whole trace."""
        return talk_of(self.trace, self.order)

    @cached_property
    def tool_calls(self) -> list[CalledTool]:
        """The tools that the trace called, in order."""
        return [*self.tools.values()] or told_tools(self.talk)

    @cached_property
    def question(self) -> JsonValue:
        """What the user asked."""
        return input_of(self.trace)

    def tokens_at(self, position: int) -> Sum | None:
        """Return the tokens of a span with all below it."""
        below = self.tokens_below[position]
        return own_tokens(self.facts[position]) if below is None else below

    def in_order(self, positions: Iterable[int]) -> list[int]:
        """Sort positions by start."""
        return sorted(positions, key=self.rank.__getitem__)

    def within(self, top: int, nesting: Nesting) -> list[int]:
        """List the positions that the item of the span at `top` holds, in tree order."""
        return list(self._within(top, nesting, is_shut=_never))

    def scope(self, top: int | None, nesting: Nesting | None = None) -> Scope:
        """Gather what is a span's own, or the whole trace's; with all agents inside unless a nesting is given."""
        facts = self.facts
        own = self.in_order(
            self._within(
                top, nesting, lambda position: facts[position].kind == "tool" and position != top
            )
        )
        return Scope(
            top,
            own,
            [position for position in own if position in self.model_calls],
            [position for position in own if facts[position].kind == "tool"],
        )

    def _within(
        self, top: int | None, nesting: Nesting | None, is_shut: Callable[[int], bool]
    ) -> Iterator[int]:
        position, end = (0, len(self.spans)) if top is None else (top, self.ends[top])
        while position < end:
            if top is not None and nesting is not None and nesting.is_too_deep(position, top):
                position = self.ends[position]
                continue
            yield position
            position = self.ends[position] if is_shut(position) else position + 1


def _never(_: int) -> bool:
    return False


def _inverse(order: list[int]) -> list[int]:
    ranks = [0] * len(order)
    for rank, position in enumerate(order):
        ranks[position] = rank
    return ranks


def _ends(parents: tuple[int, ...]) -> list[int]:
    ends = list(range(1, len(parents) + 1))
    for position in range(len(parents) - 1, 0, -1):
        parent = parents[position]
        # In tree order, the last child is the first to come by.
        if parent >= 0 and ends[parent] <= position:
            ends[parent] = ends[position]
    return ends


def _remembering(facts: SpanFacts) -> SpanFacts:
    """Copy facts whose messages are read when they are first asked for, and never again."""
    if facts.input_messages is None and facts.output_messages is None:
        return facts
    copied = copy(facts)
    copied.input_messages = _once(facts.input_messages)
    copied.output_messages = _once(facts.output_messages)
    return copied


def _once(source: Messages | None) -> Messages | None:
    if source is None:
        return None
    read: list[tuple[Message, ...]] = []

    def messages() -> tuple[Message, ...]:
        if not read:
            read.append(source())
        return read[0]

    return messages
