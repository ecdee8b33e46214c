"""Texts of refusals: every bad place by number, bounded; one place for the words."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.errors import DatasetError
from scorewright.sources.source import Notice

Place: TypeAlias = Literal["line", "item", "row", "column"]

MAX_PLACES = 20
MAX_NAME_CHARS = 80


def refuse(path: Path | None, text: str) -> DatasetError:
    """Make the error for a file, or for rows in memory, as a whole."""
    return DatasetError(f"{path or 'rows'}: {text}")


def quoted(name: str) -> str:
    """Show a name from the data, bounded and on one line."""
    cut = name if len(name) <= MAX_NAME_CHARS else name[: MAX_NAME_CHARS - 1] + "…"
    return msgspec.json.encode(cut).decode()


class PlaceList:
    """Numbers of lines or rows, the first ones kept and all of them counted."""

    def __init__(self, place: Place = "line") -> None:
        self.total = 0
        self.first: list[int] = []
        self.place: Place = place

    def add(self, number: int) -> None:
        """Count one more."""
        self.total += 1
        if len(self.first) < MAX_PLACES:
            self.first.append(number)

    def __str__(self) -> str:
        numbers = ", ".join(map(str, self.first))
        more = self.total - len(self.first)
        plural = "" if self.total == 1 else "s"
        return f"{self.place}{plural} {numbers}" + (f" and {more} more" if more else "")


class BadPlaces:
    """Places of a dataset that cannot be rows, the first ones with their reasons."""

    def __init__(self, path: Path | None, place: Place) -> None:
        self.total = 0
        self._path = path
        self._place = place
        self._reasons: list[str] = []

    @property
    def listing(self) -> bool:
        """Whether the next bad place will be shown, not only counted."""
        return len(self._reasons) < MAX_PLACES

    def add(self, number: int, reason: str, *, line: int | None = None) -> None:
        """Count a bad place, with the line it starts on where that is another number."""
        listing = self.listing
        self.total += 1
        if listing:
            on_line = f" (line {line})" if line is not None else ""
            self._reasons.append(f"  {self._place} {number}{on_line}: {reason}")

    def refusal(self, good: int, *, stopped: bool = False) -> DatasetError:
        """Make the error that names the bad places.

        Args:
            good: Rows that could be read.
            stopped: Whether reading ended at the last bad place.
        """
        places = f"{self.total} bad {self._place}{'' if self.total == 1 else 's'}"
        rows = f"{good} good row{'' if good == 1 else 's'}"
        more = self.total - len(self._reasons)
        lines = [
            f"{places}, {rows}; correct them, nothing was used",
            *self._reasons,
            *([f"  and {more} more"] if more else []),
            *(["  reading stopped there"] if stopped else []),
        ]
        return refuse(self._path, "\n".join(lines))


def mending(mended: PlaceList) -> tuple[Notice, ...]:
    """Make the notice about halves of surrogate pairs, where there were any."""
    if not mended.total:
        return ()
    text = f"{mended}: half of a surrogate pair is no text; each half became U+FFFD"
    return (Notice(mended.first[0] if mended.place == "line" else None, text),)
