"""All of it together, on a real server: from data and evaluators to results, past a kill in the middle."""

from __future__ import annotations

import json
import re
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from command_line import CommandLine
from databases import new_database
from served import Server, server, worker

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
ANSWERS = EXAMPLES / "support/answers.jsonl"
TRACES = EXAMPLES / "support/traces.otlp.jsonl"
BASE = "/api/v1/projects/default"
PYTHON = (EXAMPLES / "variables/answer_given.py").read_text()
SCRIPT = """
function evaluate(output, expected) {
  if (expected === null || expected === undefined) return { skip: "no reference" };
  const got = (output ?? "").trim();
  return { score: got === expected.trim() ? 1 : 0, explanation: `${got.length} characters` };
}
"""
SLOW = """
def evaluate(output):
    count = 0
    for _ in range(400_000):
        count += 1
    return {"score": len(output or "") % 2, "explanation": str(count)}
"""


@pytest.fixture
def options(database_url: str) -> tuple[str, ...]:
    """What a server is given to use an empty database."""
    return ("--migrate", "--database", database_url)


def caller(running: Server, secret: str | None) -> httpx.Client:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.Client(base_url=running.address, headers=headers, timeout=60)


def made(answer: httpx.Response, status: int = 201) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def new_key(running: Server, *scopes: str) -> str:
    with caller(running, running.token) as owner:
        body = {"name": "-".join(scopes), "scopes": scopes}
        return made(owner.post(f"{BASE}/api-keys", json=body))["secret"]


def upload(client: httpx.Client, name: str, rows: bytes) -> Any:
    files = {"file": (f"{name}.jsonl", rows)}
    return made(client.post(f"{BASE}/datasets/upload", data={"name": name}, files=files))


def save(client: httpx.Client, name: str, source: str, **fields: Any) -> Any:
    body = {"name": name, "source": source, **fields}
    return made(client.post(f"{BASE}/evaluators", json=body))


def begin(client: httpx.Client, name: str, source: Any, *evaluators: str, **more: Any) -> Any:
    uses = [{"evaluator": one} for one in evaluators]
    body = {"name": name, "source": source, "evaluators": uses, **more}
    made(client.post(f"{BASE}/tasks", json=body))
    return made(client.post(f"{BASE}/tasks/{name}/runs"))


def watch(client: httpx.Client, run: Any) -> list[Any]:
    """Follow a run to its end; returns the states that it was in."""
    with client.stream("GET", f"{BASE}/runs/{run['id']}/events") as answer:
        assert answer.status_code == 200
        lines = list(answer.iter_lines())
    return [json.loads(line.removeprefix("data:")) for line in lines if line.startswith("data:")]


def results(client: httpx.Client, run: Any) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while True:
        params = {"limit": 200, **({"cursor": cursor} if cursor else {})}
        page = made(client.get(f"{BASE}/runs/{run['id']}/results", params=params), 200)
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def judged(records: list[Any]) -> dict[tuple[str, str], tuple[Any, ...]]:
    """What is the same however often something is judged."""
    names = ("status", "score", "explanation", "reason", "metrics")
    found = {
        (one["evaluator"], one["item_id"]): tuple(repr(one[name]) for name in names)
        for one in records
    }
    assert len(found) == len(records)
    return found


def test_from_data_to_results_as_on_the_command_line(
    options: tuple[str, ...], tmp_path: Path, cli: CommandLine
):
    with server(tmp_path / "home", *options) as running:
        with caller(running, new_key(running, "write")) as client:
            upload(client, "answers", ANSWERS.read_bytes())
            save(client, "given", PYTHON)
            save(client, "same", SCRIPT, language="javascript")
            _preview_gives_scores(client)
            source = {"kind": "dataset", "dataset": "answers"}
            run = begin(client, "nightly", source, "given", "same")

            assert watch(client, run)[-1]["status"] == "completed"
            records = results(client, run)
            summary = made(client.get(f"{BASE}/runs/{run['id']}/summary"), 200)
            export = client.get(f"{BASE}/runs/{run['id']}/export").text.splitlines()
            assert [one["evaluator"] for one in summary["summary"]] == ["given", "same"]
            assert judged([json.loads(line) for line in export]) == judged(records)
            assert made(client.get(f"{BASE}/runs/{run['id']}"), 200)["source"]["version"] == 1
            usage = made(client.get(f"{BASE}/evaluators/same/usage"), 200)
            assert [task["name"] for task in usage["tasks"]] == ["nightly"]
            figures = client.get("/metrics").text
            assert 'scorewright_runs{status="completed"} 1.0' in figures
        running.stop()
        assert running.process.returncode == 0

    assert judged(records) == judged(_on_the_command_line(cli, tmp_path))


