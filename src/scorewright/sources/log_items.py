"""Log records as items, wherever they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from scorewright.domain.convention import Level
from scorewright.domain.errors import UsageError
from scorewright.domain.item_shape import ItemShape
from scorewright.sources.item_shapes import Members, log_shape
from scorewright.sources.listed import ListedSource, chosen
from scorewright.sources.source import Field, SourceKind, Wanted
from scorewright.telemetry.logs import LogRecord, log_item

_DESCRIBED: Final = {
    "log.body": "What was logged",
    "log.severity": "How severe it is, as it was written",
    "log.timestamp": "When it happened",
    "traceId": "The trace that it belongs to",
}


class LogItems(ListedSource):
    """Log records; a source says where they are, and in which order."""

    kind: SourceKind = "logs"
    noun = "log record"

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
        """Stream the records in order, or those of them that are wanted; made anew each time."""
        return map(log_item, chosen(self._records(), wanted))

    def _records(self) -> Iterable[LogRecord]:
        """Return the records in order."""
        raise NotImplementedError

    def _attribute_names(self) -> Iterable[str]:
        """Name the attributes that occur."""
        raise NotImplementedError

    def _members(self) -> Members:
        return Members(_DESCRIBED, attributes="log.attributes", names=self._attribute_names())
