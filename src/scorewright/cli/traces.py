"""The body of `scorewright traces inspect`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from scorewright.cli.figures import counted, figure
from scorewright.cli.speech import visible
from scorewright.domain.json_value import JsonValue
from scorewright.services.traces import document_of, inspect_traces
from scorewright.telemetry.summary import TraceSummary, summarise

if TYPE_CHECKING:
    from scorewright.telemetry.assembly import Trace

_MAX_TRACES: Final = 20
_MAX_SPANS: Final = 60
_MAX_INDENTS: Final = 12
_MAX_TEXT: Final = 96


def inspect_command(path: Path, *, as_json: bool) -> None:
    """Print what is read from a trace export."""
    inspected = inspect_traces(path)
    if as_json:
        document = msgspec.json.encode(document_of(inspected))
        sys.stdout.buffer.write(document + b"\n")
        sys.stdout.buffer.flush()
        return
    spans = sum(len(trace.tree.spans) for trace in inspected.traces)
    print(f"{path}: {counted(len(inspected.traces), 'trace')}, {counted(spans, 'span')}")
    for trace in inspected.traces[:_MAX_TRACES]:
        print()
        for line in _lines_of(trace):
            print(visible(line))
    if len(inspected.traces) > _MAX_TRACES:
        more = counted(len(inspected.traces) - _MAX_TRACES, "more trace")
        print(f"\nand {more}; --format json shows them all")
    if inspected.notices:
        print()
    for notice in inspected.notices:
        print(visible(f"note: {notice}"))


def _lines_of(trace: Trace) -> Iterator[str]:
    summary = summarise(trace)
    yield f"trace {summary.trace_id}  {_figures(summary)}"
    yield from _tree_lines(trace)
    yield f"  input    {_shown(summary.input)}"
    yield f"  output   {_shown(summary.output)}"
    for call in summary.tool_calls:
        outcome = f"failed: {call.error}" if call.error is not None else _shown(call.result)
        yield f"  tool     {call.name}({_shown(call.arguments)}) → {_cut(outcome)}"
    for query in summary.retrieval.queries:
        yield f"  search   {_shown(query)}"
    if summary.retrieval.documents:
        yield f"  found    {counted(len(summary.retrieval.documents), 'document')}"
    if summary.session_id is not None:
        yield f"  session  {_cut(summary.session_id)}"
    for notice in summary.notices:
        yield f"  note: {notice}"


def _figures(summary: TraceSummary) -> str:
    parts = [counted(summary.spans, "span"), _duration(summary.duration_ms)]
    parts.append(counted(summary.llm_calls, "model call"))
    if summary.models:
        parts.append(", ".join(summary.models))
    tokens = summary.tokens
    if tokens is None:
        parts.append("tokens unknown")
    else:
        parts.append(f"tokens {_known(tokens.input)} in, {_known(tokens.output)} out")
    if summary.cost_usd is not None:
        parts.append(f"${figure(summary.cost_usd)}")
    return " · ".join(parts)


def _known(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def _duration(duration_ms: float | None) -> str:
    if duration_ms is None:
        return "duration unknown"
    return f"{figure(duration_ms)} ms" if duration_ms < 1_000 else f"{figure(duration_ms / 1e3)} s"


def _tree_lines(trace: Trace) -> Iterator[str]:
    tree = trace.tree
    for position, span in enumerate(tree.spans[:_MAX_SPANS]):
        facts, depth = trace.facts[position], tree.depths[position]
        indent = "  " * min(depth, _MAX_INDENTS) + (f"({depth}) " if depth > _MAX_INDENTS else "")
        failed = "  failed" if span.status == "error" else ""
        kind = facts.kind or "span"
        yield f"  {indent}{kind}  {_cut(span.name)}  {_duration(span.duration_ms)}{failed}"
    if len(tree.spans) > _MAX_SPANS:
        yield f"  and {counted(len(tree.spans) - _MAX_SPANS, 'more span')}"


def _shown(value: JsonValue) -> str:
    if value is None:
        return "not recorded"
    return _cut(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"
