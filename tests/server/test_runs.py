"""Runs: what became of every item, whatever happened on the way."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from run_parts import make_parts, numbers_source, numbers_task, work_off
from scorewright.domain.aggregate import Summary
from scorewright.domain.result_record import ResultRecord, to_item_outcome
from scorewright.services import run_results, runs
from scorewright.services.evaluation import Evaluation
from scorewright.services.plan import Settings, Task
from scorewright.services.run_model import ENDED
from scorewright.services.run_results import Question
from scorewright.services.run_work import RunWork
from scorewright.services.run_worker import RunWorker
from scorewright.services.runner_choice import Runners
from scorewright.storage.database import Database
from scorewright.storage.repositories import results as result_rows
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import shares as share_rows
from scorewright.storage.repositories.projects import project_id

BASE = "/api/v1/projects/default"


def start(client: TestClient, body: dict[str, Any]) -> dict[str, Any]:
    made = client.post(f"{BASE}/tasks", json=body)
    assert made.status_code in (201, 409), made.text
    answer = client.post(f"{BASE}/tasks/{body['name']}/runs")
    assert answer.status_code == 201, answer.text
    return answer.json()


def get(client: TestClient, run: dict[str, Any], path: str = "", **params: Any) -> Any:
    answer = client.get(f"{BASE}/runs/{run['id']}{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def post(client: TestClient, run: dict[str, Any], path: str, **body: Any) -> Any:
    return client.post(f"{BASE}/runs/{run['id']}/{path}", json=body or None)


def expected(count: int, *names: str, clock_s: float) -> tuple[list[ResultRecord], list[Any]]:
    """What the command line makes of the same: records and summaries."""
    parts = make_parts()
    source = parts.open_source("", numbers_source(count), ())
    runners = Runners("auto")
    try:
        found = [parts.find_evaluator("", name, None).evaluator for name in names]
        tasks = [Task(evaluator=one, runner=runners.for_evaluator(one)) for one in found]
        evaluation = Evaluation(source, tasks, settings=Settings(clock_s=clock_s, workers=1))
        records = [record for block in evaluation.run() for record in block]
        return records, evaluation.report.summary()
    finally:
        runners.close()


def without_time(record: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in record.items()
        if name not in ("duration_ms", "created_at", "item_no")
    }


def test_a_run_gives_what_the_command_line_gives(client: TestClient, database: Database):
    run = start(client, numbers_task(100, "parity", "picky"))
    assert (run["status"], run["queue_position"], run["total"]) == ("queued", 0, None)

    work_off(database)

    done = get(client, run)
    assert (done["status"], done["done"], done["total"], done["error"]) == (
        "completed",
        100,
        100,
        None,
    )
    records, summaries = expected(100, "parity", "picky", clock_s=run["clock_s"])
    exported = client.get(f"{BASE}/runs/{run['id']}/export").text.splitlines()
    by_evaluator = sorted(records, key=lambda record: record.evaluator)
    assert [without_time(json.loads(line)) for line in exported] == [
        without_time(json.loads(json.dumps(_plain(record)))) for record in by_evaluator
    ]
    summary = get(client, run, "/summary")["summary"]
    for mine, theirs in zip(summary, summaries, strict=True):
        assert {**mine, "slowest": 0, "failures": 0} == {**theirs, "slowest": 0, "failures": 0}


def _plain(record: ResultRecord) -> Any:
    import msgspec

    return msgspec.to_builtins(record)


def test_summaries_are_those_of_the_stored_results(client: TestClient, database: Database):
    run = start(client, numbers_task(50, "picky"))
    work_off(database)

    rows = run_results.page(
        database,
        project_id(database, "default"),
        run["id"],
        Question(),
        after=None,
        limit=500,
    )
    summary = Summary("picky", score_range=(0.0, 1.0))
    summary.add_batch([one.item_no for one in rows], [to_item_outcome(one.record) for one in rows])

    assert get(client, run, "/summary")["summary"][0] == json.loads(json.dumps(summary.document()))


def test_results_can_be_asked_for_in_many_ways(client: TestClient, database: Database):
    run = start(client, numbers_task(60, "parity", "picky"))
    work_off(database)

    def ids(**params: Any) -> list[tuple[str, str]]:
        items = get(client, run, "/results", limit=500, **params)["items"]
        return [(one["evaluator"], one["item_id"]) for one in items]

    assert len(ids()) == 120
    assert ids(status="failed") == [("picky", str(n)) for n in (11, 22, 33, 44, 55)]
    assert ids(status="skipped", evaluator="picky") == [("picky", str(n)) for n in range(7, 60, 7)]
    assert ids(evaluator="picky", min_score=0.25) == [("picky", str(n)) for n in (1, 2, 3, 4)]
    assert ids(evaluator="picky", max_score=0.5, min_score=0.5, normalised=True) == [("picky", "2")]
    assert ids(search="59 MODULO") == [("parity", "59")]
    assert ids(search="eleven", status=["failed", "scored"]) == ids(status="failed")
    assert ids(passed=True, evaluator="picky") == [("picky", "1"), ("picky", "2")]
    assert ids(failure_code="author_error") == ids(status="failed")
    assert ids(item_id="33") == [("parity", "33"), ("picky", "33")]
    assert ids(to="2020-01-01T00:00:00Z") == []
    assert len(ids(**{"from": "2020-01-01T00:00:00Z"})) == 120


def test_pages_of_results_and_items_leave_nothing_out(client: TestClient, database: Database):
    run = start(client, numbers_task(25, "parity", "picky"))
    work_off(database)

    for path, count in (("/results", 50), ("/items", 25)):
        seen: list[Any] = []
        cursor = None
        while True:
            params = {"cursor": cursor} if cursor else {}
            page = get(client, run, path, limit=7, **params)
            seen += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert len(seen) == count
        assert len({json.dumps(one, sort_keys=True) for one in seen}) == count
    assert [one["item_no"] for one in seen] == list(range(1, 26))
    assert [one["evaluator"] for one in seen[10]["results"]] == ["parity", "picky"]


def test_distributions_with_and_without_a_filter(client: TestClient, database: Database):
    run = start(client, numbers_task(100, "parity", "picky"))
    work_off(database)

    parity, picky = get(client, run, "/distributions")
    (filtered,) = get(client, run, "/distributions", evaluator="picky", max_score=0.5)

    assert (parity["n"], sum(parity["histogram"]["counts"])) == (100, 100)
    assert (parity["percentiles"]["50"], parity["percentiles"]["75"]) == (0, 1)
    assert (picky["n"], filtered["n"]) == (78, 77)
    assert filtered["percentiles"]["99"] == 0.5
    assert (
        client.get(
            f"{BASE}/runs/{run['id']}/distributions", params={"evaluator": "nobody"}
        ).status_code
        == 422
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_exports_hold_every_result(form: str, client: TestClient, database: Database):
    import io

    import polars as pl

    run = start(client, numbers_task(30, "parity", "picky"))
    work_off(database)

    body = client.get(
        f"{BASE}/runs/{run['id']}/export", params={"format": form, "evaluator": "picky"}
    )

    read = pl.read_csv if form == "csv" else pl.read_parquet
    frame = read(io.BytesIO(body.content))
    assert frame.height == 30
    assert frame["status"].to_list().count("failed") == 2
    assert frame.columns[:3] == ["item_id", "evaluator", "version"]


def test_filter_sample_and_limit_choose_the_items(client: TestClient, database: Database):
    body = numbers_task(100, "parity")
    body["settings"] = {"filter": "n > 50", "sample_rate": 0.5, "limit": 10}
    run = start(client, body)

    work_off(database)

    numbers = [one["item_no"] for one in get(client, run, "/results")["items"]]
    assert len(numbers) == 10
    assert min(numbers) > 50
    assert get(client, run)["total"] == 10


def test_a_run_without_items_is_complete(client: TestClient, database: Database):
    body = numbers_task(10, "parity")
    body["settings"] = {"filter": "n > 50"}
    run = start(client, body)

    work_off(database)

    assert get(client, run)["status"] == "completed"
    assert get(client, run, "/results")["items"] == []
    assert get(client, run, "/summary")["summary"][0]["mean_score"] is None


def test_chunks_are_shared_and_every_item_is_judged_once(client: TestClient, database: Database):
    run = start(client, numbers_task(300, "parity"))
    first, second = (RunWork(database, make_parts(), workers=1) for _ in range(2))
    first.executors = second.executors = 3
    for number in range(2):
        with database.write() as connection:
            share_rows.add_share(connection, run["id"], number)

    going = [True, True]
    while any(going):
        for at, work in enumerate((first, second)):
            going[at] = going[at] and work.step(run["id"], f"{run['id']}.{at}")
    first.close()
    second.close()

    assert get(client, run)["status"] == "completed"
    results = get(client, run, "/results", limit=500)["items"]
    assert [one["item_no"] for one in results] == list(range(1, 301))


def test_two_that_do_the_same_chunk_leave_one_result(client: TestClient, database: Database):
    run = start(client, numbers_task(40, "parity"))
    share = f"{run['id']}.0"
    with database.write() as connection:
        share_rows.add_share(connection, run["id"], 0)
    slow, quick = (RunWork(database, make_parts(), workers=1) for _ in range(2))
    opened = slow.open_run(run["id"], share)
    assert opened is not None
    chunk = slow.claim(run["id"], share, opened)

    assert chunk == quick.claim(run["id"], share, opened)
    while quick.step(run["id"], share):
        pass
    assert slow.step(run["id"], share) is False
    slow.close()
    quick.close()

    assert get(client, run)["done"] == 40
    assert len(get(client, run, "/results", limit=500)["items"]) == 40


def test_two_who_store_results_of_one_run_do_not_wait_for_each_other(
    client: TestClient, database: Database
):
    if database.is_sqlite:
        return  # there one writes at a time
    run = start(client, numbers_task(5, "parity"))
    records = expected(2, "parity", clock_s=run["clock_s"])[0]
    with database.write() as one, database.write() as other:
        for connection, number in ((one, 1), (other, 2)):
            connection.exec_driver_sql("SET LOCAL lock_timeout = '2s'")
            result_rows.insert(connection, run["id"], 0, [(0, number, records[number - 1])])
        assert run_rows.lock(one, run["id"]) is not None


def test_a_paused_run_keeps_what_it_has_and_goes_on(client: TestClient, database: Database):
    run = start(client, numbers_task(20, "parity"))
    assert post(client, run, "pause").json()["status"] == "paused"

    work_off(database)
    assert get(client, run)["done"] == 0
    assert post(client, run, "resume").json()["status"] == "queued"
    assert post(client, run, "resume").json()["status"] == "queued"
    work_off(database)

    assert get(client, run)["status"] == "completed"
    assert post(client, run, "pause").status_code == 409


def test_a_cancelled_run_ends_and_what_it_has_is_kept(client: TestClient, database: Database):
    waiting = start(client, numbers_task(20, "parity"))
    assert post(client, waiting, "cancel").json()["status"] == "cancelled"

    begun = start(client, numbers_task(20, "parity"))
    with database.write() as connection:
        share_rows.add_share(connection, begun["id"], 0)
    work = RunWork(database, make_parts(), workers=1)
    share = f"{begun['id']}.0"
    opened = work.open_run(begun["id"], share)
    assert opened is not None
    assert work.claim(begun["id"], share, opened) is not None
    assert post(client, begun, "cancel").json()["status"] == "cancelling"
    assert work.step(begun["id"], share) is False
    work.close()

    assert get(client, begun)["status"] == "cancelled"
    assert post(client, begun, "cancel").json()["status"] == "cancelled"


def test_failed_items_are_judged_again_and_the_others_taken_over(
    client: TestClient, database: Database
):
    run = start(client, numbers_task(60, "parity", "picky"))
    assert post(client, run, "repeat", mode="failed").status_code == 409
    work_off(database)

    again = post(client, run, "repeat", mode="failed").json()
    work_off(database)

    assert (again["number"], again["parent_run_id"]) == (2, run["id"])
    after = get(client, again, "/results", limit=500)["items"]
    assert len(after) == 120
    assert {one["item_id"] for one in after if not one["reused"]} == {"11", "22", "33", "44", "55"}
    assert get(client, again)["status"] == "completed"
    assert get(client, again, "/summary")["evaluators"][1]["reused"] == 55
    assert len(get(client, run, "/results", limit=500)["items"]) == 120

    everything = post(client, run, "repeat", mode="all").json()
    work_off(database)
    assert get(client, everything)["parent_run_id"] == run["id"]
    assert not any(one["reused"] for one in get(client, everything, "/results", limit=500)["items"])


def test_a_run_with_nothing_to_judge_again_says_so(client: TestClient, database: Database):
    run = start(client, numbers_task(5, "parity"))
    work_off(database)

    assert post(client, run, "repeat", mode="failed").status_code == 409


def test_data_that_changed_end_a_run_with_the_reason(client: TestClient, database: Database):
    run = start(client, numbers_task(5, "parity"))
    parts = make_parts()
    del parts.openers["dataset"]

    work_off(database, parts)

    found = get(client, run)
    assert found["status"] == "failed"
    assert "dataset" in found["error"]
    assert post(client, run, "resume").json()["status"] == "queued"
    work_off(database)
    assert get(client, run)["status"] == "completed"


def test_runs_are_listed_by_task_and_status(client: TestClient, database: Database):
    first = start(client, numbers_task(5, "parity", name="a"))
    work_off(database)
    second = start(client, numbers_task(5, "parity", name="b"))
    third = start(client, numbers_task(5, "parity", name="a"))

    def ids(**params: Any) -> list[str]:
        return [one["id"] for one in client.get(f"{BASE}/runs", params=params).json()["items"]]

    assert ids() == [third["id"], second["id"], first["id"]]
    assert ids(task="a") == [third["id"], first["id"]]
    assert ids(status="completed") == [first["id"]]
    assert ids(status=["queued", "completed"], limit=1) == [third["id"]]
    assert third["queue_position"] == 1


def test_another_projects_runs_are_not_found(client: TestClient, database: Database):
    run = start(client, numbers_task(5, "parity"))
    from scorewright.storage.tables import projects
    from scorewright.storage.tables.metadata import new_id, now_us

    with database.write() as connection:
        connection.execute(projects.insert().values(id=new_id(), name="other", created_us=now_us()))

    other = f"/api/v1/projects/other/runs/{run['id']}"
    for path in ("", "/results", "/items", "/summary", "/distributions", "/export", "/events"):
        assert client.get(other + path).status_code == 404
    for path in ("/cancel", "/pause", "/resume"):
        assert client.post(other + path).status_code == 404
    assert get(client, run)["status"] == "queued"


def test_a_watcher_hears_of_the_end_and_goes_on_where_it_left(
    client: TestClient, database: Database
):
    run = start(client, numbers_task(5, "parity"))
    work_off(database)
    url = f"{BASE}/runs/{run['id']}/events"

    events = client.get(url).text
    data = json.loads(events.split("data: ")[1].split("\n")[0])
    last_id = events.split("id: ")[1].split("\n")[0]
    again = client.get(url, headers={"Last-Event-ID": last_id}).text

    assert data["status"] == "completed"
    assert int(last_id) == data["change"]
    assert "data:" not in again


def test_what_is_under_way_stops_soon_and_goes_on_later(
    client: TestClient, database: Database, database_url: str
):
    worker = RunWorker(database, database_url, make_parts(), workers=1)
    worker.start()
    try:
        run = start(client, numbers_task(20_000, "slow"))
        worker.wake()
        _wait_for(client, run, lambda found: found["done"] > 0)

        assert post(client, run, "pause").json()["status"] == "paused"
        _wait_for(client, run, lambda _found: not _is_held(database, run["id"]))
        done = get(client, run)["done"]
        assert 0 < done < 20_000
        assert get(client, run, "/summary")["summary"][0]["scored"] == done

        post(client, run, "resume")
        worker.wake()
        _wait_for(client, run, lambda found: found["done"] > done)
        assert post(client, run, "cancel").json()["status"] == "cancelling"
        _wait_for(client, run, lambda found: found["status"] == "cancelled")
        kept = get(client, run)["done"]
        assert get(client, run, "/items", limit=1)["items"][0]["item_no"] == 1
        assert get(client, run, "/summary")["summary"][0]["scored"] == kept
    finally:
        worker.close()


def _wait_for(
    client: TestClient, run: dict[str, Any], is_so: Callable[[dict[str, Any]], bool]
) -> None:
    ends_at_s = time.monotonic() + 60
    while not is_so(get(client, run)):
        assert time.monotonic() < ends_at_s, get(client, run)
        time.sleep(0.02)


def _is_held(database: Database, run_id: str) -> bool:
    with database.read() as connection:
        return share_rows.open_chunks(connection, run_id)[1] > 0


def test_the_worker_finds_runs_and_works_on_them(
    client: TestClient, database: Database, database_url: str
):
    worker = RunWorker(database, database_url, make_parts(), workers=1)
    worker.start()
    try:
        started = [start(client, numbers_task(30, "parity", name=name)) for name in "abc"]
        worker.wake()
        for run in started:
            client.get(f"{BASE}/runs/{run['id']}/events")  # until its end
            assert get(client, run)["status"] == "completed"
    finally:
        worker.close()
    assert runs.find(database, project_id(database, "default"), started[0]["id"]).status in ENDED
