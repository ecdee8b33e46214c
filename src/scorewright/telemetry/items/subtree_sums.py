"""Tokens of each span with all below it: the leaf-most carriers count, as for a whole trace."""

from __future__ import annotations

import msgspec

from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.span_facts import SpanFacts


class Sum(msgspec.Struct, gc=False):
    """Tokens of several spans; None is unknown, and a total is known when it is for each of them."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    total: int = 0
    #: Whether some span in the sum does not know its total.
    open: bool = False

    def add(self, other: Sum) -> None:
        """Count other spans as well."""
        self.input = _plus(self.input, other.input)
        self.output = _plus(self.output, other.output)
        self.cached = _plus(self.cached, other.cached)
        self.total += other.total
        self.open = self.open or other.open

    def document(self) -> JsonObject:
        """Return the members that authors see."""
        return {
            "input_tokens": self.input,
            "output_tokens": self.output,
            "total_tokens": None if self.open else self.total,
            "cache_read_tokens": self.cached,
        }


def own_tokens(facts: SpanFacts) -> Sum | None:
    """Return what a span says of itself."""
    usage = facts.usage
    if usage is None:
        return None
    total = usage.total
    return Sum(usage.input, usage.output, facts.cached_tokens, total or 0, total is None)


def tokens_below(trace: Trace) -> list[Sum | None]:
    """Sum from the leaves up, each span once; None where no span below carries any."""
    count = len(trace.facts)
    tokens: list[Sum | None] = [None] * count
    parents = trace.tree.parents
    for position in range(count - 1, 0, -1):
        parent = parents[position]
        if parent < 0:
            continue
        below = tokens[position]
        carried = own_tokens(trace.facts[position]) if below is None else below
        if carried is not None:
            known = tokens[parent]
            if known is None:
                known = tokens[parent] = Sum()
            known.add(carried)
    return tokens


def _plus(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
