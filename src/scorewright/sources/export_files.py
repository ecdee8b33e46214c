"""Recorded data on disk, whatever it records: a file or a folder of them, as a document or in lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

from scorewright.domain.errors import CallerError, TraceError
from scorewright.domain.json_text import is_json
from scorewright.sources.dataset.file import DataFile, line_batches
from scorewright.telemetry.findings import Findings

Record = TypeVar("Record")
#: Makes records of bytes; raises `TraceError`, without a place, for what holds none.
Decode: TypeAlias = Callable[[bytes, Findings], list[Record]]

#: Bad lines, and files that were passed over, that are named.
MAX_NAMED: Final = 20

_CONTROLS: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def read_all(
    path: Path, what: str, endings: tuple[str, ...], read_file: Callable[[Path], list[Record]]
) -> tuple[list[Record], list[str]]:
    """Read a file, or those of a folder that may hold such data.

    Args:
        path: The file, or the folder.
        what: The data's name, in the plural.
        endings: What a file of a folder ends with, before `.gz`, when it may hold them.
        read_file: Reads one file.

    Returns:
        The records in the order they were found, and a notice for each file that was passed over.

    Raises:
        CallerError: Nothing could be read; the text says of which file, and why.
    """
    if not path.is_dir():
        return read_file(path), []
    files = [file for file in sorted(path.rglob("*")) if _may_hold(file, path, endings)]
    records: list[Record] = []
    refused: list[str] = []
    for file in files:
        try:
            records.extend(read_file(file))
        except CallerError as error:
            refused.append(f"passed over {error}")
    if not files:
        raise TraceError(f"{path}: no file in it ends with {', '.join(endings)} (or .gz behind)")
    if len(refused) == len(files):
        raise TraceError(f"{path}: none of its files holds {what}; {refused[0]}")
    more = len(refused) - MAX_NAMED
    return records, [
        *refused[:MAX_NAMED],
        *([f"passed over {more} more files"] if more > 0 else []),
    ]


def _may_hold(path: Path, folder: Path, endings: tuple[str, ...]) -> bool:
    hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    name = path.name.lower().removesuffix(".gz")
    return not hidden and name.endswith(endings) and path.is_file()


def is_protobuf(head: bytes) -> bool:
    """Tell a protobuf message, which starts with the byte of a line break, from text that does.

    What follows it is a length, which may well be the byte of a brace. But a message that holds records has the tag
    of a scope in it, a control character that JSON cannot have.
    """
    return head[:1] == b"\n" and _CONTROLS.search(head) is not None


def read_json(
    file: DataFile,
    *,
    document: Decode[Record],
    line: Decode[Record],
    findings: Findings,
) -> list[Record]:
    """Read a file of JSON: by lines when its first one is a value of its own, as a document otherwise.

    Raises:
        TraceError: It can be read as neither.
    """
    if _starts_with_line(file.head()):
        return read_lines(file, line, findings)
    try:
        return read_whole(file, document, findings)
    except TraceError as refusal:
        try:  # its first line alone may be damaged
            records = read_lines(file, line, findings)
        except TraceError:
            records = []
        if not records:
            raise refusal from None
        return records


def _starts_with_line(head: bytes) -> bool:
    """Tell whether the first line is a value of its own; one longer than the head is taken for it."""
    line, end, _ = head.lstrip().partition(b"\n")
    return not end or is_json(line)


def read_whole(file: DataFile, decode: Decode[Record], findings: Findings) -> list[Record]:
    """Read a file that is one document.

    Raises:
        TraceError: It holds no records.
    """
    data = file.document()
    try:
        return decode(data, findings)
    except TraceError as error:
        raise TraceError(f"{file.path}: {error}") from None


def read_lines(file: DataFile, decode: Decode[Record], findings: Findings) -> list[Record]:
    """Read a file line by line; bad lines are named and cost no good one.

    Raises:
        TraceError: No line can be read.
    """
    records: list[Record] = []
    named: list[str] = []
    good = bad = 0
    for number, lines in line_batches(file):
        for at, line in enumerate(lines, number):
            if not line.strip():
                continue
            try:
                records.extend(decode(line, findings))
                good += 1
            except TraceError as error:
                bad += 1
                if bad <= MAX_NAMED:
                    named.append(f"line {at}: {error}")
    if bad and not good:
        raise TraceError(f"{file.path}: no line of it can be read; {named[0]}")
    findings.unread += bad
    for text in named:
        findings.note(f"{file.path}: {text}")
    if bad > MAX_NAMED:
        findings.note(f"{file.path}: {bad - MAX_NAMED} more lines cannot be read")
    return records
