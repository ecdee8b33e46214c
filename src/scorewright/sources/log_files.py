"""Logs on disk: one file or a folder of them, OTLP as JSON, JSON Lines or protobuf, or one JSON object a line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import msgspec

from scorewright.domain.errors import TraceError
from scorewright.sources.dataset.file import find_file
from scorewright.sources.export_files import (
    is_protobuf,
    read_all,
    read_json,
    read_lines,
    read_whole,
)
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_logs import decode_log_line, decode_logs
from scorewright.telemetry.logs import LogRecord
from scorewright.telemetry.protobuf_logs import decode_protobuf_logs

#: What a file of a folder ends with, before `.gz`, when it may hold logs.
_ENDINGS: Final = (".json", ".jsonl", ".ndjson", ".log", ".pb", ".bin", ".otlp")

#: Its lines would be pieces, and some of them happen to be records.
_LIST: Final = re.compile(rb"\s*\[\s*[{\]]")


class ReadLogs(msgspec.Struct, frozen=True):
    """The records of a file or folder, in the order they were found."""

    records: list[LogRecord]
    #: Records that are no objects, and lines that cannot be read.
    rejected_records: int
    notices: list[str]


def read_logs(path: Path) -> ReadLogs:
    """Read all log records of a file, or of the files in a folder.

    Raises:
        CallerError: Nothing could be read; the text says of which file, and why.
    """
    findings = Findings("log record")
    records, passed_over = read_all(path, "logs", _ENDINGS, lambda file: _read_file(file, findings))
    rejected = findings.rejected + findings.unread
    return ReadLogs(records, rejected, [*findings.notices(), *passed_over])


def _read_file(path: Path, findings: Findings) -> list[LogRecord]:
    file = find_file(path)
    head = file.head()
    if not head:
        findings.note(f"{path}: an empty file: no logs")
        return []
    if is_protobuf(head):
        return read_whole(file, decode_protobuf_logs, findings)
    if head.lstrip()[:1] == b"{":
        return read_json(file, document=decode_logs, line=decode_log_line, findings=findings)
    if _LIST.match(head):
        raise TraceError(f"{path}: a JSON list of records; write one JSON object a line")
    try:
        return read_lines(file, decode_log_line, findings)
    except TraceError as error:
        raise TraceError(f"{error}; write OTLP logs, or one JSON object a line") from None
