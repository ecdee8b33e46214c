"""The header of a CSV file: every column gets a name of its own."""

from __future__ import annotations

import msgspec

from scorewright.sources.dataset.refusal import quoted
from scorewright.sources.source import Notice

_MAX_NOTICES = 20


class Header(msgspec.Struct, frozen=True):
    """Names by position."""

    #: Unique, without white space around them.
    names: tuple[str, ...]
    #: Positions that had no name in the file.
    unnamed: frozenset[int]
    notices: tuple[Notice, ...]


def name_columns(cells: list[str], line: int) -> Header:
    """Name the columns after a header's cells.

    A second column of the same name is called `NAME_2`, and so on; the third column is called
    `column_3` when it has no name. No made name is that of another column.
    """
    given = [cell.strip() for cell in cells]
    taken = set(given)
    seen: set[str] = set()
    names: list[str] = []
    notices: list[Notice] = []
    for position, name in enumerate(given, 1):
        if name and name not in seen:
            names.append(name)
            seen.add(name)
            continue
        made = _unused(name, position, taken)
        taken.add(made)
        names.append(made)
        if name:
            text = f"column {position} is called {quoted(made)}: {quoted(name)} stands before it"
            notices.append(Notice(line, text))
    more = len(notices) - _MAX_NOTICES
    if more > 0:
        notices[_MAX_NOTICES:] = [Notice(line, f"{more} more repeated names were numbered")]
    unnamed = frozenset(index for index, name in enumerate(given) if not name)
    return Header(tuple(names), unnamed, tuple(notices))


def _unused(name: str, position: int, taken: set[str]) -> str:
    base = name or f"column_{position}"
    if base not in taken:
        return base
    number = 2
    while f"{base}_{number}" in taken:
        number += 1
    return f"{base}_{number}"
