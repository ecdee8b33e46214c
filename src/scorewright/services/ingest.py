"""Spans and log records that applications send: decoded, stored, and what is known of their traces made again."""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias, TypeVar

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import StorageError, TooLargeError, TraceError
from scorewright.domain.json_value import JsonValue
from scorewright.services.trace_row import trace_row
from scorewright.sources.stored_spans import span_of, spans_by_trace, trace_by_id, with_body
from scorewright.storage.database import UNAVAILABLE, Database
from scorewright.storage.repositories.attribute_names import add_names, names_of
from scorewright.storage.repositories.log_records import add_records
from scorewright.storage.repositories.projects import default_project_id, project_id
from scorewright.storage.repositories.spans import add_spans, bodies_of_some, put_spans
from scorewright.storage.repositories.traces import (
    Claimed,
    add_pending,
    claim_pending,
    claim_traces,
    pending_traces,
    release_traces,
    replace_traces,
)
from scorewright.storage.tables.metadata import new_id, now_us
from scorewright.storage.tables.traces import EXCERPT_CHARS
from scorewright.telemetry.assembly import Trace, assemble
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_logs import decode_logs
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.logs import LogRecord
from scorewright.telemetry.protobuf_logs import decode_protobuf_logs
from scorewright.telemetry.protobuf_request import decode_protobuf
from scorewright.telemetry.raw_span import RawSpan
from scorewright.telemetry.span_tree import distinct

Encoding: TypeAlias = Literal["protobuf", "json"]
Sent = TypeVar("Sent")

#: Names of attributes of each subject that are remembered, and can be asked for.
_MAX_NAMES: Final = 20_000
_MAX_NAME_CHARS: Final = 256
_NONE: Final = frozenset[str]()
#: A trace of so many spans is put together again when it has grown by this share, or has been quiet for so long.
_LARGE_TRACE: Final = 1_000
_LEAST_GROWTH: Final = 0.1
SETTLED_AFTER_US: Final = 1_000_000
_SETTLED_AT_ONCE: Final = 20
_GZIP: Final = 16 + zlib.MAX_WBITS


class IngestLimits(msgspec.Struct, frozen=True):
    """How much is taken."""

    #: Of one request, as it is sent and unpacked.
    max_packed_bytes: int = 16 * 2**20
    max_bytes: int = 64 * 2**20
    #: Requests that are decoded and stored at once, and that are in memory in all; the others are told to come back.
    at_once: int = 4
    waiting: int = 32


class Accepted(msgspec.Struct, frozen=True):
    """What became of a request's spans or records."""

    rejected: int
    #: Empty where all is well.
    message: str