def _preview_gives_scores(client: httpx.Client) -> None:
    source = {"kind": "dataset", "dataset": "answers"}
    body = {"source": source, "n": 3, "evaluators": [{"source": PYTHON}, {"evaluator": "same"}]}
    tried = made(client.post(f"{BASE}/preview", json=body), 200)["evaluators"]
    assert [len(one["results"]) for one in tried] == [3, 3]
    assert {result["status"] for one in tried for result in one["results"]} == {"scored"}


def _on_the_command_line(cli: CommandLine, folder: Path) -> list[Any]:
    (folder / "given.py").write_text(PYTHON)
    (folder / "same.js").write_text(SCRIPT)
    out = folder / "results.jsonl"
    evaluators = (str(folder / "given.py"), str(folder / "same.js"))
    done = cli("run", *evaluators, "--data", str(ANSWERS), "--out", str(out), "--no-cache")
    assert done.code == 0, done
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    return [line for line in lines if "item_id" in line]


def test_a_new_server_shows_the_demo_once_with_its_tasks_run(
    options: tuple[str, ...], tmp_path: Path
):
    for is_first in (True, False):
        with (
            server(tmp_path / "home", *options, "--no-auth", "--demo") as running,
            httpx.Client(base_url=running.address, timeout=60) as client,
        ):
            shown = "".join(running.heading)
            mean = re.search(r"names-the-due-date +0\.875 ± 0\.11 +40 of 40", shown)
            assert (mean is not None) == is_first, shown
            runs = made(client.get(f"{BASE}/runs"), 200)["items"]
            assert [run["status"] for run in runs] == ["completed"] * 2
            assert [watch(client, run)[-1]["status"] for run in runs] == ["completed"] * 2
            totals = [made(client.get(f"{BASE}/runs/{run['id']}"), 200)["total"] for run in runs]
            assert sorted(totals) == [12, 40]
            found = [one for run in runs for one in results(client, run)]
            assert {one["status"] for one in found} == {"scored", "skipped"}
            for name in ("names-the-due-date", "short-enough", "looks-before-it-answers"):
                assert len({one["score"] for one in found if one["evaluator"] == name}) > 1


def test_traces_that_were_sent_are_judged_and_later_ones_are_not_of_that_run(
    options: tuple[str, ...], tmp_path: Path
):
    with server(tmp_path / "home", *options) as running:
        lines = TRACES.read_bytes().splitlines()
        headers = {"Content-Type": "application/json"}
        with caller(running, new_key(running, "ingest")) as sender:
            assert sender.get(f"{BASE}/traces").status_code == 403
            for line in lines[:20]:
                made(sender.post("/v1/traces", content=line, headers=headers), 200)
            elsewhere = {**headers, "X-Scorewright-Project": "other"}
            assert sender.post("/v1/traces", content=lines[0], headers=elsewhere).status_code == 404
            with caller(running, new_key(running, "read")) as reader:
                refused = reader.post("/v1/traces", content=lines[0], headers=headers)
                assert refused.status_code == 403
            with caller(running, new_key(running, "write")) as client:
                names = ("parcel_known", "looks_first")
                for name in names:
                    save(client, name, (EXAMPLES / f"traces/{name}.py").read_text())
                everything = {"kind": "traces"}
                some = {"kind": "traces", "filter": 'trace.environment = "production"'}
                run = begin(client, "all", everything, *names)
                watch(client, run)
                for line in lines[20:]:
                    made(sender.post("/v1/traces", content=line, headers=headers), 200)
                again = made(client.post(f"{BASE}/runs/{run['id']}/repeat", json={"mode": "all"}))
                chosen = begin(client, "some", some, *names)
                states = [watch(client, one)[-1] for one in (run, again, chosen)]

                assert [state["status"] for state in states] == ["completed"] * 3
                totals = [state["total"] for state in states]
                traces = {one["item_id"] for one in _of(client, run, "parcel_known")}
                assert len(traces) == 20
                assert len(_of(client, again, "parcel_known")) == 24
                assert 0 < len(_of(client, chosen, "parcel_known")) < 24
                assert totals[0] < totals[1]
                assert len(_of(client, run, "looks_first")) >= 20


