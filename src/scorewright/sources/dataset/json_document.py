"""A JSON document: a list of objects, an object with such a list in it, or one object.

It is read as a whole, up to a limit; what has to grow further is JSON Lines.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

import msgspec

from scorewright.domain.json_text import (
    BadJsonError,
    DecodeErrors,
    line_of,
    mend_surrogates,
    parse_object,
    reason_of,
)
from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset.columns import ColumnTally
from scorewright.sources.dataset.file import DataFile, not_utf8
from scorewright.sources.dataset.model import Dataset
from scorewright.sources.dataset.refusal import BadPlaces, PlaceList, mending, quoted, refuse
from scorewright.sources.source import Notice

ROW_MEMBERS = ("data", "rows", "items", "examples", "records", "testcases")
"""Members of a document's object that may hold its rows."""

_LIST = re.compile(rb"\s*\[")
_LIST_OF_OBJECTS = re.compile(rb"\[\s*[{\]]")

_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_elements = msgspec.json.Decoder(list[msgspec.Raw]).decode


class _Document(msgspec.Struct, frozen=True):
    """A document cut into its rows, none of them decoded."""

    text: bytes
    rows: list[msgspec.Raw]
    #: Where in the text the rows start.
    offset: int
    notices: tuple[Notice, ...] = ()


def read_document(file: DataFile) -> Dataset:
    """Check every row of a JSON document.

    Raises:
        DatasetError: It is no JSON, larger than `MAX_DOCUMENT_BYTES`, or some items are no objects.
    """
    document = _load(file)
    tally = ColumnTally(file.path)
    bad = BadPlaces(file.path, "item")
    tally.add(_good_rows(file, document, bad))
    rows = len(document.rows) - bad.total
    if bad.total:
        raise bad.refusal(rows)
    return Dataset(
        path=file.path,
        format="json",
        rows=rows,
        columns=tally.columns(rows),
        notices=document.notices,
        reader=lambda: _items(file),
    )


def _items(file: DataFile) -> Generator[bytes]:
    for raw in _load(file).rows:
        # In valid JSON a line break stands only where any white space may.
        yield bytes(raw).translate(None, b"\r\n")


def _good_rows(file: DataFile, document: _Document, bad: BadPlaces) -> Iterator[JsonObject]:
    for number, raw in enumerate(document.rows, 1):
        try:
            yield parse_object(bytes(raw))[0]
        except BadJsonError as error:
            line = None
            if bad.listing:
                # Cutting a document into rows did not look into its texts.
                _check_encoding(file, document.text)
                start = next(start for at, start in _starts(document) if at == number)
                line = line_of(document.text, start)
            bad.add(number, str(error), line=line)


def _load(file: DataFile) -> _Document:
    original = file.document()
    text = mend_surrogates(original)
    try:
        document = _cut(file, text)
    except DecodeErrors as error:
        _check_encoding(file, text)
        reason, at = reason_of(text, error)
        hint = "; several values need JSON Lines, an object each" if "trailing" in reason else ""
        raise refuse(file.path, f"line {line_of(text, at)}: {reason}{hint}") from None
    if text == original:
        return document
    mended = PlaceList("item")
    for number, start in _starts(document):
        end = start + len(bytes(document.rows[number - 1]))
        # Mending keeps lengths, so that the same place is the same text.
        if text[start:end] != original[start:end]:
            mended.add(number)
    return msgspec.structs.replace(document, notices=(*document.notices, *mending(mended)))


def _cut(file: DataFile, text: bytes) -> _Document:
    if _LIST.match(text):
        return _Document(text, _decode_elements(text), 0)
    members = _decode_members(text)
    held = [name for name in ROW_MEMBERS if _LIST_OF_OBJECTS.match(bytes(members.get(name, b"")))]
    if len(held) > 1:
        names = " and ".join(map(quoted, held))
        raise refuse(file.path, f"{names} are lists of objects; keep the one that holds the rows")
    if not held:
        notice = Notice(None, "one JSON object without a list of rows: read as a single row")
        return _Document(text, [msgspec.Raw(text.strip())], 0, (notice,))
    raw = members[held[0]]
    others = [quoted(name) for name in members if name != held[0]]
    said = f"the rows are the list {quoted(held[0])}"
    ignored = f"; not read: {', '.join(others[:10])}" if others else ""
    notice = Notice(None, said + ignored)
    return _Document(text, _decode_elements(raw), text.index(bytes(raw)), (notice,))


def _starts(document: _Document) -> Iterator[tuple[int, int]]:
    """Find where each row starts; only refusals and notices need to know."""
    cursor = document.offset
    for number, raw in enumerate(document.rows, 1):
        row = bytes(raw)
        start = document.text.index(row, cursor)
        cursor = start + len(row)
        yield number, start


def _check_encoding(file: DataFile, text: bytes) -> None:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        start = text.rfind(b"\n", 0, error.start) + 1
        line = text[start : error.start + 8]
        wrong = not_utf8(file.path, line_of(text, error.start), line)
        raise wrong or AssertionError from None
