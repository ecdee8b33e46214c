"""Trace exports on disk: one file or a folder of them, OTLP as JSON, JSON Lines or protobuf, gzipped or not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import msgspec

from scorewright.domain.errors import CallerError, TraceError
from scorewright.domain.json_text import is_json
from scorewright.sources.dataset.file import DataFile, find_file, line_batches
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.protobuf_request import decode_protobuf
from scorewright.telemetry.raw_span import RawSpan

#: Bad lines, and files that were passed over, that are named.
_MAX_NAMED: Final = 20
#: What a file of a folder ends with, before `.gz`, when it may hold traces.
_ENDINGS: Final = (".json", ".jsonl", ".ndjson", ".pb", ".bin", ".otlp")

_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


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
    if path.is_dir():
        spans, passed_over = _read_folder(path, findings)
    else:
        spans, passed_over = _read_file(path, findings), []
    return ReadTraces(spans, findings.rejected_spans, [*findings.notices(), *passed_over])


def _read_folder(folder: Path, findings: Findings) -> tuple[list[RawSpan], list[str]]:
    files = [path for path in sorted(folder.rglob("*")) if _may_hold_traces(path, folder)]
    spans: list[RawSpan] = []
    refused: list[str] = []
    for path in files:
        try:
            spans.extend(_read_file(path, findings))
        except CallerError as error:
            refused.append(f"passed over {error}")
    if not files:
        raise TraceError(f"{folder}: no file in it ends with {', '.join(_ENDINGS)} (or .gz behind)")
    if len(refused) == len(files):
        raise TraceError(f"{folder}: none of its files holds traces; {refused[0]}")
    more = len(refused) - _MAX_NAMED
    return spans, [*refused[:_MAX_NAMED], *([f"passed over {more} more files"] if more > 0 else [])]


def _may_hold_traces(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    name = path.name.lower().removesuffix(".gz")
    return not hidden and name.endswith(_ENDINGS) and path.is_file()


def _read_file(path: Path, findings: Findings) -> list[RawSpan]:
    file = find_file(path)
    head = file.head()
    if not head:
        findings.note(f"{path}: an empty file: no traces")
        return []
    first = b"" if _is_protobuf(head) else head.lstrip()[:1]
    if first != b"{":
        return _whole(file, findings, as_json=first == b"[")
    if _starts_with_line(head):
        return _lines(file, findings)
    try:
        return _whole(file, findings, as_json=True)
    except TraceError as refusal:
        spans = _lines_if_any(file, findings)  # its first line alone may be damaged
        if not spans:
            raise refusal from None
        return spans


def _is_protobuf(head: bytes) -> bool:
    """Tell a protobuf message, which starts with the byte of a line break, from text that does.

    What follows it is a length, which may well be the byte of a brace. But a message that holds spans has the tag
    of a scope in it, a control character that JSON cannot have.
    """
    return head[:1] == b"\n" and _CONTROLS.search(head) is not None


def _starts_with_line(head: bytes) -> bool:
    """Tell whether the first line is a value of its own; one longer than the head is taken for it."""
    line, end, _ = head.lstrip().partition(b"\n")
    return not end or is_json(line)


def _whole(file: DataFile, findings: Findings, *, as_json: bool) -> list[RawSpan]:
    data = file.document()
    try:
        return decode_json(data, findings) if as_json else decode_protobuf(data, findings)
    except TraceError as error:
        raise TraceError(f"{file.path}: {error}") from None


def _lines_if_any(file: DataFile, findings: Findings) -> list[RawSpan]:
    try:
        return _lines(file, findings)
    except TraceError:
        return []


def _lines(file: DataFile, findings: Findings) -> list[RawSpan]:
    """Read one request a line; bad lines are named and cost no good one."""
    spans: list[RawSpan] = []
    named: list[str] = []
    good = bad = 0
    for number, lines in line_batches(file):
        for at, line in enumerate(lines, number):
            if not line.strip():
                continue
            try:
                spans.extend(decode_json(line, findings))
                good += 1
            except TraceError as error:
                bad += 1
                if bad <= _MAX_NAMED:
                    named.append(f"line {at}: {error}")
    if bad and not good:
        raise TraceError(f"{file.path}: no line of it can be read; {named[0]}")
    for text in named:
        findings.note(f"{file.path}: {text}")
    if bad > _MAX_NAMED:
        findings.note(f"{file.path}: {bad - _MAX_NAMED} more lines cannot be read")
    return spans
