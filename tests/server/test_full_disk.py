"""A disk that is full in the midst of a run: who writes is told, who reads is answered, and the run goes on when there is room."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from faults.small_disk import small_disk
from served import server

BASE = "/api/v1/projects/default"
#: Many more than are judged before the disk is full.
COUNT = 6_000
LENGTHS = """
def evaluate(output):
    for _ in range(150_000):
        pass
    return {"score": len(output) % 2, "explanation": output * 100}
"""


def until(holds: Callable[[], bool]) -> None:
    ends_at_s = time.monotonic() + 90
    while not holds():
        assert time.monotonic() < ends_at_s
        time.sleep(0.02)


def made(answer: httpx.Response, status: int = 201) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def begin(client: httpx.Client) -> str:
    rows = b"".join(b'{"output": "%s"}\n' % (b"x" * (number % 50)) for number in range(COUNT))
    files = {"file": ("rows.jsonl", rows)}
    made(client.post(f"{BASE}/datasets/upload", data={"name": "rows"}, files=files))
    made(client.post(f"{BASE}/evaluators", json={"name": "lengths", "source": LENGTHS}))
    task = {
        "name": "long",
        "source": {"kind": "dataset", "dataset": "rows"},
        "evaluators": [{"evaluator": "lengths"}],
    }
    made(client.post(f"{BASE}/tasks", json=task))
    return made(client.post(f"{BASE}/tasks/long/runs"))["id"]


def span(number: int) -> dict[str, Any]:
    one = {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "x" * 2_000,
        "startTimeUnixNano": "1767225600000000000",
        "endTimeUnixNano": "1767225601000000000",
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}


@pytest.mark.timeout(240)
def test_a_server_whose_disk_is_full_loses_nothing_and_goes_on(tmp_path: Path):
    with (
        small_disk(tmp_path / "disk", megabytes=48) as disk,
        # The log is on the full disk too.
        server(disk.folder / "home", "--no-auth") as running,
        httpx.Client(base_url=running.address, timeout=60) as client,
    ):
        run_path = f"{BASE}/runs/{begin(client)}"
        until(lambda: client.get(run_path).json()["done"] > 0)
        disk.fill()
        _says_what_it_cannot_do(client)
        stuck = _progress_that_stays(client, run_path)
        assert stuck["status"] == "running"
        assert stuck["done"] < COUNT
        disk.make_room()

        until(lambda: client.get(run_path).json()["status"] != "running")
        ended = client.get(run_path).json()
        assert (ended["status"], ended["done"], ended["total"]) == ("completed", COUNT, COUNT)
        exported = map(json.loads, client.get(f"{run_path}/export").text.splitlines())
        kept = Counter((one["item_id"], one["status"]) for one in exported)
        assert len(kept) == kept.total() == COUNT
        assert {status for _, status in kept} == {"scored"}
        assert made(client.post("/v1/traces", json=span(1)), 200) == {}
        running.stop()
        assert running.process.returncode == 0


def _says_what_it_cannot_do(client: httpx.Client) -> None:
    """Write until a page more would be needed; what is read is answered all the while."""

    def post_task(number: int) -> httpx.Response:
        source = {"kind": "items", "items": [{"id": "a", "output": "x" * 5_000}]}
        uses = [{"evaluator": "lengths"}]
        body = {"name": f"more {number}", "source": source, "evaluators": uses}
        return client.post(f"{BASE}/tasks", json=body)

    def post_span(number: int) -> httpx.Response:
        return client.post("/v1/traces", json=span(number))

    for post in (post_span, post_task):
        answers = map(post, range(1_000))  # as many as go into the pages that are free
        refused = next(answer for answer in answers if not answer.is_success)
        assert refused.status_code == 503, refused.text
        assert refused.headers["content-type"] == "application/problem+json"
        assert int(refused.headers["retry-after"]) > 0
    for path in ("/healthz", "/metrics", f"{BASE}/tasks", f"{BASE}/runs", f"{BASE}/evaluators"):
        assert client.get(path).status_code == 200, path


def _progress_that_stays(client: httpx.Client, run_path: str) -> Any:
    """Wait until what was judged cannot be stored any more; returns the run."""
    seen: list[Any] = []

    def stays() -> bool:
        seen.append(client.get(run_path).json())
        return len(seen) > 100 and seen[-1]["done"] == seen[-100]["done"]

    until(stays)
    return seen[-1]
