"""Ten thousand watchers that come back at once: each gets a stream or is told to come later, and the server keeps its size."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from served import Server, server

BASE = "/api/v1/projects/default"
WATCHERS = 10_000
#: At a time: each is a file here and one in the server.
WAVE = 500
PLACES = 64
#: Slow, so that the run can be paused before it has ended.
LENGTHS = """
def evaluate(output):
    for _ in range(100_000):
        pass
    return {"score": len(output) % 2}
"""


def _memory_kib(server_: Server) -> int:
    status = Path(f"/proc/{server_.process.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS:"))


def _count(server_: Server, folder: str) -> int:
    return len(list(Path(f"/proc/{server_.process.pid}/{folder}").iterdir()))


def _paused_run(client: httpx.Client) -> str:
    """Make a run that rests, so that its watchers stay until it is gone on with; returns its path."""
    client.post(f"{BASE}/evaluators", json={"name": "lengths", "source": LENGTHS})
    items = [{"id": str(number), "output": "b"} for number in range(1_000)]
    source = {"kind": "items", "items": items}
    task = {"name": "some", "source": source, "evaluators": [{"evaluator": "lengths"}]}
    assert client.post(f"{BASE}/tasks", json=task).status_code == 201
    made = client.post(f"{BASE}/tasks/some/runs")
    path = f"{BASE}/runs/{made.json()['id']}"
    assert client.post(f"{path}/pause").status_code == 200
    return path


async def _connect(address: str, path: str, last: int) -> tuple[Any, Any, int, str]:
    """Ask for events; returns the connection with the status and head of the answer."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    request = f"GET {path}/events HTTP/1.1\r\nHost: {host}:{port}\r\nLast-Event-ID: {last}\r\n\r\n"
    writer.write(request.encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    return reader, writer, int(head.split()[1]), head.lower()


async def _waves(address: str, path: str, between: Callable[[], Awaitable[None]]) -> Counter[int]:
    statuses = Counter[int]()
    for _ in range(WATCHERS // WAVE):
        wave = await asyncio.gather(*(_connect(address, path, 10**9) for _ in range(WAVE)))
        await between()
        for _reader, writer, status, head in wave:
            statuses[status] += 1
            assert status == 200 or "retry-after:" in head, head
            writer.close()
    return statuses


@pytest.mark.timeout(600)
def test_ten_thousand_watchers_that_come_back_are_bounded(tmp_path: Path):
    with (
        server(tmp_path / "home", "--no-auth") as running,
        httpx.Client(base_url=running.address, timeout=60) as client,
    ):
        path = _paused_run(client)
        threads: list[int] = []

        async def between() -> None:
            # All of a wave hold on or were turned away; others are served all the same.
            async with httpx.AsyncClient(base_url=running.address, timeout=60) as other:
                assert (await other.get("/healthz")).status_code == 200
                assert (await other.get(path)).status_code == 200
            threads.append(_count(running, "task"))

        asyncio.run(_waves_once(running.address, path))
        before_kib, before_threads = _memory_kib(running), _count(running, "task")
        statuses = asyncio.run(_waves(running.address, path, between))

        assert statuses.total() == WATCHERS
        assert set(statuses) <= {200, 429, 503}
        assert statuses[200] >= PLACES
        assert statuses[429] > 0
        assert max(threads) <= before_threads + 50
        assert _memory_kib(running) < before_kib + 64 * 1024
        _goes_on_without_a_gap(running, client, path)


async def _waves_once(address: str, path: str) -> None:
    """Have the server grow to its size under load before that is measured."""
    for _reader, writer, _status, _head in await asyncio.gather(
        *(_connect(address, path, 10**9) for _ in range(WAVE))
    ):
        writer.close()


def _goes_on_without_a_gap(running: Server, client: httpx.Client, path: str) -> None:
    """Watch a run to its end by many short connections: each change comes once, in order, and the last is the end."""
    seen: list[int] = []
    last: dict[str, Any] = {}
    assert client.post(f"{path}/resume").status_code == 200
    while last.get("status") != "completed":
        headers = {"Last-Event-ID": str(seen[-1])} if seen else {}
        with client.stream("GET", f"{path}/events", headers=headers) as answer:
            if answer.status_code == 429:  # places of those who have just gone
                continue
            for line in answer.iter_lines():
                if line.startswith("data:"):
                    last = json.loads(line.removeprefix("data:"))
                    seen.append(last["change"])
                    break
    assert seen == sorted(set(seen))
    assert seen[-1] == client.get(path).json()["change"]
    assert running.process.poll() is None
