"""Runs on a real server: how long a small one takes, and a large one, and what they hold in memory."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from measure import Figure, TreeSampler
from records import SMALL_BYTES, write_records
from servers import PROJECT, RunningServer, running_server, stores

_EVALUATORS: Final = ("exact_match", "json_document", "number_within_tolerance")
_SMALL: Final = 100
_LARGE: Final = 100_000
SMALL_BUDGET_S: Final = 1.5
LARGE_BUDGET_S: Final = 60
MEMORY_BUDGET_MB: Final = 600
#: How often it is asked whether a run has ended.
_ASK_EVERY_S: Final = 0.02


def measure_server_runs(folder: Path, rounds: int, *, is_full: bool) -> list[Figure]:
    """Time runs of three evaluators from the request to the last result, on both databases.

    Args:
        folder: For data and databases.
        rounds: How often the small run is made.
        is_full: Whether memory is also looked at with four times the rows.
    """
    figures: list[Figure] = []
    with stores(folder) as urls:
        for store, url in urls.items():
            started_s = time.perf_counter()
            with running_server(folder, url) as server:
                up_s = time.perf_counter() - started_s
                figures.append(Figure(f"{store}: start to first answer", "s", (up_s,)))
                _save_evaluators(server)
                figures += _small(server, store, folder, rounds)
                figures += _large(server, store, folder, is_full=is_full)
    return figures


def _save_evaluators(server: RunningServer) -> None:
    for name in _EVALUATORS:
        source = (Path(__file__).parent / "evaluators" / f"{name}.py").read_text()
        body = {"name": name.replace("_", "-"), "source": source}
        server.client.post(f"{PROJECT}/evaluators", json=body).raise_for_status()


def _small(server: RunningServer, store: str, folder: Path, rounds: int) -> list[Figure]:
    _upload(server, folder, _SMALL)
    task = _make_task(server, _SMALL)
    walls = [_run(server, task, _SMALL) for _ in range(rounds + 1)][1:]
    name = f"{store}: {_SMALL} records x 3, request to last result read"
    return [Figure(name, "s", tuple(walls), SMALL_BUDGET_S)]


def _large(server: RunningServer, store: str, folder: Path, *, is_full: bool) -> list[Figure]:
    figures: list[Figure] = []
    smallest = 0.0
    for rows in (_LARGE, 4 * _LARGE) if is_full else (_LARGE,):
        _upload(server, folder, rows)
        task = _make_task(server, rows)
        sampler = TreeSampler(server.pid)
        sampler.start()
        used_s = server.cpu_s()
        wall_s = _run(server, task, rows)
        used_s = server.cpu_s() - used_s
        sampler.stop()
        peak_mb = sampler.peak_bytes / 1e6
        smallest = smallest or peak_mb
        name = f"{store}: {rows:,} records x 3"
        figures += [
            Figure(name, "s", (wall_s,), LARGE_BUDGET_S if rows == _LARGE else None),
            Figure(name, "evaluations/s", (3 * rows / wall_s,)),
            Figure(f"{name}, CPU of the server and its sandboxes", "s", (used_s,)),
            Figure(f"{name}, memory of all processes", "MB", (peak_mb,), MEMORY_BUDGET_MB),
        ]
        if rows != _LARGE:
            figures.append(
                Figure(f"{name}, memory", f"x {_LARGE:,} records", (peak_mb / smallest,), 1.15)
            )
    return figures


def _upload(server: RunningServer, folder: Path, rows: int) -> None:
    data = write_records(folder / f"{rows}.jsonl", rows=rows, output_bytes=SMALL_BYTES)
    with data.open("rb") as file:
        answer = server.client.post(
            f"{PROJECT}/datasets/upload", data={"name": f"rows-{rows}"}, files={"file": file}
        )
    answer.raise_for_status()
    data.unlink()


def _make_task(server: RunningServer, rows: int) -> str:
    body = {
        "name": f"task-{rows}",
        "source": {"kind": "dataset", "dataset": f"rows-{rows}"},
        "evaluators": [{"evaluator": name.replace("_", "-")} for name in _EVALUATORS],
        "settings": {"reuse": False},
    }
    server.client.post(f"{PROJECT}/tasks", json=body).raise_for_status()
    return str(body["name"])


def _run(server: RunningServer, task: str, rows: int) -> float:
    """Return the seconds from the request to the last result, read."""
    client = server.client
    started_s = time.perf_counter()
    run: Any = client.post(f"{PROJECT}/tasks/{task}/runs").raise_for_status().json()
    path = f"{PROJECT}/runs/{run['id']}"
    while run["status"] in ("queued", "running"):
        time.sleep(_ASK_EVERY_S)
        run = client.get(path).raise_for_status().json()
    page: Any = client.get(f"{path}/items", params={"limit": 200}).raise_for_status().json()
    wall_s = time.perf_counter() - started_s
    _check(run, page["items"], rows)
    return wall_s


def _check(run: Any, items: Sequence[Any], rows: int) -> None:
    """Make sure that everything was judged.

    Raises:
        SystemExit: It was not.
    """
    judged = sum(one["scored"] + one["skipped"] for one in run["evaluators"])
    got = (run["status"], run["done"], judged, len(items))
    want = ("completed", rows, 3 * rows, min(rows, 200))
    if got != want:
        raise SystemExit(f"bench: a run ended as {got}, and not as {want}")
