"""Names and types of columns, gathered over all rows in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from scorewright.domain.json_value import JsonObject
from scorewright.sources.dataset.model import Column, ColumnType
from scorewright.sources.dataset.refusal import refuse

MAX_COLUMNS = 10_000


class ColumnTally:
    """Counts the types that the values of each column have."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        # Keeps insertion order, which gives the order of first appearance.
        self._seen: Counter[tuple[str, type]] = Counter()

    def add(self, rows: Iterable[JsonObject]) -> None:
        """Count the values of some rows.

        Raises:
            DatasetError: There are more than `MAX_COLUMNS` names: keys are used as data.
        """
        # One C loop over all rows of a batch: this is half of what the first pass may cost.
        pairs = (zip(row, map(type, row.values()), strict=False) for row in rows)
        self._seen.update(chain.from_iterable(pairs))
        if len(self._seen) > MAX_COLUMNS and len(self._names()) > MAX_COLUMNS:
            text = f"more than {MAX_COLUMNS:,} different columns; are its keys data?"
            raise refuse(self._path, text)

    def columns(self, rows: int) -> tuple[Column, ...]:
        """Sum up after `rows` rows."""
        types: dict[str, dict[type, int]] = {name: {} for name in self._names()}
        for (name, kind), count in self._seen.items():
            types[name][kind] = count
        return tuple(_column(name, kinds, rows) for name, kinds in types.items())

    def _names(self) -> dict[str, None]:
        return dict.fromkeys(name for name, _ in self._seen)


def _column(name: str, counts: dict[type, int], rows: int) -> Column:
    values = {kind: count for kind, count in counts.items() if kind is not type(None)}
    return Column(name, type_of(frozenset(values)), rows - sum(values.values()))


def type_of(kinds: frozenset[type]) -> ColumnType:
    """Name the type of a column whose values, nulls aside, have these Python types."""
    if not kinds:
        return "null"
    for name, allowed in _TYPES:
        if kinds <= allowed:
            return name
    return "mixed"


_TYPES: tuple[tuple[ColumnType, frozenset[type]], ...] = (
    ("string", frozenset({str})),
    ("integer", frozenset({int})),
    ("number", frozenset({int, float})),
    ("boolean", frozenset({bool})),
    ("json", frozenset({dict, list})),
)
