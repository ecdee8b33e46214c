"""Figures about the server itself, as Prometheus reads them."""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

MEDIA_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
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
        #: By the status that they ended with.
        self.runs = Counter(
            "scorewright_runs", "Runs that ended", ["status"], registry=self._registry
        )
        self.items_judged = Counter(
            "scorewright_items_judged",
            "Results that were made, by their kind",
            ["status"],
            registry=self._registry,
        )
        self.queued_runs = Gauge(
            "scorewright_queued_runs", "Runs that wait for their turn", registry=self._registry
        )

    def add_request(self, method: str, route: str, status: int, duration_s: float) -> None:
        """Count a request."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, route, str(status)).inc()
        self._durations.labels(known, route).observe(duration_s)

    def text(self) -> bytes:
        """Write all figures."""
        return generate_latest(self._registry)
