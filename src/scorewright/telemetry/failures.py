"""Why a span failed, in the words of what wrote it."""

from __future__ import annotations

import msgspec

from scorewright.telemetry.attribute_values import text
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import SpanFacts


class Failure(msgspec.Struct, frozen=True, gc=False):
    """The error's type and its message; None where it has none."""

    kind: str | None
    message: str | None

    @property
    def text(self) -> str:
        """Both in one line; `error` where nothing is known but that it failed."""
        parts = [part for part in (self.kind, self.message) if part is not None]
        return ": ".join(dict.fromkeys(parts)) or "error"


def failure_of(span: RawSpan, facts: SpanFacts) -> Failure | None:
    """Tell why a span failed; None when it did not."""
    if span.status != "error":
        return None if facts.tool_error is None else Failure(facts.tool_error, None)
    kind = facts.tool_error or text(span.attributes, "error.type")
    message = span.status_message or None
    for event in span.events:
        if event.name == "exception":
            kind = kind or text(event.attributes, "exception.type")
            message = message or text(event.attributes, "exception.message")
    return Failure(kind, message)
