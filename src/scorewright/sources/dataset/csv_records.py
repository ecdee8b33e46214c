"""CSV text as records: strict about quotes, each with the line it starts on."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset.file import (
    MAX_LINE_BYTES,
    DataFile,
    line_batches,
    not_utf8,
    too_long,
)
from scorewright.sources.dataset.refusal import refuse


class BadQuotingError(ValueError):
    """The cells of a record cannot be told apart, nor those behind it; carries its line."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class RecordReader:
    """Iterates the records of a CSV file."""

    def __init__(self, file: DataFile, delimiter: str) -> None:
        self._file = file
        self._delimiter = delimiter
        self._first_line = 1
        self._lines_read = 0
        #: Of the record read last, line breaks included.
        self.record_bytes = 0

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield pairs of a record's first line, from 1, and its cells; blank lines are none.

        Raises:
            DatasetError: The file is not UTF-8, holds a NUL, or a record is too long.
            BadQuotingError: A quote is not closed, or something stands behind a closing one.
        """
        # One limit for the whole process, and the library's own is far below a long trace.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
        reader = csv.reader(self._lines(), delimiter=self._delimiter, strict=True)
        while True:
            self._first_line = self._lines_read + 1
            self.record_bytes = 0
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise self._bad_quoting(str(error)) from None
            if cells is None:
                return
            if cells:
                yield self._first_line, cells

    def _lines(self) -> Iterator[str]:
        path = self._file.path
        for number, lines in line_batches(self._file):
            for at, line in enumerate(lines, number):
                self._lines_read = at
                self.record_bytes += len(line) + 1
                if self.record_bytes > MAX_LINE_BYTES:
                    raise self._too_long()
                try:
                    text = line.decode()
                except UnicodeDecodeError:
                    raise not_utf8(path, at, line) or AssertionError from None
                if "\0" in text:
                    raise refuse(path, f"line {at} holds a NUL byte: no text file; remove it")
                yield text + "\n"

    def _bad_quoting(self, said: str) -> BadQuotingError:
        if "unexpected end" in said:
            opened = self._opening_line() or self._first_line
            return BadQuotingError(opened, "the quote that opens a cell here is never closed")
        if "new-line" in said:
            reason = "a bare carriage return in an unquoted cell; quote the cell or remove it"
            return BadQuotingError(self._lines_read, reason)
        started = f" (its row starts at line {self._first_line})"
        reason = "something stands behind a closing quote; a quote inside a cell is doubled"
        return BadQuotingError(
            self._lines_read, reason + (started if self._first_line < self._lines_read else "")
        )

    def _too_long(self) -> DatasetError:
        opened = self._opening_line()
        if opened is None:
            return too_long(self._file.path, self._first_line)
        limit = f"{MAX_LINE_BYTES >> 20} MiB"
        text = f"line {opened}: the cell quoted from here is longer than {limit}; close its quote"
        return refuse(self._file.path, text)

    def _opening_line(self) -> int | None:
        """Find the line of the quote that is still open where reading stopped."""
        opening = re.compile(rb'(?:^|%s)"' % re.escape(self._delimiter.encode()))
        opened: int | None = None
        for number, lines in line_batches(self._file):
            for at, line in enumerate(lines, number):
                if self._first_line <= at <= self._lines_read:
                    opened = _open_after(line, at, opened, opening=opening)
            if number + len(lines) > self._lines_read:
                break
        return opened


def _open_after(
    line: bytes, number: int, opened: int | None, *, opening: re.Pattern[bytes]
) -> int | None:
    """Follow the quotes of one line: the line of the quote open at its end, if any."""
    at = 0
    while True:
        if opened is None:
            if not (found := opening.search(line, at)):
                return None
            opened, at = number, found.end()
        else:
            quote = line.find(b'"', at)
            if quote < 0:
                return opened
            doubled = line[quote + 1 : quote + 2] == b'"'
            at = quote + 2 if doubled else quote + 1
            opened = opened if doubled else None
