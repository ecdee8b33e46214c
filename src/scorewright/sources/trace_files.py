"""Trace exports on disk: one file or a folder of them, OTLP as JSON, JSON Lines or protobuf, gzipped or not."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from scorewright.sources.dataset.file import find_file
from scorewright.sources.export_files import is_protobuf, read_all, read_json, read_whole
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
