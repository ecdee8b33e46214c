"""Log records, and what an evaluator sees of one."""

from __future__ import annotations

from typing import Final

import msgspec

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.instants import iso_utc
from scorewright.telemetry.raw_span import NO_ATTRIBUTES

_SEVERITIES: Final = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
#: OpenTelemetry's numbers have four steps for each of these.
_STEPS: Final = 4
_MAX_SEVERITY: Final = len(_SEVERITIES) * _STEPS


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One record; None is unknown."""

    #: 32 and 16 lower-case hexadecimal digits, never all zero.
    trace_id: str | None = None
    span_id: str | None = None
    #: Nanoseconds since 1970: when it happened, and when it was collected.
    timestamp_ns: int | None = None
    observed_ns: int | None = None
    #: As it was written.
    severity_text: str | None = None
    #: OpenTelemetry's, from 1 to 24.
    severity_number: int | None = None
    body: JsonValue = None
    attributes: JsonObject = NO_ATTRIBUTES
    #: Attributes of what sent the record.
    resource: JsonObject = NO_ATTRIBUTES
    #: The logger or instrumentation that made the record.
    scope: str = ""
    event_name: str | None = None

    @property
    def severity(self) -> str | None:
        """The severity as written, or else by its number."""
        if self.severity_text is not None or self.severity_number is None:
            return self.severity_text
        return severity_name(self.severity_number)


def severity_name(number: int) -> str:
    """Name a severity from 1 to 24 as OpenTelemetry does: 9 is INFO, 10 is INFO2.

    Source: OpenTelemetry's logs data model, "Displaying Severity".
    """
    level, step = divmod(number - 1, _STEPS)
    return _SEVERITIES[level] + (str(step + 1) if step else "")


def known_severity(number: int | None) -> int | None:
    """Let a severity's number through that means something; 0 says that it is unknown."""
    return number if number is not None and 1 <= number <= _MAX_SEVERITY else None


def log_item(record: LogRecord) -> bytes:
    """Write what an evaluator sees of a record: one JSON object."""
    happened = record.timestamp_ns if record.timestamp_ns is not None else record.observed_ns
    return msgspec.json.encode(
        {
            "traceId": record.trace_id,
            "log": {
                "body": record.body,
                "severity": record.severity,
                "timestamp": iso_utc(happened),
                "attributes": record.attributes,
            },
        }
    )
