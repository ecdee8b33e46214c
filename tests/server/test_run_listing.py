"""What a run is about stays what it was when the first worker looked, whatever arrives and whoever looks later."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from sent_spans import a_span, recordings, request

from run_parts import find_evaluator
from scorewright.domain.convention import Level
from scorewright.domain.evaluator import evaluator_from_source
from scorewright.services import run_listing, run_results, run_work, runs, server_parts, tasks
from scorewright.services.ingest import KnownNames, take_spans
from scorewright.services.run_model import EvaluatorUse, TaskSpec
from scorewright.services.run_parts import RunParts, SavedEvaluator
from scorewright.services.run_results import Question
from scorewright.services.run_work import RunWork
from scorewright.sources.stored_traces import Selected, list_stored, open_stored
from scorewright.storage.database import Database
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import shares as share_rows
from scorewright.storage.repositories.projects import ensure_default_project, project_id
from scorewright.storage.tables import run_listings, traces

SOURCE = """
def evaluate(inputs, outputs, trace):
    if len(trace["spans"]) > 1:
        raise ValueError("more than one root")
    return 1.0
"""


def find_lenient(project: str, ref: str, version: int | None) -> SavedEvaluator:
    if ref != "lenient":
        return find_evaluator(project, ref, version)
    return SavedEvaluator("id-of-lenient", evaluator_from_source(SOURCE, name=ref))


@pytest.fixture
def parts(database: Database) -> RunParts:
    ensure_default_project(database)
    made = server_parts.make_parts(database)
    made.find_evaluator = find_lenient
    return made


def put(database: Database, *spans: dict[str, Any]) -> None:
    body = msgspec.json.encode(request(*spans))
    take_spans(database, project_id(database, "default"), body, "json", KnownNames())


def begin(database: Database, parts: RunParts, kind: str) -> str:
    project = project_id(database, "default")
    spec = TaskSpec(
        name=kind, source={"kind": kind}, evaluators=[EvaluatorUse(evaluator="lenient")]
    )
    tasks.create(database, parts, project, spec)
    return runs.start(database, parts, project, kind).run_id


class Process:
    """What one process does about a run, a chunk at a time."""

    def __init__(self, database: Database, parts: RunParts, run_id: str) -> None:
        self._work = RunWork(database, parts, workers=1)
        self._run_id = run_id
        with database.write() as connection:
            run = run_rows.lock(connection, run_id)
            assert run is not None
            self._share_id = share_rows.add_share(connection, run_id, run.next_share)

    def step(self) -> bool:
        assert self._share_id is not None
        return self._work.step(self._run_id, self._share_id)

    def finish(self) -> None:
        while self.step():
            pass
        self._work.close()


@pytest.mark.parametrize("kind", ["traces", "conversations"])
def test_spans_that_arrive_in_the_midst_of_a_run_change_nothing_however_they_are_stamped(
    database: Database, parts: RunParts, kind: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(run_work, "_MAX_ITEMS", 2)
    put(database, *[a_span(trace, 1) for trace in range(10, 16)])
    run_id = begin(database, parts, kind)
    first, second = Process(database, parts, run_id), Process(database, parts, run_id)
    assert first.step()

    put(database, *[a_span(trace, 1) for trace in (1, 12, 40)], a_span(13, 2, parent=1))
    with database.write() as connection:  # as of a clock that was set back, or a slow commit
        connection.execute(traces.update().values(created_us=1))
    assert second.step()
    first.finish()
    second.finish()

    project = project_id(database, "default")
    run = runs.find(database, project, run_id)
    assert (run.status, run.total, run.done, run.error) == ("completed", 6, 6, None)
    found = run_results.items(database, project, run_id, Question(), after=None, limit=100)
    assert [one.item_id for one in found] == [f"{trace:032x}" for trace in range(10, 16)]


def test_of_two_that_open_a_run_at_once_the_second_takes_what_the_first_wrote(
    database: Database, parts: RunParts
):
    put(database, a_span(1, 1))
    run_id = begin(database, parts, "traces")
    lister = parts.listers["traces"]

    class Slow:
        """Another process is faster each time that something is listed."""

        open = staticmethod(lister.open)

        @staticmethod
        def list(project_id: str, description: Any) -> Any:
            found = list(lister.list(project_id, description))
            put(database, a_span(2, 1))
            with database.write() as connection:
                connection.execute(traces.update().values(created_us=1))
            others = server_parts.make_parts(database)
            with database.read() as connection:
                row = run_rows.find_any(connection, run_id)
            assert row is not None
            assert run_listing.listing_of(database, others, row) != found
            return found

    parts.listers["traces"] = Slow()
    Process(database, parts, run_id).finish()

    run = runs.find(database, project_id(database, "default"), run_id)
    assert (run.status, run.total) == ("completed", 2)


def test_what_failed_is_judged_again_among_the_very_same_items(database: Database, parts: RunParts):
    # The second of three has two roots, which the evaluator fails.
    put(database, *[a_span(trace, 1) for trace in (4, 5, 6)], a_span(5, 2))
    parent = begin(database, parts, "traces")
    Process(database, parts, parent).finish()
    put(database, a_span(1, 1))
    with database.write() as connection:
        connection.execute(traces.update().values(created_us=1))

    project = project_id(database, "default")
    again = runs.repeat(database, parts, project, parent, "failed").run_id
    Process(database, parts, again).finish()

    for run_id in (parent, again):
        found = run_results.items(database, project, run_id, Question(), after=None, limit=100)
        assert [one.item_id for one in found] == [f"{trace:032x}" for trace in (4, 5, 6)]
    run = runs.find(database, project, again)
    assert (run.status, run.counts[0].scored, run.counts[0].failed) == ("completed", 2, 1)
    with database.read() as connection:
        assert set(connection.scalars(sa.select(run_listings.c.run_id))) == {parent}


@pytest.mark.parametrize("kind", ["traces", "trajectories", "conversations"])
def test_what_was_listed_opens_as_what_is_there(database: Database, kind: Any):
    ensure_default_project(database)
    for sent in recordings():
        put(database, *_spans(sent))
    selected = Selected(project_id=project_id(database, "default"))
    levels = (Level.TRACE, Level.AGENT, Level.LLM) if kind == "traces" else (Level.TRACE,)

    blocks = list(list_stored(database, kind, selected))
    listed = open_stored(database, kind, selected, levels=levels, listing=blocks)
    there = open_stored(database, kind, selected, levels=levels)

    numbers = range(1, there.size + 1)
    assert there.size > 2
    assert list(listed.items()) == list(there.items())
    assert [listed.item_id(one) for one in numbers] == [there.item_id(one) for one in numbers]


def test_of_nothing_there_is_a_listing_too(database: Database, parts: RunParts):
    put(database, a_span(1, 1))
    run_id = begin(database, parts, "traces")
    with database.write() as connection:
        connection.execute(traces.update().values(created_us=2**60))
    Process(database, parts, run_id).finish()

    run = runs.find(database, project_id(database, "default"), run_id)
    assert (run.status, run.total) == ("completed", 0)
    with database.read() as connection:
        assert len(connection.execute(sa.select(run_listings)).all()) == 1


def _spans(sent: bytes) -> list[dict[str, Any]]:
    decoded = msgspec.json.decode(sent)
    return [
        span
        for resource in decoded["resourceSpans"]
        for scope in resource["scopeSpans"]
        for span in scope["spans"]
    ]
