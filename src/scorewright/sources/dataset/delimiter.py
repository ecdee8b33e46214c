"""Which character separates the cells of a CSV file."""

from __future__ import annotations

import csv
from itertools import islice

CANDIDATES = (",", "\t", ";", "|")
NO_DELIMITER = "\x1f"
"""A control character that no text holds: a line is one cell, but for quotes."""

_ROWS_COMPARED = 50


def find_delimiter(head: str, *, whole: bool) -> str:
    """Choose the separator of a CSV text by its first rows.

    Only what separates the header counts. Among those wins the one by which most rows are as wide
    as the header, then the one with the most columns, then the order of `CANDIDATES`.

    Args:
        head: The beginning of the text.
        whole: Whether that is all of it; otherwise its last row may be cut.

    Returns:
        One of `CANDIDATES`, or `NO_DELIMITER` when none separates the header.
    """
    fits = {one: fit for one in CANDIDATES if (fit := _fit(head, one, whole=whole))}
    return max(fits, key=lambda one: fits[one], default=NO_DELIMITER)


def _fit(head: str, delimiter: str, *, whole: bool) -> tuple[float, int] | None:
    """Share of rows as wide as the header, and that width; None for a single column."""
    lines = (line + "\n" for line in head.split("\n"))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    widths: list[int] = []
    rows = islice(reader, _ROWS_COMPARED)
    try:
        # What was counted before an error stays counted.
        widths.extend(len(row) for row in rows if any(map(str.strip, row)))
    except csv.Error:
        if not widths:
            # A header with a broken quote: whatever separates it, reading it will say so.
            return (0.0, 0) if delimiter in head.lstrip().split("\n", 1)[0] else None
        if whole:
            widths.append(0)
    else:
        if not whole and 1 < len(widths) < _ROWS_COMPARED:
            widths.pop()
    if not widths or widths[0] < 2:
        return None
    return widths.count(widths[0]) / len(widths), widths[0]
