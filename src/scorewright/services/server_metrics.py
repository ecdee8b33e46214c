"""Figures about the server itself, as Prometheus reads them."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from sqlalchemy.exc import SQLAlchemyError

from scorewright.storage.database import Database
from scorewright.storage.repositories import runs as run_rows

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
#: Of runs, and of results.
_STATUSES: Final = (
    *("queued", "running", "paused", "cancelling"),
    *("completed", "cancelled", "failed"),
)
_KINDS: Final = ("scored", "skipped", "failed")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class ServerMetrics:
    """The figures of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "scorewright_requests",
            "Requests that were answered",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._durations = Histogram(
            "scorewright_request_duration_seconds",
            "How long answers took",
            ["method", "route"],
            registry=self._registry,
        )
        self._runs = Gauge(
            "scorewright_runs", "Runs that there are", ["status"], registry=self._registry
        )
        self._results = Gauge(
            "scorewright_results",
            "Results that there are, by their kind",
            ["status"],
            registry=self._registry,
        )

    def add_request(self, method: str, route: str, status: int, duration_s: float) -> None:
        """Count a request."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._durations.labels(known, route).observe(duration_s)

    def text(self, database: Database) -> bytes:
        """Write all figures; those of runs are what the database says, whoever made them."""
        try:
            with database.read() as connection:
                rows = run_rows.figures(connection)
        except SQLAlchemyError:  # those of the server itself are wanted then more than ever
            rows = None
        self._runs.clear()
        self._results.clear()
        if rows is not None:
            counts = {row.status: row.runs for row in rows}
            for status in _STATUSES:
                self._runs.labels(status).set(counts.get(status, 0))
            for kind in _KINDS:
                self._results.labels(kind).set(sum(int(getattr(row, kind)) for row in rows))
        return generate_latest(self._registry)
