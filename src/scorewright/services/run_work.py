"""Working on a run, a chunk at a time. Whatever ends a worker at whatever moment, no result is lost and none comes twice.

A chunk is done in one transaction: its results, what they add up to, how far the run is, and the chunk's own mark,
which only one can set. Before it, nothing of a chunk is there; after it, nobody does it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import sqlalchemy as sa
import structlog

from scorewright.domain.errors import CallerError, OurError, ScorewrightError
from scorewright.domain.result_block import build_block
from scorewright.domain.result_record import ResultRecord, to_item_outcome
from scorewright.domain.rollup import Rollup
from scorewright.services import result_times
from scorewright.services.report import Report
from scorewright.services.run_listing import open_items
from scorewright.services.run_opening import OpenRun
from scorewright.services.run_part import Part
from scorewright.services.run_parts import RunParts
from scorewright.services.runner_pool import PoolClosedError, RunnerPool
from scorewright.storage.database import UNAVAILABLE, Database
from scorewright.storage.repositories import result_blocks as block_rows
from scorewright.storage.repositories import results as result_rows
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import shares as share_rows
from scorewright.storage.repositories.shares import Chunk
from scorewright.storage.tables.metadata import now_us

#: A chunk has at most so many items, and is stored in parts where it takes long.
_MAX_ITEMS: Final = 2_000
_MIN_ITEMS: Final = 16
_STORE_EVERY_S: Final = 2.0
#: How often it is asked whether the run is to stop.
_ASK_EVERY_S: Final = 0.25
#: A chunk is tried so often where the sandbox cannot be had.
_TRIES: Final = 4
_MAX_WAIT_S: Final = 5.0
_log = structlog.get_logger(__name__)


class RunWork:
    """What one process does about runs; safe to be called by several threads.

    Args:
        database: Where runs are.
        parts: Opens sources.
        workers: Processes per run; None for one per core.
        pool: Where the sandboxes are; closed with this.
        cache_folder: Where results are kept for later runs; None keeps none.
    """

    def __init__(
        self,
        database: Database,
        parts: RunParts,
        *,
        workers: int | None = None,
        pool: RunnerPool | None = None,
        cache_folder: Path | None = None,
    ) -> None:
        self._database = database
        self._parts = parts
        self._workers = workers
        self._pool = pool or RunnerPool()
        self._cache_folder = cache_folder
        #: Open runs, by share.
        self._open: dict[str, OpenRun] = {}
        self._stop = threading.Event()
        #: Executors that take part: with several, chunks are smaller.
        self.executors = 1

    def step(self, run_id: str, share_id: str) -> bool:
        """Do one chunk of a run; tells whether there may be more.

        What goes wrong here ends the run with its reason, or is tried again until the process is to end.
        """
        try:
            return self._try_step(run_id, share_id)
        except PoolClosedError:  # this process is to end
            self.persistently(lambda: self._leave(run_id, share_id))
            return False
        except ScorewrightError as error:
            _log.warning("run failed", run_id=run_id, error=str(error))
            message = str(error)
        except UNAVAILABLE:  # only where this process is to end: its share is found and given on
            return False
        except Exception as error:  # noqa: BLE001 - a wall: a defect of ours must not be tried for ever
            _log.exception("run failed by a defect", run_id=run_id)
            message = f"something of ours went wrong: {type(error).__name__}"
        self._let_go(share_id, is_sound=False)
        return self.persistently(lambda: self._fail(run_id, share_id, message)) or False

    def stop(self) -> None:
        """Let every step end soon, and hand back what it has not done."""
        self._stop.set()

    def close(self) -> None:
        """End all sandboxes; after every step has ended."""
        for share_id in list(self._open):
            self._let_go(share_id, is_sound=True)
        self._pool.close()

    def _try_step(self, run_id: str, share_id: str) -> bool:
        if self._stop.is_set():
            self._leave(run_id, share_id)
            return False
        opened = self.persistently(lambda: self.open_run(run_id, share_id))
        chunk = opened and self.persistently(lambda: self.claim(run_id, share_id, opened))
        if not opened or not chunk:
            self._let_go(share_id, is_sound=True)
            if self._stop.is_set():
                self._leave(run_id, share_id)
            return False
        for attempt in range(_TRIES):
            try:
                _ChunkWork(self._database, opened, run_id, share_id, self.persistently).judge(
                    chunk, self._stop.is_set
                )
                break
            except _OvertakenError:
                _log.info("chunk was done by somebody else", run_id=run_id, chunk=chunk.number)
                break
            except OurError as error:
                if attempt == _TRIES - 1:
                    raise
                _log.warning("chunk is tried again", run_id=run_id, error=str(error))
                self._stop.wait(min(0.5 * 2**attempt, _MAX_WAIT_S))
        return True

    def open_run(self, run_id: str, share_id: str) -> OpenRun | None:
        """Return the run, opened; None when there is nothing to do about it."""
        opened = self._open.get(share_id)
        if opened is not None:
            return opened
        with self._database.read() as connection:
            row = run_rows.find_any(connection, run_id)
            is_open = share_rows.is_open(connection, share_id)
        if row is None or not is_open:
            return None
        if row.status not in ("queued", "running"):
            self._leave(run_id, share_id)
            return None
        source = open_items(self._database, self._parts, row)
        runners = self._pool.take()
        try:
            opened = OpenRun(
                row, source, runners, workers=self._workers, cache_folder=self._cache_folder
            )
        except BaseException as error:
            self._pool.give_back(runners, is_sound=isinstance(error, CallerError))
            raise
        self._open[share_id] = opened
        return opened

    def claim(self, run_id: str, share_id: str, opened: OpenRun) -> Chunk | None:
        """Take a chunk of an open run; None when there is nothing to do about it any more."""
        total = len(opened.numbers)
        with self._database.write() as connection:
            run = run_rows.lock(connection, run_id)
            if run is None or not share_rows.is_open(connection, share_id):
                return None
            if run.total is not None and run.total != total:
                raise CallerError(
                    f"the data changed: there were {run.total:,} items to judge, and now there are {total:,}"
                )
            if run.status == "queued" or (run.status == "running" and run.total is None):
                run_rows.update(
                    connection,
                    run_id,
                    [run.status],
                    status="running",
                    total=total,
                    started_us=run.started_us or now_us(),
                )
                run = run_rows.lock(connection, run_id)
                assert run is not None  # noqa: S101 - runs are never deleted
            elif run.status != "running":
                _settle(connection, run, share_id, total)
                return None
            at_most = _MAX_ITEMS
            if self.executors > 1:
                fair = (total - run.next_place) // (2 * self.executors)
                at_most = min(_MAX_ITEMS, max(_MIN_ITEMS, fair))
            chunk = share_rows.next_chunk(connection, run, share_id, total=total, at_most=at_most)
            if chunk is None:
                _settle(connection, run, share_id, total)
            return chunk

    def _leave(self, run_id: str, share_id: str) -> None:
        """Hand back what a share has, and settle the run if that was the last of it."""
        with self._database.write() as connection:
            run = run_rows.lock(connection, run_id)
            if run is not None:
                _settle(connection, run, share_id, run.total)

    def _fail(self, run_id: str, share_id: str, message: str) -> bool:
        with self._database.write() as connection:
            run_rows.update(
                connection,
                run_id,
                ["queued", "running"],
                status="failed",
                error=message,
                ended_us=now_us(),
            )
            run = run_rows.lock(connection, run_id)
            if run is not None:
                _settle(connection, run, share_id, run.total)
        return False

    def _let_go(self, share_id: str, *, is_sound: bool) -> None:
        opened = self._open.pop(share_id, None)
        if opened is None:
            return
        if is_sound:
            self._pool.give_back(opened.runners)
        else:
            self._pool.give_back(opened.runners, is_sound=False)

    def persistently(self, act: Callable[[], Any]) -> Any:
        """Do something with the database until that works: a lock, a full disk or a lost server can end."""
        attempt = 0
        while True:
            try:
                return act()
            except UNAVAILABLE as error:
                if self._stop.is_set():
                    raise
                _log.warning("database is tried again", error=str(error)[:300])
                self._stop.wait(min(0.05 * 2**attempt, _MAX_WAIT_S))
                attempt += 1


class _OvertakenError(Exception):
    """Somebody else has done this chunk: what was made of it here is dropped."""


class _ChunkWork:
    """One chunk of an open run, from its items to its results."""

    def __init__(
        self,
        database: Database,
        opened: OpenRun,
        run_id: str,
        share_id: str,
        persistently: Callable[[Callable[[], Any]], Any],
    ) -> None:
        self._database = database
        self._opened = opened
        self._run_id = run_id
        self._share_id = share_id
        self.persistently = persistently
        self._asked_at_s = 0.0
        self._is_to_stop = False

    def judge(self, chunk: Chunk, is_ending: Callable[[], bool]) -> None:
        """Evaluate a chunk and store its results, in parts where it takes long; hand back what a stop left over."""
        part = self._opened.part(chunk)
        evaluation = self._opened.evaluation(part, self.persistently(lambda: self._previous(chunk)))
        records: list[ResultRecord] = []
        answered = stored = 0
        stored_at_s = time.monotonic()
        for found in evaluation.run(should_stop=lambda: is_ending() or self._run_stops()):
            if (
                evaluation.report.items == answered
            ):  # behind a stop: earlier results of what was not judged
                break
            answered = evaluation.report.items
            records += found
            is_long = time.monotonic() - stored_at_s > _STORE_EVERY_S
            if is_long and answered < part.size:
                chunk = self._store(chunk, part, records, answered - stored, evaluation.report)
                records, stored, stored_at_s = [], answered, time.monotonic()
        looks = evaluation.report
        if answered == part.size or records:
            self._store(chunk, part, records, answered - stored, looks, is_last=True)
        if looks.cache_trouble:
            _log.warning("earlier results cannot be used", reason=looks.cache_trouble)
        if answered < part.size and not (is_ending() or self._run_stops()):
            raise CallerError("the data changed: there are fewer items than when the run began")

    def _run_stops(self) -> bool:
        """Ask whether the run is to go on, at most every `_ASK_EVERY_S`."""
        now_s = time.monotonic()
        if not self._is_to_stop and now_s - self._asked_at_s > _ASK_EVERY_S:
            self._asked_at_s = now_s
            try:
                with self._database.read() as connection:
                    self._is_to_stop = run_rows.status_of(connection, self._run_id) != "running"
            except UNAVAILABLE:  # storing will notice
                pass
        return self._is_to_stop

    def _previous(self, chunk: Chunk) -> list[ResultRecord] | None:
        """Return what the parent run has of these items, for a run of the failed ones."""
        with self._database.read() as connection:
            run = run_rows.find_any(connection, self._run_id)
            if run is None or run.mode != "failed" or run.parent_run_id is None:
                return None
            numbers = self._opened.numbers[chunk.first : chunk.first + chunk.count]
            rows = result_rows.of_items(
                connection,
                run.parent_run_id,
                numbers[0],
                numbers[-1],
                evaluators=len(self._opened.frozen),
            )
        wanted = set(numbers)
        read = self._opened.records.read
        return [
            msgspec.structs.replace(read(row).record, reused=True)
            for row in rows
            if row.item_no in wanted and row.status != "failed"
        ]

    def _store(  # noqa: PLR0913 - what one transaction is about
        self,
        chunk: Chunk,
        part: Part,
        records: Sequence[ResultRecord],
        answered: int,
        report: Report,
        *,
        is_last: bool = False,
    ) -> Chunk:
        """Store the results of a chunk's first items; returns the chunk of the others."""
        places = self._opened.places
        numbered = [(places[one.evaluator], part.whole_number(one.item_id), one) for one in records]
        rollups = self._rollups(numbered, report if is_last else None)
        created_us = now_us()
        blocks = [
            build_block(at, chunk.number, created_us, own)
            for at in range(len(places))
            if (own := [(number, one) for place, number, one in numbered if place == at])
        ]

        def act() -> Chunk:
            with self._database.write() as connection:
                if not share_rows.finish_chunk(
                    connection, self._run_id, self._share_id, chunk, answered
                ):
                    raise _OvertakenError
                result_rows.insert(connection, self._run_id, created_us, numbered)
                block_rows.insert(connection, self._run_id, blocks)
                run = run_rows.lock(connection, self._run_id)
                assert run is not None  # noqa: S101 - runs are never deleted
                self._add_up(connection, run, rollups, answered, report)
                left, rest = chunk.count - answered, chunk
                if left:
                    rest = share_rows.split_off(
                        connection, run, self._share_id, chunk.first + answered, left
                    )
                by_evaluator = list(zip(self._opened.frozen, rollups, strict=True))
                result_times.add(connection, run, created_us, by_evaluator)
                return rest

        return self.persistently(act)

    def _rollups(
        self, numbered: Sequence[tuple[int, int, ResultRecord]], report: Report | None
    ) -> list[Rollup]:
        rollups: list[Rollup] = []
        for at, frozen in enumerate(self._opened.frozen):
            own = [(number, record) for place, number, record in numbered if place == at]
            rollup = Rollup(frozen.evaluator.name, score_range=frozen.evaluator.score_range)
            rollup.add([number for number, _ in own], [to_item_outcome(one) for _, one in own])
            rollup.reused = sum(record.reused for _, record in own)
            if report is not None:
                rollup.judged_twice = report.second_looks[at].items
                rollup.nondeterministic = report.second_looks[at].differing
            rollups.append(rollup)
        return rollups

    def _add_up(
        self,
        connection: sa.Connection,
        run: sa.Row[Any],
        rollups: Sequence[Rollup],
        answered: int,
        report: Report,
    ) -> None:
        scored = skipped = failed = 0
        for row, rollup in zip(run_rows.evaluators(connection, run.id), rollups, strict=True):
            at: int = row.evaluator_no
            state = rollup.summary.state()
            # Of its own: a transaction that fails is tried again with the same roll-ups.
            score_range = self._opened.frozen[at].evaluator.score_range
            whole = Rollup(row.name, score_range=score_range, stored=row.rollup)
            whole.merge(rollup.encoded())
            runner = report.runners[at]
            values: dict[str, Any] = {
                "rollup": whole.encoded(),
                "scored": row.scored + state.scored,
                "skipped": row.skipped + state.skipped,
                "failed": row.failed + state.failed,
            }
            if runner is not None:
                values["environment"] = report.environments[at]
                values["runner"] = msgspec.to_builtins(runner)
            result_rows.add_to_evaluator(connection, run.id, at, values)
            scored, skipped = scored + state.scored, skipped + state.skipped
            failed += state.failed
        run_rows.update(
            connection,
            run.id,
            [run.status],
            done=run.done + answered,
            scored=run.scored + scored,
            skipped=run.skipped + skipped,
            failed=run.failed + failed,
        )


def _settle(connection: sa.Connection, run: sa.Row[Any], share_id: str, total: int | None) -> None:
    """End a share of a locked run, and the run with it where that was the last of it."""
    share_rows.hand_back(connection, share_id, run.id)
    still_open, held = share_rows.open_chunks(connection, run.id)
    if run.status == "running" and total is not None:
        if not still_open and run.next_place >= total:
            run_rows.update(connection, run.id, ["running"], status="completed", ended_us=now_us())
    elif run.status == "cancelling" and not held:
        run_rows.update(connection, run.id, ["cancelling"], status="cancelled", ended_us=now_us())
