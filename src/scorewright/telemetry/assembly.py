"""A trace put together from its spans: what it was asked, what it answered and what it took.

The rules stand in `docs/reference/traces.md`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.conventions import read_facts
from scorewright.telemetry.envelopes import answer, question
from scorewright.telemetry.messages import last_text
from scorewright.telemetry.prices import Costs, costs_of
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import SpanFacts, SpanKind, Usage
from scorewright.telemetry.span_tree import SpanTree, arrange, start_of

#: Kinds whose recorded values are no question and no answer of an application.
_NOT_SPEAKING: Final[set[SpanKind | None]] = {
    "tool", "embedding", "retriever", "reranker", "http", "setup",
}  # fmt: skip
_UNASKED: Final[set[SpanKind | None]] = {"embedding", "reranker", "http", "setup"}
_UNANSWERING: Final[set[SpanKind | None]] = {*_UNASKED, "retriever"}


class Trace(msgspec.Struct, frozen=True):
    """Spans in tree order, each with what it means."""

    tree: SpanTree
    facts: tuple[SpanFacts, ...]

    @property
    def root(self) -> RawSpan:
        """The span that stands for the whole."""
        return self.tree.spans[0]

    @property
    def calls(self) -> list[int]:
        """Positions of all spans by their start."""
        starts = [start_of(span) for span in self.tree.spans]
        return sorted(range(len(starts)), key=starts.__getitem__)


def assemble(spans: Iterable[RawSpan]) -> list[Trace]:
    """Sort spans into traces, by start; the order of arrival makes no difference."""
    groups: dict[str, list[RawSpan]] = {}
    for span in spans:
        groups.setdefault(span.trace_id, []).append(span)
    traces = [_trace(group) for group in groups.values()]
    return sorted(traces, key=lambda trace: (start_of(trace.root), trace.root.trace_id))


def _trace(spans: list[RawSpan]) -> Trace:
    tree = arrange(spans)
    return Trace(tree, tuple(read_facts(span) for span in tree.spans))


# ── Question and answer ──────────────────────────────────────────────────────────────────────────


def input_of(trace: Trace) -> JsonValue:
    """Return what the user asked: the root's input, or else that of the span nearest to it, the earliest."""
    if (asked := asked_of(trace.facts[0])) is not None:
        return asked
    for position in _speaking(trace, latest=False):
        if (asked := asked_of(trace.facts[position])) is not None:
            return asked
    return None


def output_of(trace: Trace) -> JsonValue:
    """Return the final answer: the root's output, or else that of the span nearest to it, the latest."""
    if has_output(trace.facts[0]):
        return answered_of(trace.facts[0])
    for position in _speaking(trace, latest=True):
        if (answered := answered_of(trace.facts[position])) is not None:
            return answered
    return None


def has_output(facts: SpanFacts) -> bool:
    """Tell whether a span recorded what it gave, be it no answer."""
    return facts.output_messages is not None or facts.output_value is not None


def _speaking(trace: Trace, *, latest: bool) -> list[int]:
    """List the spans of the root's tree that may speak for it, those nearest to it first."""
    spans, depths, sign = trace.tree.spans, trace.tree.depths, -1 if latest else 1
    silent = {0} if trace.facts[0].kind in _NOT_SPEAKING - {"http"} else set[int]()
    found: list[int] = []
    for position, parent in enumerate(trace.tree.parents[1:], 1):
        if parent < 0:
            break  # the trees of other roots follow
        kind = trace.facts[position].kind
        # What happens inside a tool or a retrieval answers it, not the user.
        if parent in silent or (kind in _NOT_SPEAKING and kind != "http"):
            silent.add(position)
        elif kind != "http":
            found.append(position)

    def rank(position: int) -> tuple[int, int, int]:
        span = spans[position]
        when = (span.end_ns or 0) if latest else start_of(span)
        return depths[position], sign * when, sign * position

    return sorted(found, key=rank)


def asked_of(facts: SpanFacts) -> JsonValue:
    """Return what a span was asked by whoever used it; None for one that no user speaks to."""
    return None if facts.kind in _UNASKED else recorded_input(facts)


def recorded_input(facts: SpanFacts) -> JsonValue:
    """Return what a span was given: its last user message, or else its recorded input without envelopes."""
    if facts.kind == "retriever":
        return query_of(facts)
    if facts.input_messages is not None:
        said = last_text(facts.input_messages(), "user")
        if said is not None:
            return said
    return question(facts.input_value)


def query_of(facts: SpanFacts) -> str | None:
    """Return what a retrieval looked for: its query, or else the text that it was given."""
    if facts.query is not None:
        return facts.query
    given = question(facts.input_value)
    return given if isinstance(given, str) else None


def answered_of(facts: SpanFacts) -> JsonValue:
    """Return what a span answered whoever used it; None for one that answers no user."""
    return None if facts.kind in _UNANSWERING else recorded_output(facts)


