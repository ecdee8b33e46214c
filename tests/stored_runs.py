"""Runs with results as workers leave them, without a worker: for tests of what is asked of results, and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from scorewright.domain.evaluator import evaluator_from_source
from scorewright.domain.result_block import build_block
from scorewright.domain.result_record import ResultRecord, to_item_outcome
from scorewright.domain.rollup import Rollup
from scorewright.services import result_times
from scorewright.services.run_model import FrozenEvaluator, encode_frozen
from scorewright.storage.database import Database
from scorewright.storage.repositories import result_blocks as block_rows
from scorewright.storage.repositories import results as result_rows
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import tasks as task_rows
from scorewright.storage.repositories.projects import default_project_id
from scorewright.storage.tables.metadata import new_id, now_us

_SOURCE = "def evaluate(output):\n    return 1.0\n"
_COUNTS = ("next_place", "next_chunk", "next_share", "done", "scored", "skipped", "failed")


def frozen_evaluator(name: str, score_range: tuple[float, float] | None) -> FrozenEvaluator:
    """An evaluator as runs have it."""
    found = evaluator_from_source(_SOURCE, name=name)
    ranged = msgspec.structs.replace(found, score_range=score_range)
    return FrozenEvaluator(evaluator_id=f"id-of-{name}", evaluator=ranged, mapping={}, params={})


def new_task(database: Database, name: str) -> str:
    """A task of the first project; returns its id."""
    task_id, now = new_id(), now_us()
    row: dict[str, Any] = {
        "id": task_id,
        "project_id": default_project_id(database),
        "name": name,
        "name_key": name,
        "description": "",
        "source": {"kind": "dataset"},
        "evaluators": [],
        "settings": {},
        "revision": 1,
        "latest_run": 0,
        "created_us": now,
        "changed_us": now,
    }
    with database.write() as connection:
        task_rows.insert(connection, row)
    return task_id


def new_run(
    database: Database, task_id: str, frozen: Sequence[FrozenEvaluator], *, total: int
) -> str:
    """A run that is over, without results so far; returns its id."""
    run_id, now = new_id(), now_us()
    row: dict[str, Any] = {
        "id": run_id,
        "project_id": default_project_id(database),
        "task_id": task_id,
        "status": "completed",
        "mode": "all",
        "source": {"kind": "dataset"},
        "settings": {"timeout_s": 1.0, "memory_mb": 128},
        "resolved": encode_frozen(frozen),
        "clock_s": 0.0,
        "total": total,
        **dict.fromkeys(_COUNTS, 0),
        "change": 1,
        "created_us": now,
        "started_us": now,
        "ended_us": now,
    }
    none_yet = dict.fromkeys(("scored", "skipped", "failed"), 0)
    evaluators = [
        {"run_id": run_id, "evaluator_no": at, "name": one.evaluator.name, **none_yet}
        for at, one in enumerate(frozen)
    ]
    with database.write() as connection:
        row["number"] = task_rows.take_run_number(connection, task_id)
        run_rows.insert(connection, row, evaluators)
    return run_id


class StoredPart(msgspec.Struct, frozen=True):
    """What one worker stores at once."""

    number: int
    created_us: int
    #: For each evaluator its items' numbers, with the results.
    found: list[list[tuple[int, ResultRecord]]]


def store(
    database: Database, run_id: str, frozen: Sequence[FrozenEvaluator], part: StoredPart
) -> None:
    """Write a part of a run's results, in one transaction, and what they add up to."""
    rollups = [Rollup(one.evaluator.name, score_range=one.evaluator.score_range) for one in frozen]
    for rollup, own in zip(rollups, part.found, strict=True):
        rollup.add([number for number, _ in own], [to_item_outcome(one) for _, one in own])
        rollup.reused = sum(one.reused for _, one in own)
    blocks = [
        build_block(at, part.number, part.created_us, own)
        for at, own in enumerate(part.found)
        if own
    ]
    numbered = [(at, number, one) for at, own in enumerate(part.found) for number, one in own]
    with database.write() as connection:
        result_rows.insert(connection, run_id, part.created_us, numbered)
        block_rows.insert(connection, run_id, blocks)
        run = run_rows.lock(connection, run_id)
        assert run is not None
        for row, rollup in zip(run_rows.evaluators(connection, run_id), rollups, strict=True):
            at: int = row.evaluator_no
            score_range = frozen[at].evaluator.score_range
            whole = Rollup(row.name, score_range=score_range, stored=row.rollup)
            whole.merge(rollup.encoded())
            result_rows.add_to_evaluator(connection, run_id, at, {"rollup": whole.encoded()})
        result_times.add(connection, run, part.created_us, list(zip(frozen, rollups, strict=True)))
