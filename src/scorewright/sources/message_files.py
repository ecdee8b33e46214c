"""Trajectories on disk: a file or folder of message lists or steps, as JSON or JSON Lines, gzipped or not."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from scorewright.domain.errors import TraceError
from scorewright.domain.json_text import DecodeErrors, mend_surrogates, reason_of
from scorewright.domain.json_value import JsonValue
from scorewright.sources.dataset.file import find_file
from scorewright.sources.export_files import MAX_NAMED, read_all, read_json
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.trajectories import (
    EXPECTED,
    Trajectory,
    rows_of,
    trajectory_of,
)

#: What a file of a folder ends with, before `.gz`, when it may hold trajectories.
_ENDINGS: Final = (".json", ".jsonl", ".ndjson")


class ReadTrajectories(msgspec.Struct, frozen=True):
    """The trajectories of a file or folder, in the order they were found."""

    trajectories: list[Trajectory]
    rejected_rows: int
    notices: list[str]


def read_trajectories(path: Path) -> ReadTrajectories:
    """Read all trajectories of a file, or of the files in a folder.

    Raises:
        CallerError: Nothing could be read; the text says of which file, and why.
    """
    findings = Findings()
    trajectories, passed_over = read_all(
        path, "trajectories", _ENDINGS, lambda file: _read_file(file, findings)
    )
    return ReadTrajectories(trajectories, findings.unread, [*findings.notices(), *passed_over])


def _read_file(path: Path, findings: Findings) -> list[Trajectory]:
    file = find_file(path)
    head = file.head()
    if not head:
        findings.note(f"{path}: an empty file: no trajectories")
        return []
    if head.lstrip()[:1] not in {b"{", b"["}:
        raise TraceError(f"{path}: no JSON; in each line or as the document, needed is {EXPECTED}")
    decode = partial(_decode, path)
    return read_json(file, document=decode, line=decode, findings=findings)


def _decode(path: Path, data: bytes, findings: Findings) -> list[Trajectory]:
    """Read a document or a line: one row, or a list of them, where a bad one costs no other."""
    value = _parsed(data, findings)
    rows = rows_of(value)
    if rows is None:
        return [trajectory_of(value, findings)]
    found: list[Trajectory] = []
    refused: list[str] = []
    for number, row in enumerate(rows, 1):
        try:
            found.append(trajectory_of(row, findings))
        except TraceError as error:
            refused.append(f"item {number}: {error}")
    if not found:
        raise TraceError(f"no item of it can be read; {refused[0]}" if refused else "an empty list")
    findings.unread += len(refused)
    for reason in refused[:MAX_NAMED]:
        findings.note(f"{path}: {reason}")
    if len(refused) > MAX_NAMED:
        findings.note(f"{path}: {len(refused) - MAX_NAMED} more items cannot be read")
    return found


def _parsed(data: bytes, findings: Findings) -> JsonValue:
    text = mend_surrogates(data)
    try:
        value: JsonValue = msgspec.json.decode(text)
    except DecodeErrors as error:
        raise TraceError(reason_of(text, error)[0]) from None
    if text != data:
        findings.note("half of a surrogate pair is no text: it became U+FFFD")
    return value
