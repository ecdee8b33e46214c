"""Cursors of lists whose newest entries come first."""

from __future__ import annotations

from scorewright.api.paging import read_cursor


def read_newest(cursor: str | None) -> tuple[int, str] | None:
    """Return the moment and the id of the last entry seen.

    Raises:
        UsageError: The caller's: the cursor is none of such a list.
    """
    key = read_cursor(cursor, (int, str))
    return None if key is None else (int(key[0]), str(key[1]))
