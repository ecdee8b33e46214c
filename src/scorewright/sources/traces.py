"""Traces in memory as items, as files have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from scorewright.domain.convention import Level
from scorewright.sources.source import Notice
from scorewright.sources.trace_files import judged_traces
from scorewright.sources.trace_items import Outline, TraceItems
from scorewright.telemetry.assembly import Trace, agent_calls_of, model_calls_of
from scorewright.telemetry.items import notices_of_items


class Traces(TraceItems):
    """The traces of a file or folder, by start; within each, the whole, its agents and its model calls.

    Args:
        traces: In order.
        path: Where they were read.
        notices: What was odd about the files.
        levels: Of the evaluators of the run.
        record_level: What evaluators see that are written for no level of their own.
    """

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
        super().__init__(
            [_outline(trace) for trace in traces],
            path=path,
            notices=notices,
            levels=levels,
            record_level=record_level,
        )

    def _traces_in_order(self) -> Iterator[Trace]:
        return iter(self._traces)

    def _left_out(self) -> Iterator[Notice]:
        if self._seen <= {Level.TRACE}:
            return
        texts = Counter(text for trace in self._traces for text in notices_of_items(trace))
        for text, count in texts.items():
            yield Notice(None, f"in {count:,} of {len(self._traces):,} traces {text}")

    def _attribute_names(self, level: Level) -> set[str]:
        names: set[str] = set()
        for trace in self._traces:
            for position in (0,) if level is Level.TRACE else _positions(trace, level):
                names.update(trace.tree.spans[position].attributes)
        return names


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


def _outline(trace: Trace) -> Outline:
    spans = trace.tree.spans
    return Outline(
        trace.root.trace_id,
        [spans[position].span_id for position in _positions(trace, Level.AGENT)],
        [spans[position].span_id for position in _positions(trace, Level.LLM)],
    )


def _positions(trace: Trace, level: Level) -> list[int]:
    if level is Level.AGENT:
        return agent_calls_of(trace)
    calls = set(model_calls_of(trace))
    return [position for position in trace.calls if position in calls]
