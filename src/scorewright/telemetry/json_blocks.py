"""What OTLP/JSON requests have in common, whatever their signal: blocks of a resource, its scopes and their records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias, cast

import msgspec

from scorewright.domain.errors import TraceError
from scorewright.domain.json_text import BadJsonError, parse_object
from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_attributes import attributes_of, integer_of

#: An object of a request, nothing in it looked at yet.
Object: TypeAlias = dict[str, object]
#: A member's name in camelCase and in snake_case.
Spellings: TypeAlias = tuple[str, str]

_MAX_NS: Final = 2**64 - 1


class Signal(msgspec.Struct, frozen=True):
    """Where a request keeps the records of one signal."""

    name: str
    blocks: Spellings
    scopes: Spellings
    records: Spellings


TRACES: Final = Signal(
    "traces",
    ("resourceSpans", "resource_spans"),
    ("scopeSpans", "scope_spans"),
    ("spans", "spans"),
)
LOGS: Final = Signal(
    "logs",
    ("resourceLogs", "resource_logs"),
    ("scopeLogs", "scope_logs"),
    ("logRecords", "log_records"),
)
#: Signals by the member that holds them.
_SIGNALS: Final = {
    **dict.fromkeys(TRACES.blocks, TRACES.name),
    **dict.fromkeys(LOGS.blocks, LOGS.name),
    **dict.fromkeys(("resourceMetrics", "resource_metrics"), "metrics"),
}


def request_of(data: bytes, findings: Findings) -> JsonObject:
    """Decode the JSON object that a request is.

    Raises:
        TraceError: It is none; the text says why, without a place.
    """
    try:
        request, mended = parse_object(data)
    except BadJsonError as error:
        raise TraceError(str(error)) from None
    if mended:
        findings.note("half of a surrogate pair is no text: it became U+FFFD")
    return request


def signal_in(request: JsonObject) -> str | None:
    """Name the signal that a request holds; None when it is no request."""
    return next((signal for name, signal in _SIGNALS.items() if name in request), None)


def records_of(
    request: JsonObject, signal: Signal, findings: Findings
) -> Iterator[tuple[Object, JsonObject, str]]:
    """Walk through the records of a request; one without any member has none.

    Yields:
        Each record that is an object, the attributes of its resource, and the name of its scope.

    Raises:
        TraceError: It is no request of this signal.
    """
    blocks = member(request, signal.blocks)
    if blocks is None and request:
        raise TraceError(_no_records(request, signal))
    for block in objects(blocks, findings):
        resource = attributes_of(object_of(block.get("resource")).get("attributes"), findings)
        for scope_block in objects(member(block, signal.scopes), findings):
            scope = text_of(object_of(scope_block.get("scope")).get("name"))
            for raw in _records(scope_block, signal, findings):
                yield raw, resource, scope


def _records(scope_block: Object, signal: Signal, findings: Findings) -> Iterator[Object]:
    records = member(scope_block, signal.records)
    if records is not None and type(records) is not list:
        findings.note(f"{findings.records} that are no list were ignored")
        return
    for raw in cast("list[object]", records or []):
        if type(raw) is dict:
            yield cast("Object", raw)
        else:
            findings.reject("it is not an object")


def _no_records(request: JsonObject, signal: Signal) -> str:
    other = signal_in(request)
    if other is not None and other != signal.name:
        return f"holds {other}, no {signal.name}; only {signal.name} are read"
    names = ", ".join(sorted(request)[:3])
    return (
        f"not an OTLP {signal.name.removesuffix('s')} export: "
        f"an object with {signal.blocks[0]} is needed, this one has {names}"
    )


def time_of(value: object) -> int | None:
    """Read nanoseconds since 1970, a number or text; None when unknown."""
    number = integer_of(value) if type(value) is not str else _long(value)
    return number if number is not None and 0 < number <= _MAX_NS else None


def _long(text: str) -> int | None:
    # Nanoseconds are unsigned: up to 20 digits.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 20 else None


def member(raw: Object | JsonObject, names: Spellings) -> object:
    """Return a member in either spelling; None when it is absent."""
    value = raw.get(names[0])
    return raw.get(names[1]) if value is None else value


def text_of(value: object) -> str:
    """Return a text, or the empty one in place of anything else."""
    return value if type(value) is str else ""


def object_of(value: object) -> Object:
    """Return an object, or an empty one in place of anything else."""
    return cast("Object", value) if type(value) is dict else {}


def objects(value: object, findings: Findings) -> Iterator[Object]:
    """Walk through a list of objects; whatever else stands there is noted."""
    if value is None:
        return
    if type(value) is not list:
        findings.note("something stands where a list should: it was ignored")
        return
    for item in cast("list[object]", value):
        if type(item) is dict:
            yield cast("Object", item)
        else:
            findings.note("something stands where an object should: it was ignored")
