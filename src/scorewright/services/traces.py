"""What a trace export holds, as Scorewright reads it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from scorewright.sources.trace_files import read_traces
from scorewright.telemetry.assembly import Trace, assemble
from scorewright.telemetry.summary import TraceSummary, summarise


class InspectedTraces(msgspec.Struct, frozen=True):
    """Traces by start, and what was odd about the files."""

    traces: list[Trace]
    rejected_spans: int
    notices: list[str]


class TracesDocument(msgspec.Struct, frozen=True):
    """The document of `traces inspect --format json`."""

    traces: list[TraceSummary]
    rejected_spans: int
    notices: list[str]


def inspect_traces(path: Path) -> InspectedTraces:
    """Read a file or folder and put its traces together.

    Raises:
        CallerError: Nothing in it can be read as traces.
    """
    read = read_traces(path)
    return InspectedTraces(assemble(read.spans), read.rejected_spans, read.notices)


def document_of(inspected: InspectedTraces) -> TracesDocument:
    """Summarise every trace."""
    traces = [summarise(trace) for trace in inspected.traces]
    return TracesDocument(traces, inspected.rejected_spans, inspected.notices)
