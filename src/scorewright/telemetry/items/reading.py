"""A trace prepared for being read many times: what its items ask for is worked out once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from functools import cached_property

import msgspec

from scorewright.telemetry.assembly import Trace, model_calls_of
from scorewright.telemetry.failures import Failure, failure_of
from scorewright.telemetry.items.subtree_sums import SubtreeSums, Sum, own_tokens, subtree_sums
from scorewright.telemetry.messages import Message
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.retrievals import Search, searches_of
from scorewright.telemetry.span_facts import Messages, SpanFacts
from scorewright.telemetry.tool_calls import (
    CalledTool,
    Talk,
    is_sparse,
    talk_of,
    tool_calls_of,
    tool_of_span,
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
    """One trace, its messages read at most once."""

    def __init__(self, trace: Trace) -> None:
        self.trace = Trace(trace.tree, tuple(_remembering(facts) for facts in trace.facts))

    @property
    def spans(self) -> tuple[RawSpan, ...]:
        """The spans in tree order."""
        return self.trace.tree.spans

    @property
    def facts(self) -> tuple[SpanFacts, ...]:
        """What they mean, by position."""
        return self.trace.facts

    @cached_property
    def order(self) -> list[int]:
        """Positions by start."""
        return self.trace.calls

    @cached_property
    def rank(self) -> list[int]:
        """By position, its place in `order`."""
        ranks = [0] * len(self.order)
        for rank, position in enumerate(self.order):
            ranks[position] = rank
        return ranks

    @cached_property
    def ends(self) -> list[int]:
        """By position, that of the first span behind all that stands below it."""
        ends = list(range(1, len(self.spans) + 1))
        parents = self.trace.tree.parents
        for position in range(len(ends) - 1, 0, -1):
            parent = parents[position]
            if parent >= 0:
                ends[parent] = max(ends[parent], ends[position])
        return ends

    @cached_property
    def model_calls(self) -> frozenset[int]:
        """Positions of the model calls that count: wrappers do not."""
        return frozenset(model_calls_of(self.trace))

    @cached_property
    def searches(self) -> dict[int, Search]:
        """The searches by the position that they start with."""
        return {search.position: search for search in searches_of(self.trace)}

    @cached_property
    def sums(self) -> SubtreeSums:
        """What the spans below each span took."""
        return subtree_sums(self.trace)

    @cached_property
    def talk(self) -> Talk:
        """Calls and results in the messages of the whole trace."""
        return talk_of(self.trace, self.order)

    @cached_property
    def tool_calls(self) -> list[CalledTool]:
        """The tools that the trace called, in order."""
        return tool_calls_of(self.trace)

    def tool_at(self, position: int) -> CalledTool:
        """Read the call that a tool's span stands for."""
        facts = self.facts[position]
        talk = self.talk if is_sparse(facts) else Talk({}, {})
        return tool_of_span(self.spans[position], facts, talk)

    def failure_at(self, position: int) -> Failure | None:
        """Tell why a span failed; None when it did not."""
        return failure_of(self.spans[position], self.facts[position])

    def tokens_at(self, position: int) -> Sum | None:
        """Return the tokens of a span with all below it."""
        below = self.sums.tokens[position]
        return own_tokens(self.facts[position]) if below is None else below

    def cost_at(self, position: int) -> float | None:
        """Return the cost of a span with all below it."""
        below = self.sums.costs[position]
        return self.facts[position].cost_usd if below is None else below

    def in_order(self, positions: Iterable[int]) -> list[int]:
        """Sort positions by start."""
        return sorted(positions, key=self.rank.__getitem__)

    def scope(self, top: int | None) -> Scope:
        """Gather what is a span's own, or the whole trace's."""
        own = self.in_order(self._own(top))
        facts = self.facts
        return Scope(
            top,
            own,
            [position for position in own if position in self.model_calls],
            [position for position in own if facts[position].kind == "tool"],
        )

    def _own(self, top: int | None) -> Iterator[int]:
        position, end = (0, len(self.spans)) if top is None else (top, self.ends[top])
        while position < end:
            yield position
            is_shut = self.facts[position].kind == "tool" and position != top
            position = self.ends[position] if is_shut else position + 1


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
