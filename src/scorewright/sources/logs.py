"""Log records as items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.domain.item_shape import ItemShape
from scorewright.sources.item_shapes import Members, log_shape
from scorewright.sources.listed import Entry, ListedSource, chosen
from scorewright.sources.log_files import read_logs
from scorewright.sources.source import Field, Notice, SourceKind, Wanted
from scorewright.telemetry.logs import LogRecord, log_item

_DESCRIBED: Final = {
    "log.body": "What was logged",
    "log.severity": "How severe it is, as it was written",
    "log.timestamp": "When it happened",
    "traceId": "The trace that it belongs to",
}


class Logs(ListedSource):
    """Log records in the order in which they were found; each is known by its number.

    Args:
        records: In order.
        path: Where they were read.
        notices: What was odd about the files.
    """

    kind: SourceKind = "logs"
    noun = "log record"

    def __init__(
        self, records: Sequence[LogRecord], *, path: Path | None, notices: Sequence[Notice]
    ) -> None:
        self._records = records
        entries = [
            Entry(str(number), record.trace_id or str(number), Level.RECORD)
            for number, record in enumerate(records, 1)
        ]
        super().__init__(entries, path=path, notices=notices)

    def item_level(self, level: Level) -> Level:
        """Return the level of the items that an evaluator of a level sees.

        Raises:
            UsageError: The caller's: a log record is no trace.
        """
        if level is not Level.RECORD:
            raise UsageError(
                f"its level is {level.value}, and a log record has no spans; take the fields that it needs as "
                "parameters, such as body and severity"
            )
        return level

    def fields(self, level: Level) -> list[Field]:  # noqa: ARG002 - all are of one level
        """List what the records hold."""
        return self._members().fields

    def shape(self, level: Level) -> ItemShape:  # noqa: ARG002 - all are of one level
        """Say how arguments are read from records."""
        return log_shape(self._members())

    def items(self, wanted: Wanted = None) -> Iterator[bytes]:
        """Stream the records in order, made anew each time."""
        return map(log_item, chosen(self._records, wanted))

    def _members(self) -> Members:
        names = {name for record in self._records for name in record.attributes}
        return Members(_DESCRIBED, attributes="log.attributes", names=names)


def open_logs(path: Path) -> Logs:
    """Read a file or folder of log records as items.

    Raises:
        CallerError: Nothing in it can be read as logs.
    """
    read = read_logs(path)
    return Logs(read.records, path=path, notices=[Notice(None, text) for text in read.notices])
