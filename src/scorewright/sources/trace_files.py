"""Trace exports on disk: one file or a folder of them, OTLP as JSON, JSON Lines or protobuf, gzipped or not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from scorewright.sources.dataset.file import find_file
from scorewright.sources.export_files import is_protobuf, read_all, read_json, read_whole
from scorewright.sources.source import Notice
from scorewright.telemetry.assembly import Trace, assemble, is_setup
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.protobuf_request import decode_protobuf
from scorewright.telemetry.raw_span import RawSpan

#: What a file of a folder ends with, before `.gz`, when it may hold traces.
_ENDINGS: Final = (".json", ".jsonl", ".ndjson", ".pb", ".bin", ".otlp")


class ReadTraces(msgspec.Struct, frozen=True):
    """The spans of a file or folder, in the order they were found."""

    spans: list[RawSpan]
    rejected_spans: int
    notices: list[str]


def judged_traces(path: Path) -> tuple[list[Trace], list[Notice]]:
    """Read the traces that can be judged: all but those that do no more than set an agent up.

    Returns:
        The traces by start, and what is to be known about how they were read.

    Raises:
        CallerError: Nothing could be read; the text says of which file, and why.
    """
    read = read_traces(path)
    traces = assemble(read.spans)
    judged = [trace for trace in traces if not is_setup(trace)]
    texts = read.notices
    if left_out := len(traces) - len(judged):
        texts = [*texts, f"traces left out since they only set an agent up: {left_out:,}"]
    return judged, [Notice(None, text) for text in texts]


def read_traces(path: Path) -> ReadTraces:
    """Read all spans of a file, or of the files in a folder.

    Raises:
        CallerError: Nothing could be read; the text says of which file, and why.
    """
    findings = Findings()
    spans, passed_over = read_all(path, "traces", _ENDINGS, lambda file: _read_file(file, findings))
    return ReadTraces(spans, findings.rejected, [*findings.notices(), *passed_over])


def _read_file(path: Path, findings: Findings) -> list[RawSpan]:
    file = find_file(path)
    head = file.head()
    if not head:
        findings.note(f"{path}: an empty file: no traces")
        return []
    first = b"" if is_protobuf(head) else head.lstrip()[:1]
    if first == b"{":
        return read_json(file, document=decode_json, line=decode_json, findings=findings)
    return read_whole(file, decode_json if first == b"[" else decode_protobuf, findings)
