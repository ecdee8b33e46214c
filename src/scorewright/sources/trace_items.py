"""Traces as items, wherever the traces are: each as a whole, each of its agents, or each of its model calls."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Final

import msgspec

from scorewright.domain.binding import How
from scorewright.domain.convention import Level
from scorewright.domain.errors import DatasetError
from scorewright.domain.item_shape import ItemShape
from scorewright.sources.item_shapes import Members, describe, span_shape
from scorewright.sources.listed import Entry, ListedSource
from scorewright.sources.source import Field, Notice, SourceKind, Wanted
from scorewright.telemetry.assembly import Trace
from scorewright.telemetry.items import ItemsOfTrace
from scorewright.telemetry.items.members import Subject

LEVELS: Final = (Level.TRACE, Level.AGENT, Level.LLM)
SUBJECTS: Final[dict[Level, Subject]] = {
    Level.TRACE: "trace",
    Level.AGENT: "agent",
    Level.LLM: "llm",
}
_OBJECTS: Final[dict[Level, How]] = {
    Level.TRACE: "trace_item",
    Level.AGENT: "agent_item",
    Level.LLM: "llm_item",
}
_NOUNS: Final = {Level.TRACE: "trace", Level.AGENT: "agent span", Level.LLM: "model call"}


class Outline(msgspec.Struct, frozen=True, gc=False):
    """Which items a trace makes."""

    trace_id: str
    #: The spans that are items at these levels, by start.
    agents: Sequence[str] = ()
    model_calls: Sequence[str] = ()

    def spans_of(self, level: Level) -> Sequence[str]:
        """Return the spans that are items at a level below the trace's."""
        return self.agents if level is Level.AGENT else self.model_calls


class TraceItems(ListedSource):
    """Traces in order; within each, the whole, its agents and its model calls.

    Args:
        outlines: Of the traces.
        path: Where they were read.
        notices: What was odd about how they were read.
        levels: Of the evaluators of the run.
        record_level: What evaluators see that are written for no level of their own.
    """

    kind: SourceKind = "traces"

    def __init__(
        self,
        outlines: Sequence[Outline],
        *,
        path: Path | None,
        notices: Sequence[Notice],
        levels: Collection[Level],
        record_level: Level = Level.TRACE,
    ) -> None:
        self._outlines = outlines
        self._record_level = record_level
        #: The levels of the items.
        self._seen = {self.item_level(level) for level in levels}
        entries: list[Entry] = []
        #: Of each trace, how many items there are of it.
        self._counts: list[int] = []
        for outline in outlines:
            before = len(entries)
            entries.extend(self._entries_of(outline))
            self._counts.append(len(entries) - before)
        told = [*notices, *self._without_items(entries), *self._left_out()]
        super().__init__(entries, path=path, notices=told)
        several = len(self._seen) > 1
        self.noun = "item" if several else _NOUNS[next(iter(self._seen))]

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees."""
        return self._record_level if level is Level.RECORD else level

    def fields(self, level: Level) -> list[Field]:
        """List what the items of a level hold."""
        return self.members(level).fields

    def shape(self, level: Level) -> ItemShape:
        """Say how arguments are read from the items of a level."""
        return span_shape(self.members(level), part=level.value, objects={level: _OBJECTS[level]})

    def members(self, level: Level) -> Members:
        """Return the fields of the items of a level."""
        return trace_members(SUBJECTS[level], self._attribute_names(level))

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the items in order, or those of them that are wanted; made anew each time.

        Raises:
            DatasetError: A trace lost what its items were to be made of.
        """
        start = 0
        traces = zip(self._outlines, self._counts, self._traces_in_order(), strict=True)
        for outline, count, trace in traces:
            end = start + count
            if wanted is None:
                yield from self._items_of(outline, trace)
            elif wanted.find(1, start, end) >= 0:
                yield from compress(self._items_of(outline, trace), wanted[start:end])
            start = end

    def _items_of(self, outline: Outline, trace: Trace) -> Iterator[bytes]:
        items = ItemsOfTrace(trace)
        if Level.TRACE in self._seen:
            yield items.whole()
        if Level.AGENT in self._seen:
            yield from _chosen(items.agents(), outline, outline.agents)
        if Level.LLM in self._seen:
            yield from _chosen(items.model_calls(), outline, outline.model_calls)

    def _traces_in_order(self) -> Iterator[Trace]:
        """Stream the traces, one for each outline."""
        raise NotImplementedError

    def _attribute_names(self, level: Level) -> Iterable[str]:
        """Name the attributes that occur in the items of a level."""
        raise NotImplementedError

    def _entries_of(self, outline: Outline) -> Iterator[Entry]:
        trace_id = outline.trace_id
        for level in LEVELS:
            if level not in self._seen:
                continue
            if level is Level.TRACE:
                yield Entry(trace_id, trace_id, level)
                continue
            for span_id in outline.spans_of(level):
                yield Entry(f"{trace_id}/{span_id}", trace_id, level)

    def _left_out(self) -> Iterable[Notice]:
        """Say of how many traces the items hold less than all."""
        return ()

    def _without_items(self, entries: Sequence[Entry]) -> Iterator[Notice]:
        """Say of how many traces there is nothing to judge: that is no skip of an evaluator's."""
        for level in (Level.AGENT, Level.LLM):
            if level in self._seen:
                having = {entry.sample_key for entry in entries if entry.level is level}
                if missing := len(self._outlines) - len(having):
                    yield Notice(
                        None,
                        f"traces without any {_NOUNS[level]}: {missing:,} of {len(self._outlines):,}; "
                        f"evaluators of level {level.value} judge nothing of them",
                    )


def trace_members(subject: Subject, names: Iterable[str]) -> Members:
    """Return the fields of items about a subject, and of their attributes those of some names."""
    return Members(describe(subject), attributes="trace.attributes", names=names)


def trace_shape(names: Iterable[str]) -> ItemShape:
    """Return the shape of whole traces whose roots have attributes of some names."""
    objects: dict[Level, How] = {Level.TRACE: _OBJECTS[Level.TRACE]}
    return span_shape(trace_members("trace", names), part="trace", objects=objects)


def _chosen(
    made: Iterable[tuple[str, bytes]], outline: Outline, span_ids: Sequence[str]
) -> Iterator[bytes]:
    """Take the items of the spans that an outline names: a trace may have got more of them since."""
    wanted = set(span_ids)
    for span_id, item in made:
        if span_id in wanted:
            wanted.discard(span_id)
            yield item
    if wanted:
        raise DatasetError(f"trace {outline.trace_id} changed while it was read; run again")
