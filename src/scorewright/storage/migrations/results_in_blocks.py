"""Results of before revision 0003 as that revision has them: in blocks, with their words, and in roll-ups over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec
import sqlalchemy as sa

from scorewright.domain.result_block import build_block
from scorewright.domain.result_record import to_item_outcome
from scorewright.domain.rollup import Rollup
from scorewright.storage.repositories import result_blocks as block_rows
from scorewright.storage.repositories import result_times as time_rows
from scorewright.storage.repositories.result_times import Added
from scorewright.storage.repositories.results import NumberedRecord, RecordReader
from scorewright.storage.tables.results import results


class _Evaluator(msgspec.Struct, frozen=True):
    name: str
    version: int
    digest: str
    score_range: tuple[float, float] | None = None


class _Frozen(msgspec.Struct, frozen=True):
    evaluator_id: str
    evaluator: _Evaluator


_decode = msgspec.json.Decoder(list[_Frozen]).decode


def fill(connection: sa.Connection) -> None:
    """Write what is missing of every run."""
    wanted = sa.text("SELECT id, project_id, task_id, resolved FROM runs")
    runs: list[sa.Row[Any]] = list(connection.execute(wanted))
    for run in runs:
        frozen = _decode(bytes(run.resolved))
        # Written by one transaction, at one moment: these are the parts that new results have too. Below zero, as the
        # parts of a run that goes on are counted from there.
        for number, part in enumerate(_parts(connection, run.id, frozen), 1):
            _add(connection, run, frozen, -number, part)


def _parts(
    connection: sa.Connection, run_id: str, frozen: Sequence[_Frozen]
) -> Iterator[list[NumberedRecord]]:
    evaluators = [(o.evaluator.name, o.evaluator.version, o.evaluator.digest) for o in frozen]
    read = RecordReader(evaluators).read
    statement = (
        sa.select(results)
        .where(results.c.run_id == run_id)
        .order_by(results.c.created_us, results.c.evaluator_no, results.c.item_no)
    )
    rows = connection.execute(statement, execution_options={"yield_per": 2_000})
    for _, found in groupby(map(read, rows), key=lambda one: one.created_us):
        yield list(found)


def _add(
    connection: sa.Connection,
    run: sa.Row[Any],
    frozen: Sequence[_Frozen],
    block_no: int,
    part: Sequence[NumberedRecord],
) -> None:
    created_us = part[0].created_us
    added: list[Added] = []
    for at, found in groupby(part, key=lambda one: one.evaluator_no):
        own = [(one.item_no, one.record) for one in found]
        block_rows.insert(connection, run.id, [build_block(at, block_no, created_us, own)])
        evaluator = frozen[at].evaluator
        rollup = Rollup(evaluator.name, score_range=evaluator.score_range)
        rollup.add([number for number, _ in own], [to_item_outcome(one) for _, one in own])
        rollup.reused = sum(record.reused for _, record in own)
        added.append(
            Added(
                evaluator.name,
                frozen[at].evaluator_id,
                evaluator.version,
                evaluator.score_range,
                rollup,
            )
        )
    time_rows.add(connection, (run.task_id, run.project_id), created_us, added)