def recorded_output(facts: SpanFacts) -> JsonValue:
    """Return what a span gave: its last assistant message with text, or else its recorded output without envelopes."""
    if facts.output_messages is not None:
        return last_text(facts.output_messages(), "assistant")
    return answer(facts.output_value)


# ── What it took ─────────────────────────────────────────────────────────────────────────────────


def tokens_of(trace: Trace) -> Usage | None:
    """Sum the tokens of the spans that carry some and have none below them that does."""
    usages = [
        usage
        for position in _leaf_most(trace, [facts.usage is not None for facts in trace.facts])
        if (usage := trace.facts[position].usage) is not None
    ]
    if not usages:
        return None
    totals = [usage.total for usage in usages if usage.total is not None]
    return Usage(
        _sum([usage.input for usage in usages if usage.input is not None]),
        _sum([usage.output for usage in usages if usage.output is not None]),
        sum(totals) if len(totals) == len(usages) else None,
    )


def _sum(counts: list[int]) -> int | None:
    return sum(counts) if counts else None


def costs_in(trace: Trace) -> Costs:
    """Find what the calls of a trace cost, as reported or else by the price table."""
    return costs_of(trace.tree.spans, trace.tree.parents, trace.facts)


def model_calls_of(trace: Trace) -> list[int]:
    """List the calls of chat models; a model span around another one is its wrapper, and no call.

    A tool or an agent in between makes it a call of its own.
    """
    kinds: list[SpanKind | None] = [facts.kind for facts in trace.facts]
    return _leaf_most(trace, [kind == "llm" for kind in kinds], kinds=kinds)


def models_of(trace: Trace) -> list[str]:
    """Name the models that were called, in order; those that agents name where no call is recorded."""
    return names_of_models(trace, trace.calls, set(model_calls_of(trace)))


def names_of_models(trace: Trace, order: Sequence[int], calls: Collection[int]) -> list[str]:
    """Name models as `models_of`, where the order of the spans and the model calls are known."""
    for kinds in ({"llm", "embedding"}, {"agent"}):
        names = [
            model
            for position in order
            if (facts := trace.facts[position]).kind in kinds
            and (facts.kind != "llm" or position in calls)
            and (model := facts.model) is not None
        ]
        if names:
            return list(dict.fromkeys(names))
    return []


def _leaf_most(
    trace: Trace, marked: list[bool], *, kinds: list[SpanKind | None] | None = None
) -> list[int]:
    """List the marked spans that have no marked one below them, looking past no tool or agent if kinds are given."""
    has_below = [False] * len(marked)
    parents = trace.tree.parents
    for position in range(len(marked) - 1, 0, -1):
        parent = parents[position]
        ends_here = kinds is not None and kinds[position] in {"tool", "agent"}
        if parent >= 0 and not ends_here and (marked[position] or has_below[position]):
            has_below[parent] = True
    return [position for position, found in enumerate(marked) if found and not has_below[position]]


def session_of(trace: Trace) -> str | None:
    """Return the session of the first span in the tree that names one."""
    return next((facts.session_id for facts in trace.facts if facts.session_id is not None), None)


def agent_calls_of(trace: Trace) -> list[int]:
    """List the spans of agents, by start."""
    return [position for position in trace.calls if trace.facts[position].kind == "agent"]


def agents_of(trace: Trace) -> list[JsonObject]:
    """List the agents that ran, by start."""
    return [
        {
            "span_id": trace.tree.spans[position].span_id,
            "name": trace.facts[position].agent_name or trace.tree.spans[position].name,
        }
        for position in agent_calls_of(trace)
    ]


# ── What was odd ─────────────────────────────────────────────────────────────────────────────────


def notices_of(trace: Trace) -> Iterator[str]:
    """Tell what a reader of the trace should know before trusting it."""
    yield from trace.tree.notices
    spans = trace.tree.spans
    backwards = [span for span in spans if _ends_before_start(span)]
    if backwards:
        yield f"{backwards[0].span_id} ends before it starts: its duration is unknown" + _and_more(
            len(backwards) - 1
        )
    untimed = sum(span.start_ns is None for span in spans)
    if untimed:
        yield f"{untimed} span{'' if untimed == 1 else 's'} without a start: put last"
    if is_setup(trace):
        yield "sets an agent up: no conversation to judge"


def is_setup(trace: Trace) -> bool:
    """Tell whether a trace does no more than set an agent up: there is nothing in it to judge."""
    return all(facts.kind == "setup" for facts in trace.facts)


def _ends_before_start(span: RawSpan) -> bool:
    return span.start_ns is not None and span.end_ns is not None and span.end_ns < span.start_ns


def _and_more(count: int) -> str:
    return f", and so do {count} more" if count else ""
