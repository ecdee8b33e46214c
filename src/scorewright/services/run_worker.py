"""The worker: finds runs to work on, has them worked on durably, and takes over what others have left."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import SQLAlchemyError

from scorewright.engine.durable import Durable
from scorewright.services.run_parts import RunParts
from scorewright.services.run_queue import in_turn
from scorewright.services.run_work import RunWork
from scorewright.services.runner_pool import RunnerPool
from scorewright.storage.database import Database
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import shares as share_rows

#: Runs that one process works on at a time.
CONCURRENCY: Final = 2
_TICK_S: Final = 0.5
_BEAT_S: Final = 1.0
#: Without a sign of life for so long, a process counts as gone.
_DEAD_AFTER_S: Final = 10.0
#: A share that is open for longer is looked after: its work may never have begun, or have ended without saying so.
_LOOK_AFTER_S: Final = 2.5
_log = structlog.get_logger(__name__)


class RunWorker:
    """One process's worker.

    Args:
        database: Where runs are.
        url: The database's.
        parts: Opens sources, and says how many runs of one project are worked on at a time.
        workers: Processes per run; None for one per core.
        pool: Where the sandboxes are; closed with this.
        cache_folder: Where results are kept for later runs; None keeps none.
        dead_after_s: Without a sign of life for so long, another process counts as gone.
    """

    def __init__(  # noqa: PLR0913 - each by name
        self,
        database: Database,
        url: str,
        parts: RunParts,
        *,
        workers: int | None = None,
        pool: RunnerPool | None = None,
        cache_folder: Path | None = None,
        dead_after_s: float = _DEAD_AFTER_S,
    ) -> None:
        self.executor_id = f"{socket.gethostname()[:24]}-{os.getpid()}-{secrets.token_hex(6)}"
        self._database = database
        self._work = RunWork(database, parts, workers=workers, pool=pool, cache_folder=cache_folder)
        self._durable = Durable(
            url, executor_id=self.executor_id, step=self._work.step, concurrency=CONCURRENCY
        )
        self._runs_per_project = parts.runs_per_project
        self._dead_after_s = dead_after_s
        #: The open shares that this process has begun, with their runs.
        self._own: dict[str, str] = {}
        #: Of each executor: how often it has said that it lives, and since when that has not grown.
        self._seen: dict[str, tuple[int, float]] = {}
        self._beaten_at_s = 0.0
        #: Of each open share: since when it has been looked at.
        self._share_seen_at_s: dict[str, float] = {}
        self._wake = threading.Event()
        self._is_ending = False
        self._thread = threading.Thread(target=self._attend, name="runs", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        # Before anything else: what nobody knows, nobody takes over.
        with self._database.write() as connection:
            share_rows.beat(connection, self.executor_id)
        self._durable.launch()
        self._thread.start()

    def wake(self) -> None:
        """Look for runs now."""
        self._wake.set()

    def close(self, *, patience_s: int = 10) -> None:
        """End: what is under way is finished or handed back."""
        self._is_ending = True
        self._work.stop()
        self._wake.set()
        self._thread.join(timeout=patience_s)
        self._durable.close(patience_s=patience_s)
        self._work.close()
        try:
            with self._database.write() as connection:
                share_rows.forget_executor(connection, self.executor_id)
        except SQLAlchemyError:  # others will notice that it is gone
            pass

    def _attend(self) -> None:
        while not self._is_ending:
            try:
                self._tick()
            except SQLAlchemyError as error:
                _log.warning("database cannot be reached", error=str(error)[:300])
            except Exception:  # noqa: BLE001 - a wall: runs must be attended to whatever happens
                _log.exception("attending to runs failed")
            self._wake.wait(_TICK_S)
            self._wake.clear()

    def _tick(self) -> None:
        now_s = time.monotonic()
        if now_s - self._beaten_at_s >= _BEAT_S:
            self._beaten_at_s = now_s
            self._beat(now_s)
        self._share_out()
        self._look_after(now_s)

    def _beat(self, now_s: float) -> None:
        with self._database.write() as connection:
            beats = share_rows.beat(connection, self.executor_id)
        # SQLite has one process: whoever else is known is gone.
        dead_after_s = 0.0 if self._database.is_sqlite else self._dead_after_s
        for executor_id, count in beats.items():
            last, since_s = self._seen.get(executor_id, (-1, now_s))
            self._seen[executor_id] = (count, since_s if count == last else now_s)
            is_silent = now_s - self._seen[executor_id][1] >= dead_after_s
            if executor_id != self.executor_id and is_silent:
                _log.warning("an executor is gone", executor_id=executor_id)
                self._durable.take_over(executor_id)
                with self._database.write() as connection:
                    share_rows.forget_executor(connection, executor_id)
        self._seen = {one: self._seen[one] for one in beats}
        self._work.executors = max(1, len(beats))

    def _share_out(self) -> None:
        """Begin what is to be done and not done by this process yet: a run that waits, or a part in one under way."""
        with self._database.read() as connection:
            waiting = run_rows.active(connection)
            shares = share_rows.open_shares(connection) if waiting or self._own else []
        left = {share.id for share in shares}
        self._own = {one: run_id for one, run_id in self._own.items() if one in left}
        begun = {share.run_id for share in shares}
        for run in in_turn(waiting, begun, at_most=self._runs_per_project):
            if self._is_for_us(run, begun):
                self._begin(run)

    def _is_for_us(self, run: sa.Row[Any], begun: Collection[str]) -> bool:
        if run.id not in begun and run.status == "cancelling":
            return True
        if len(self._own) >= CONCURRENCY:
            return False
        # Each process has one part in a run at most: two would keep what another machine could do.
        has_more = run.status == "running" and run.total is not None and run.next_place < run.total
        return run.id not in begun or (has_more and run.id not in self._own.values())

    def _begin(self, run: sa.Row[Any]) -> None:
        with self._database.write() as connection:
            share_id = share_rows.add_share(connection, run.id, run.next_share)
        if share_id is not None:  # nobody else was faster
            self._own[share_id] = run.id
            self._durable.start(share_id, run.id)

    def _look_after(self, now_s: float) -> None:
        """Have shares done whose process died before it began, and end those whose work is over without saying so."""
        with self._database.read() as connection:
            shares = share_rows.open_shares(connection)
        self._share_seen_at_s = {
            share.id: self._share_seen_at_s.get(share.id, now_s) for share in shares
        }
        for share in shares:
            if now_s - self._share_seen_at_s[share.id] <= _LOOK_AFTER_S:
                continue
            self._share_seen_at_s[share.id] = now_s
            if not share.is_enqueued:
                self._durable.enqueue(share.id, share.run_id)
                with self._database.write() as connection:
                    share_rows.mark_enqueued(connection, [share.id])
            elif self._durable.is_over(share.id):
                with self._database.write() as connection:
                    share_rows.hand_back(connection, share.id, share.run_id)
