"""JSON Lines: one object a line."""

from __future__ import annotations

from collections.abc import Generator

from scorewright.domain.json_text import (
    BadJsonError,
    DecodeErrors,
    decode_object,
    mend_surrogates,
    parse_object,
)
from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset.columns import ColumnTally
from scorewright.sources.dataset.file import DataFile, line_batches, not_utf8
from scorewright.sources.dataset.model import Dataset
from scorewright.sources.dataset.refusal import BadPlaces, PlaceList, mending


def read_jsonl(file: DataFile) -> Dataset:
    """Check every line of a JSON Lines file; blank lines are no rows.

    Raises:
        DatasetError: Some lines are no JSON objects, or the file is not UTF-8.
    """
    tally = ColumnTally(file.path)
    bad = BadPlaces(file.path, "line")
    mended = PlaceList()
    rows = 0
    for number, lines in line_batches(file):
        try:
            batch = [decode_object(line) for line in lines]
        except DecodeErrors:
            batch = _decode_slowly(file, number, lines, bad, mended)
        tally.add(batch)
        rows += len(batch)
    if bad.total:
        raise bad.refusal(rows)
    return Dataset(
        path=file.path,
        format="jsonl",
        rows=rows,
        columns=tally.columns(rows),
        notices=mending(mended),
        reader=lambda: _items(file, mend=mended.total > 0),
    )


def _decode_slowly(
    file: DataFile, number: int, lines: list[bytes], bad: BadPlaces, mended: PlaceList
) -> list[JsonObject]:
    """Decode a batch that holds a blank, a broken or a mendable line."""
    rows: list[JsonObject] = []
    for at, line in enumerate(lines, number):
        if not line.strip():
            continue
        try:
            row, was_mended = parse_object(line)
        except BadJsonError as error:
            if wrong := not_utf8(file.path, at, line):
                raise wrong from None
            bad.add(at, str(error))
            continue
        rows.append(row)
        if was_mended:
            mended.add(at)
    return rows


def _items(file: DataFile, *, mend: bool) -> Generator[bytes]:
    """Hand over the lines as they are: the first pass has decoded them."""
    for _, lines in line_batches(file):
        items = filter(None, map(bytes.strip, lines))
        yield from map(mend_surrogates, items) if mend else items
