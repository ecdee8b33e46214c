"""Traces as items: each as a whole, each of its agents, or each of its model calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Final

from scorewright.domain.binding import How
from scorewright.domain.convention import Level
from scorewright.domain.item_shape import ItemShape
from scorewright.sources.item_shapes import Members, describe, span_shape
from scorewright.sources.listed import Entry, ListedSource
from scorewright.sources.source import Field, Notice, SourceKind, Wanted
from scorewright.sources.trace_files import judged_traces
from scorewright.telemetry.assembly import Trace, agent_calls_of, model_calls_of
from scorewright.telemetry.items import ItemsOfTrace, notices_of_items
from scorewright.telemetry.items.members import Subject

_LEVELS: Final = (Level.TRACE, Level.AGENT, Level.LLM)
_SUBJECTS: Final[dict[Level, Subject]] = {
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


class Traces(ListedSource):
    """The traces of a file or folder, by start; within each, the whole, its agents and its model calls.

    Args:
        traces: In order.
        path: Where they were read.
        notices: What was odd about the files.
        levels: Of the evaluators of the run.
        record_level: What evaluators see that are written for no level of their own.
    """

    kind: SourceKind = "traces"

    def __init__(
        self,
        traces: Sequence[Trace],
        *,
        path: Path | None,
        notices: Sequence[Notice],
        levels: Collection[Level],
        record_level: Level = Level.TRACE,
    ) -> None:
        self._traces = traces
        self._record_level = record_level
        #: The levels of the items.
        self._seen = {self.item_level(level) for level in levels}
        entries: list[Entry] = []
        #: Of each trace, how many items there are of it.
        self._counts: list[int] = []
        for trace in traces:
            before = len(entries)
            entries.extend(self._entries_of(trace))
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

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the items in order, made anew each time."""
        start = 0
        for trace, count in zip(self._traces, self._counts, strict=True):
            end = start + count
            if wanted is None:
                yield from self._items_of(trace)
            elif wanted.find(1, start, end) >= 0:
                yield from compress(self._items_of(trace), wanted[start:end])
            start = end

    def _items_of(self, trace: Trace) -> Iterator[bytes]:
        items = ItemsOfTrace(trace)
        if Level.TRACE in self._seen:
            yield items.whole()
        if Level.AGENT in self._seen:
            for _span_id, item in items.agents():
                yield item
        if Level.LLM in self._seen:
            for _span_id, item in items.model_calls():
                yield item

    def _entries_of(self, trace: Trace) -> Iterator[Entry]:
        trace_id = trace.root.trace_id
        for level in _LEVELS:
            if level not in self._seen:
                continue
            if level is Level.TRACE:
                yield Entry(trace_id, trace_id, level)
                continue
            for position in _positions(trace, level):
                span_id = trace.tree.spans[position].span_id
                yield Entry(f"{trace_id}/{span_id}", trace_id, level)

    def _left_out(self) -> Iterator[Notice]:
        """Say of how many traces the items hold less than all."""
        if self._seen <= {Level.TRACE}:
            return
        texts = Counter(text for trace in self._traces for text in notices_of_items(trace))
        for text, count in texts.items():
            yield Notice(None, f"in {count:,} of {len(self._traces):,} traces {text}")

    def _without_items(self, entries: Sequence[Entry]) -> Iterator[Notice]:
        """Say of how many traces there is nothing to judge: that is no skip of an evaluator's."""
        for level in (Level.AGENT, Level.LLM):
            if level in self._seen:
                having = {entry.sample_key for entry in entries if entry.level is level}
                if missing := len(self._traces) - len(having):
                    yield Notice(
                        None,
                        f"traces without any {_NOUNS[level]}: {missing:,} of {len(self._traces):,}; "
                        f"evaluators of level {level.value} judge nothing of them",
                    )

    def members(self, level: Level) -> Members:
        """Return the fields of the items of a level."""
        names: set[str] = set()
        for trace in self._traces:
            for position in (0,) if level is Level.TRACE else _positions(trace, level):
                names.update(trace.tree.spans[position].attributes)
        return Members(describe(_SUBJECTS[level]), attributes="trace.attributes", names=names)


def open_traces(
    path: Path, *, levels: Collection[Level], record_level: Level = Level.TRACE
) -> Traces:
    """Read a file or folder of traces as items.

    Raises:
        CallerError: Nothing in it can be read as traces.
    """
    traces, notices = judged_traces(path)
    return Traces(
        traces,
        path=path,
        notices=notices,
        levels=levels,
        record_level=record_level,
    )


def _positions(trace: Trace, level: Level) -> list[int]:
    if level is Level.AGENT:
        return agent_calls_of(trace)
    calls = set(model_calls_of(trace))
    return [position for position in trace.calls if position in calls]