def _of(client: httpx.Client, run: Any, evaluator: str) -> list[Any]:
    return [one for one in results(client, run) if one["evaluator"] == evaluator]


@pytest.mark.parametrize(("end", "code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)])
def test_a_server_that_ends_in_the_middle_completes_the_run_when_it_is_back(
    end: signal.Signals, code: int, options: tuple[str, ...], tmp_path: Path
):
    home = tmp_path / "home"
    count = 1_200
    rows = b"".join(b'{"id": "%d", "output": "%s"}\n' % (n, b"x" * (n % 7)) for n in range(count))
    with server(home, *options) as running:
        key = new_key(running, "write")
        with caller(running, key) as client:
            upload(client, "rows", rows)
            save(client, "slow", SLOW)
            run = begin(client, "long", {"kind": "dataset", "dataset": "rows"}, "slow")
            _wait_until_some_are_done(client, run)
            running.process.send_signal(end)
        assert running.process.wait(60) == code
    with server(home, *options) as running, caller(running, key) as client:
        before = made(client.get(f"{BASE}/runs/{run['id']}"), 200)
        assert before["status"] == "running"
        assert 0 < before["done"] < count

        assert watch(client, run)[-1]["status"] == "completed"
        records = results(client, run)
        assert len(records) == count
        assert len(judged(records)) == count
        assert {one["status"] for one in records} == {"scored"}


def test_workers_do_the_runs_of_a_server_that_does_none_and_hand_back_what_they_leave(
    postgres: str, tmp_path: Path
):
    url = new_database(postgres)
    options = ("--migrate", "--database", url, "--no-auth", "--no-worker")
    items = [{"id": str(n), "output": "x" * (n % 5)} for n in range(600)]
    with (
        server(tmp_path / "home", *options) as running,
        httpx.Client(base_url=running.address, timeout=60) as client,
    ):
        save(client, "slow", SLOW)
        run = begin(client, "long", {"kind": "items", "items": items}, "slow")
        assert (run["status"], run["queue_position"]) == ("queued", 0)
        with worker(url) as first:
            _wait_until_some_are_done(client, run)
            first.send_signal(signal.SIGTERM)
            assert first.wait(60) == 0
        left = made(client.get(f"{BASE}/runs/{run['id']}"), 200)
        assert left["status"] == "running"
        assert 0 < left["done"] < len(items)
        with worker(url):
            assert watch(client, run)[-1]["status"] == "completed"
        assert len(judged(results(client, run))) == len(items)


def test_sqlite_has_no_workers_beside_its_server(tmp_path: Path, cli: CommandLine):
    url = f"sqlite:///{tmp_path}/some.db"

    for refused in (("worker",), ("serve", "--no-worker")):
        done = cli(*refused, "--database", url)
        assert done.code == 2
        assert "PostgreSQL" in done.stderr


def _wait_until_some_are_done(client: httpx.Client, run: Any) -> None:
    ends_at_s = time.monotonic() + 60
    while not made(client.get(f"{BASE}/runs/{run['id']}"), 200)["done"]:
        assert time.monotonic() < ends_at_s
        time.sleep(0.05)