class KnownNames:
    """Names of attributes that the database knows, by project: nearly every request brings none that is new."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, dict[str, set[str]]] = {}

    def learn(self, database: Database, project_id: str, names: Mapping[str, set[str]]) -> None:
        """Store the names that are new, up to as many of each subject as are ever listed.

        Args:
            database: Where they are stored.
            project_id: Whose they are.
            names: By subject.
        """
        known = self._of_project(database, project_id)
        if all(met <= known.get(subject, _NONE) for subject, met in names.items()):
            return
        with self._lock:
            new = {
                (subject, name)
                for subject, met in names.items()
                if len(known.setdefault(subject, set())) <= _MAX_NAMES
                for name in met - known[subject]
                if 0 < len(name) <= _MAX_NAME_CHARS
            }
            if new:
                with database.write() as connection:
                    add_names(connection, project_id, new)
            for subject, name in new:
                known[subject].add(name)

    def _of_project(self, database: Database, project_id: str) -> dict[str, set[str]]:
        known = self._known.get(project_id)
        if known is not None:
            return known
        found: dict[str, set[str]] = {}
        with database.read() as connection:
            for subject, name in names_of(connection, project_id):
                found.setdefault(subject, set()).add(name)
        with self._lock:
            return self._known.setdefault(project_id, found)


def unpacked(body: bytes, max_bytes: int) -> bytes:
    """Unpack a body that gzip packed, no further than a request may be large.

    Raises:
        TooLargeError: The caller's: it is larger.
        TraceError: The caller's: it is damaged.
    """
    parts: list[bytes] = []
    room = max_bytes
    while body:
        stream = zlib.decompressobj(_GZIP)
        try:
            part = stream.decompress(body, room + 1)
        except zlib.error as error:
            raise TraceError(f"the body cannot be unpacked by gzip: {error}") from None
        room -= len(part)
        if room < 0:
            raise TooLargeError(f"the body is larger than {max_bytes:,} bytes when unpacked")
        if not stream.eof:
            raise TraceError("the body cannot be unpacked by gzip: it is cut off")
        parts.append(part)
        body = stream.unused_data
    return b"".join(parts)


def project_of(database: Database, name: str | None) -> str:
    """Return the id of the project that a request is for: the default one where it names none.

    Raises:
        NotFoundError: The caller's: there is none of that name.
        StorageError: Ours: the database cannot be asked.
    """
    with _as_ours():
        return default_project_id(database) if name is None else project_id(database, name)


def take_spans(
    database: Database, project_id: str, body: bytes, encoding: Encoding, names: KnownNames
) -> Accepted:
    """Store the spans of a request; they are durable when this returns.

    Raises:
        TraceError: The caller's: it is no request of this encoding; nothing of it is stored.
        StorageError: Ours: it could not be stored; it may be sent again.
    """
    findings = Findings()
    decode = decode_protobuf if encoding == "protobuf" else decode_json
    spans = decode(body, findings) if body else []
    if spans:
        with _as_ours():
            _store_spans(database, project_id, spans, names)
    return _accepted(findings)


def take_records(
    database: Database, project_id: str, body: bytes, encoding: Encoding, names: KnownNames
) -> Accepted:
    """Store the log records of a request; as `take_spans`."""
    findings = Findings("log record")
    decode = decode_protobuf_logs if encoding == "protobuf" else decode_logs
    records = decode(body, findings) if body else []
    if records:
        with _as_ours():
            _store_records(database, project_id, records, names)
    return _accepted(findings)


def _accepted(findings: Findings) -> Accepted:
    return Accepted(findings.rejected, "; ".join(findings.notices()))


@contextmanager
def _as_ours() -> Generator[None]:
    """Let what a database cannot do now be an error that is worth trying again."""
    try:
        yield
    except UNAVAILABLE as error:
        raise StorageError("the database cannot take this now; send it again") from error


# ── Spans ────────────────────────────────────────────────────────────────────────────────────────


class _Arrival:
    """What one request brings: spans, each with its bytes, and their traces as far as the request tells."""

    def __init__(self, project_id: str, sent: Iterable[RawSpan]) -> None:
        self.project_id = project_id
        self.now = now_us()
        self.bodies: dict[int, bytes] = {}
        kept: list[RawSpan] = []
        for span in sent:
            mended, body = with_body(span)
            # By identity: nothing else tells a span that arrived from the same one in the database.
            self.bodies[id(mended)] = body
            kept.append(mended)
        traces = assemble(kept)
        self.traces = {trace.root.trace_id: trace for trace in traces}

    def rows(self, traces: Iterable[Trace]) -> list[dict[str, Any]]:
        rows = [trace_row(self.project_id, trace, self.now) for trace in traces]
        return sorted(rows, key=lambda row: row["trace_id"])

    def span_rows(self, spans: Iterable[RawSpan]) -> list[dict[str, Any]]:
        """Make rows of the spans among some that arrived."""
        return [
            {
                "project_id": self.project_id,
                "trace_id": span.trace_id,
                "span_id": span.span_id,
                "created_us": self.now,
                "body": body,
            }
            for span in spans
            if (body := self.bodies.get(id(span))) is not None
        ]


def _store_spans(
    database: Database, project_id: str, sent: Sequence[RawSpan], names: KnownNames
) -> None:
    arrival = _Arrival(project_id, sent)
    rows = arrival.rows(arrival.traces.values())
    names.learn(database, project_id, _names_in(arrival.traces.values()))
    with database.write() as connection:
        known = claim_traces(connection, rows)
        new = [arrival.traces[row["trace_id"]] for row in rows if row["trace_id"] not in known]
        add_spans(connection, arrival.span_rows(span for one in new for span in one.tree.spans))
        if known:
            growing = [
                trace_id
                for trace_id, claimed in known.items()
                if _may_wait(claimed, len(arrival.traces[trace_id].tree.spans))
            ]
            for trace_id in growing:
                _put_by(connection, arrival, trace_id)
            _add_to(connection, arrival, sorted(known.keys() - growing))


def _may_wait(claimed: Claimed, added: int) -> bool:
    """Tell whether a trace may be put together again later: else one that grows bit by bit would cost its square."""
    pending = claimed.pending_spans + added
    return claimed.span_count >= _LARGE_TRACE and pending < claimed.span_count * _LEAST_GROWTH


def _put_by(connection: sa.Connection, arrival: _Arrival, trace_id: str) -> None:
    """Store what arrived of a large trace, and leave it at that."""
    project_id = arrival.project_id
    sent = arrival.traces[trace_id].tree.spans
    span_ids = [span.span_id for span in sent]
    stored = [span_of(body) for body in bodies_of_some(connection, project_id, trace_id, span_ids)]
    kept, _ = distinct([*stored, *sent])
    rows = arrival.span_rows(kept)
    if rows:
        put_spans(connection, rows)
        add_pending(connection, project_id, trace_id, len(rows), arrival.now)
    else:
        release_traces(connection, project_id, [trace_id])


def _add_to(connection: sa.Connection, arrival: _Arrival, known: Sequence[str]) -> None:
    """Put traces together again that had spans before."""
    stored = spans_by_trace(connection, arrival.project_id, known)
    changed: list[Trace] = []
    unchanged: list[str] = []
    written: list[dict[str, Any]] = []
    for trace_id in known:
        # What is stored comes first: of two versions that are the same it stays.
        kept, _ = distinct([*stored.get(trace_id, ()), *arrival.traces[trace_id].tree.spans])
        rows = arrival.span_rows(kept)
        if rows:
            written += rows
            changed += assemble(kept)
        else:
            unchanged.append(trace_id)
    put_spans(connection, written)
    replace_traces(connection, arrival.rows(changed))
    release_traces(connection, arrival.project_id, unchanged)


def settle_traces(database: Database, *, quiet_us: int = SETTLED_AFTER_US) -> int:
    """Put large traces together again that have grown and are quiet now.

    Args:
        database: Where they are.
        quiet_us: For how long nothing more must have arrived.

    Returns:
        How many there were.
    """
    with database.read() as connection:
        found = pending_traces(connection, now_us() - quiet_us, _SETTLED_AT_ONCE)
    for owner, trace_id in found:
        settle_trace(database, owner, trace_id)
    return len(found)


def settle_trace(database: Database, project_id: str, trace_id: str) -> None:
    """Put a trace together again if it has grown since that was done last."""
    with database.write() as connection:
        if claim_pending(connection, project_id, trace_id):
            trace = trace_by_id(connection, project_id, trace_id)
            rows = [] if trace is None else [trace_row(project_id, trace, now_us())]
            replace_traces(connection, rows)


def _names_in(traces: Iterable[Trace]) -> dict[str, set[str]]:
    names: dict[str, set[str]] = {"trace": set(), "agent": set(), "llm": set()}
    for trace in traces:
        names["trace"].update(trace.root.attributes)
        for span, facts in zip(trace.tree.spans, trace.facts, strict=True):
            if facts.kind in ("agent", "llm"):
                names[facts.kind].update(span.attributes)
    return names


# ── Log records ──────────────────────────────────────────────────────────────────────────────────


def _store_records(
    database: Database, project_id: str, sent: Iterable[LogRecord], names: KnownNames
) -> None:
    now = now_us()
    seen: Counter[bytes] = Counter()
    rows: list[dict[str, Any]] = []
    met: set[str] = set()
    for one in sent:
        record, body = with_body(one)
        seen[body] += 1
        rows.append(_record_row(project_id, record, body, seen[body], now))
        met.update(record.attributes)
    names.learn(database, project_id, {"log": met})
    with database.write() as connection:
        add_records(connection, rows)


def _record_row(
    project_id: str, record: LogRecord, body: bytes, occurrence: int, now: int
) -> dict[str, Any]:
    happened = record.timestamp_ns if record.timestamp_ns is not None else record.observed_ns
    if happened is None:
        record_id = new_id()
    else:
        # A request that is sent again brings the same records; one that tells the same thing twice means it.
        digest = hashlib.blake2b(body, digest_size=16, salt=occurrence.to_bytes(8, "big"))
        record_id = digest.hexdigest()
    return {
        "project_id": project_id,
        "id": record_id,
        "created_us": now,
        "time_us": now if happened is None else happened // 1_000,
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "severity": record.severity,
        "severity_number": record.severity_number,
        "excerpt": _excerpt(record.body),
        "body": body,
    }


def _excerpt(value: JsonValue) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text[:EXCERPT_CHARS]
