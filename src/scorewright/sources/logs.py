"""Log records in memory as items, as files have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scorewright.domain.convention import Level
from scorewright.sources.listed import Entry
from scorewright.sources.log_files import read_logs
from scorewright.sources.log_items import LogItems
from scorewright.sources.source import Notice
from scorewright.telemetry.logs import LogRecord


class Logs(LogItems):
    """Log records in the order in which they were found; each is known by its number.

    Args:
        records: In order.
        path: Where they were read.
        notices: What was odd about the files.
    """

    def __init__(
        self, records: Sequence[LogRecord], *, path: Path | None, notices: Sequence[Notice]
    ) -> None:
        self._found = records
        entries = [
            Entry(str(number), record.trace_id or str(number), Level.RECORD)
            for number, record in enumerate(records, 1)
        ]
        super().__init__(entries, path=path, notices=notices)

    def _records(self) -> Sequence[LogRecord]:
        return self._found

    def _attribute_names(self) -> set[str]:
        return {name for record in self._found for name in record.attributes}


def open_logs(path: Path) -> Logs:
    """Read a file or folder of log records as items.

    Raises:
        CallerError: Nothing in it can be read as logs.
    """
    read = read_logs(path)
    return Logs(read.records, path=path, notices=[Notice(None, text) for text in read.notices])
