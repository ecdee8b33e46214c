"""Spans sent to a real server over HTTP: how many a second are durable and can be found, and whether that lasts."""

from __future__ import annotations

import http.client
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from typing import Final
from urllib.parse import urlsplit

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from measure import Figure
from servers import PROJECT, RunningServer, running_server, stores
from spans import BATCH, batches, growing_trace

CONNECTIONS: Final = (1, 4)
_REQUESTS: Final = 40
#: Spans in the database before its speed is measured again.
_FULL: Final = 300_000
_GROWING: Final = (100, 200)
PLAIN_FLOOR: Final = 8_000
_HEADERS: Final = {"content-type": "application/x-protobuf"}


def measure_ingest(folder: Path, rounds: int, *, is_full: bool) -> list[Figure]:
    """Send batches of 1,000 spans to a server on each database, empty at first and then with many spans in it.

    Args:
        folder: For databases.
        rounds: How often each number of connections is tried.
        is_full: Whether a database of 1,000,000 spans is measured too.
    """
    figures: list[Figure] = []
    with stores(folder) as urls:
        for store, url in urls.items():
            with running_server(folder, url) as server:
                figures += _of_store(server, store, rounds, is_full=is_full)
    return figures


def _of_store(server: RunningServer, store: str, rounds: int, *, is_full: bool) -> list[Figure]:
    seeds = itertools.count(1)
    send(server.address, server.headers, [*batches(2, seed=next(seeds))], 1)  # warms it up
    figures: list[Figure] = []
    empty: list[float] = []
    for connections in CONNECTIONS:
        measured = [_round(server, connections, next(seeds)) for _ in range(rounds)]
        name = f"{store}: batches of {BATCH:,} on {connections} connection{'s' * (connections > 1)}"
        per_s = tuple(one.spans_per_s for one in measured)
        empty = list(per_s)
        figures += [
            Figure(name, "spans/s", per_s, PLAIN_FLOOR, at_most=False),
            Figure(f"{name}, answered", "ms p95", tuple(one.p95_ms for one in measured)),
            Figure(f"{name}, CPU", "µs a span", tuple(one.cpu_us for one in measured)),
        ]
    there = 0
    for size in (_FULL, 1_000_000) if is_full else (_FULL,):
        _fill(server, size - there, seeds)
        there = size
        measured = [_round(server, CONNECTIONS[-1], next(seeds)) for _ in range(rounds)]
        kept = tuple(one.spans_per_s / median(empty) for one in measured)
        name = f"{store}: with {size:,} spans there before"
        figures.append(Figure(name, "x an empty database", kept, 0.8, at_most=False))
    figures.append(Figure(f"{store}: server at the end", "MB", (server.resident_bytes() / 1e6,)))
    return [*figures, *_growing(server, store, seeds)]


def _check_found(server: RunningServer, bodies: Sequence[bytes]) -> None:
    """Make sure that what was answered can be read at once."""
    spans = ExportTraceServiceRequest.FromString(bodies[-1]).resource_spans[0].scope_spans[0].spans
    path = f"{PROJECT}/traces/{spans[-1].trace_id.hex()}"
    found = server.client.get(path).raise_for_status().json()
    if len(found["spans"]) != 10:
        raise SystemExit(f"bench: a trace of 10 spans has {len(found['spans'])}")


class _Round:
    """What one round showed."""

    def __init__(self, waits_s: Sequence[float], wall_s: float, cpu_s: float) -> None:
        spans = len(waits_s) * BATCH
        self.spans_per_s = spans / wall_s
        self.p95_ms = quantiles(waits_s, n=20)[-1] * 1000
        self.cpu_us = cpu_s / spans * 1e6


def _round(server: RunningServer, connections: int, seed: int) -> _Round:
    bodies = list(batches(_REQUESTS, seed=seed))
    before_s = server.cpu_s()
    started_s = time.perf_counter()
    waits_s = send(server.address, server.headers, bodies, connections)
    wall_s = time.perf_counter() - started_s
    _check_found(server, bodies)
    return _Round(waits_s, wall_s, server.cpu_s() - before_s)


def _fill(server: RunningServer, spans: int, seeds: Iterator[int]) -> None:
    for _ in range(spans // (_REQUESTS * BATCH)):
        send(server.address, server.headers, [*batches(_REQUESTS, seed=next(seeds))], 4)


def _growing(server: RunningServer, store: str, seeds: Iterator[int]) -> list[Figure]:
    """Time the last tenth of a trace that arrives bit by bit against its first: what is there already must cost little."""
    figures: list[Figure] = []
    for requests in _GROWING:
        bodies = list(growing_trace(requests, size=100, seed=next(seeds)))
        waits_s = send(server.address, server.headers, bodies, 1)
        tenth = requests // 10
        first_ms, last_ms = (median(part) * 1000 for part in (waits_s[:tenth], waits_s[-tenth:]))
        name = f"{store}: a trace of {requests * 100:,} spans, 100 at a time"
        figures += [
            Figure(f"{name}, last requests", "ms", (last_ms,)),
            Figure(f"{name}, last requests", "x the first", (last_ms / first_ms,)),
        ]
    return figures


def send(
    address: str, headers: dict[str, str], bodies: Iterable[bytes], connections: int
) -> list[float]:
    """Send requests by so many connections at a time.

    Returns:
        How long each waited for its answer, in seconds.

    Raises:
        SystemExit: One was refused.
    """
    waiting = iter(list(bodies))
    with ThreadPoolExecutor(connections) as pool:
        found = [pool.submit(_send_some, address, headers, waiting) for _ in range(connections)]
        return [wait_s for some in found for wait_s in some.result()]


def _send_some(address: str, headers: dict[str, str], bodies: Iterator[bytes]) -> list[float]:
    target = urlsplit(address)
    connection = http.client.HTTPConnection(target.hostname or "", target.port, timeout=300)
    waits_s: list[float] = []
    ask: Callable[..., None] = connection.request
    for body in bodies:
        started_s = time.perf_counter()
        ask("POST", "/v1/traces", body, {**headers, **_HEADERS})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise SystemExit(f"bench: spans were answered {answer.status}: {text[:200]!r}")
        waits_s.append(time.perf_counter() - started_s)
    connection.close()
    return waits_s
