"""Which format a file has: by its content, and by its name only where the content fits two."""

from __future__ import annotations

import re
from pathlib import Path
from types import MappingProxyType

import msgspec

from scorewright.domain.json_text import DecodeErrors
from scorewright.sources.dataset.file import HEAD_BYTES, DataFile, line_batches
from scorewright.sources.dataset.model import FileFormat
from scorewright.sources.dataset.refusal import refuse

_FORMATS_BY_SUFFIX = MappingProxyType[str, FileFormat](
    {
        ".csv": "csv",
        ".tsv": "csv",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".json": "json",
        ".parquet": "parquet",
    }
)

#: Beginnings of files that are no text, with what they are and what to do.
_BINARY = (
    (b"\xff\xfe\x00\x00", "UTF-32; convert it with: iconv -f UTF-32 -t UTF-8"),
    (b"\x00\x00\xfe\xff", "UTF-32; convert it with: iconv -f UTF-32 -t UTF-8"),
    (b"\xff\xfe", "UTF-16; convert it with: iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16; convert it with: iconv -f UTF-16 -t UTF-8"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook; unpack it or save it as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save it as CSV"),
    (b"\x1f\x8b", "gzip inside gzip; unpack it once"),
    (b"(\xb5/\xfd", "packed with zstd; unpack it or use gzip"),
    (b"BZh", "packed with bzip2; unpack it or use gzip"),
    (b"\xfd7zXZ", "packed with xz; unpack it or use gzip"),
    (b"ARROW1", "an Arrow file; write it as Parquet"),
    (b"\x89PNG", "an image"),
    (b"%PDF-", "a PDF document"),
    (b"SQLite format 3\x00", "an SQLite database; export a table as CSV"),
)

_PARQUET = b"PAR1"
_JSON_START = re.compile(rb'\s*(?:\{\s*["}]|\[\s*(?:[\[\]{"\-0-9]|true|false|null))')
_ROW_LIST_START = re.compile(rb"\s*\[\s*[{\]]")


def named_format(path: Path) -> FileFormat | None:
    """Tell which format a file's name promises, `.gz` aside; None when it promises none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return _FORMATS_BY_SUFFIX.get(suffixes[-1]) if suffixes else None


def sniff_format(file: DataFile) -> FileFormat:
    """Find out a file's format.

    Raises:
        DatasetError: The file is empty or no text.
    """
    head = file.head()
    if len(head) < HEAD_BYTES and not head.strip():
        raise refuse(file.path, "empty file; it has neither a header nor rows")
    if head.startswith(_PARQUET):
        return "parquet"
    for magic, what in _BINARY:
        if head.startswith(magic):
            raise refuse(file.path, f"not a dataset but {what}")
    if b"\0" in head:
        raise refuse(file.path, "a binary file, or UTF-16; use CSV, JSON or Parquet in UTF-8")
    named = named_format(file.path)
    if _JSON_START.match(head) or (named != "csv" and head.lstrip()[:1] in {b"{", b"["}):
        return _json_format(file, head, named)
    return "jsonl" if named in {"json", "jsonl"} else "csv"


def _json_format(file: DataFile, head: bytes, named: FileFormat | None) -> FileFormat:
    """Tell lines of JSON from one document over many lines."""
    if _ROW_LIST_START.match(head):
        return "json"
    first, second = _first_lines(file)
    if not second:
        # One object alone on one line is a row of JSON Lines as well as a document.
        return "jsonl" if named == "jsonl" and first.startswith(b"{") else "json"
    if _is_json(first):
        return "jsonl"
    # A broken first line is one all the same, unless a document may well go on like this.
    goes_on = b"[{" if named == "jsonl" else b"[{,:"
    return "jsonl" if second.startswith(b"{") and first[-1:] not in goes_on else "json"


def _first_lines(file: DataFile) -> tuple[bytes, bytes]:
    """Read the first two lines that are not blank."""
    found: list[bytes] = []
    for _, lines in line_batches(file):
        found += filter(None, map(bytes.strip, lines))
        if len(found) > 1:
            return found[0], found[1]
    return found[0], b""


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except DecodeErrors:
        return False
    return True
