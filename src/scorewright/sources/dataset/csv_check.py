"""What the first pass over a CSV file finds out, row by row, in memory that rows do not grow."""

from __future__ import annotations

from collections.abc import Iterator

from scorewright.domain.json_text import parse_container
from scorewright.sources.dataset.csv_header import Header
from scorewright.sources.dataset.model import Column
from scorewright.sources.dataset.refusal import BadPlaces, PlaceList, quoted
from scorewright.sources.source import Notice


class CsvCheck:
    """Checks the width of rows and finds the columns that hold JSON.

    A column holds JSON when each cell of it that is not blank is a JSON object or list, and there
    is one at all. One other cell makes it text throughout: a column never changes type between
    rows.
    """

    def __init__(self, header: Header, text_columns: frozenset[str], bad: BadPlaces) -> None:
        self.rows = 0
        self.header = header
        self._bad = bad
        self.width = len(header.names)
        self._absent = [0] * self.width
        self._short = PlaceList()
        self._trailing = PlaceList()
        #: Unnamed columns without any value so far.
        self._void = set(header.unnamed)
        #: Columns whose cells so far are JSON or blank: counts of both.
        self._json = {
            index: [0, 0] for index, name in enumerate(header.names) if name not in text_columns
        }
        #: Columns that held JSON up to a line.
        self._spoilt: dict[int, int] = {}

    def add(self, line: int, cells: list[str]) -> None:
        """Check the row that starts at a line."""
        if len(cells) != self.width and not self._accepts_width(line, cells):
            return
        self.rows += 1
        for index in tuple(self._json):
            if index < len(cells):
                self._follow_json(index, line, cells[index])
        for index in tuple(self._void):
            if index < len(cells) and cells[index].strip():
                self._void.discard(index)

    @property
    def dropped(self) -> frozenset[int]:
        """Positions of columns that have neither a name nor a value."""
        return frozenset(self._void)

    @property
    def json_columns(self) -> tuple[int, ...]:
        """Positions of columns that hold JSON."""
        return tuple(index for index, (found, _) in self._json.items() if found)

    def columns(self) -> tuple[Column, ...]:
        """Describe the columns that are kept."""
        json_columns = self.json_columns
        return tuple(
            Column(name, "json", self._absent[index] + self._json[index][1])
            if index in json_columns
            else Column(name, "string", self._absent[index])
            for index, name in enumerate(self.header.names)
            if index not in self._void
        )

    def notices(self) -> Iterator[Notice]:
        """Tell what the author may not expect."""
        names = self.header.names
        yield from self.header.notices
        void, named = PlaceList("column"), PlaceList("column")
        for index in sorted(self.header.unnamed):
            (void if index in self._void else named).add(index + 1)
        if void.total:
            yield Notice(None, f"dropped {void}: neither a name nor a value")
        for index in (number - 1 for number in named.first):
            text = f"column {index + 1} has no name in the file: called {quoted(names[index])}"
            yield Notice(None, text)
        for index in self.json_columns:
            yield Notice(
                None, f"column {quoted(names[index])} holds JSON: read as such, not as text"
            )
        for index, line in self._spoilt.items():
            text = f"column {quoted(names[index])} stays text: its cell here is no JSON, others are"
            yield Notice(line, text)
        if self._short.total:
            text = f"{self._short}: fewer cells than the header; the missing ones are absent"
            yield Notice(self._short.first[0], text)
        if self._trailing.total:
            text = f"{self._trailing}: more cells than the header, all empty; dropped"
            yield Notice(self._trailing.first[0], text)

    def _accepts_width(self, line: int, cells: list[str]) -> bool:
        if len(cells) < self.width:
            self._short.add(line)
            for index in range(len(cells), self.width):
                self._absent[index] += 1
            return True
        if any(cells[self.width :]):
            count = f"{len(cells)} cells, the header has {self.width}"
            self._bad.add(line, f"{count}; quote a cell that holds the separator")
            return False
        self._trailing.add(line)
        return True

    def _follow_json(self, index: int, line: int, cell: str) -> None:
        counts = self._json[index]
        if not cell or cell.isspace():
            counts[1] += 1
        elif parse_container(cell) is not None:
            counts[0] += 1
        else:
            if counts[0]:
                self._spoilt[index] = line
            del self._json[index]
