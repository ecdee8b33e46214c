"""Plain web spans: they stand around an application, and say nothing of what it did."""

from __future__ import annotations

from typing import Final

from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_facts import Convention, SpanFacts


def read(span: RawSpan) -> SpanFacts | None:
    """Recognise a request or a part of one."""
    del span  # the names alone tell
    return SpanFacts(kind="http")


CONVENTION: Final = Convention("http", frozenset({"http", "url", "asgi"}), read)
