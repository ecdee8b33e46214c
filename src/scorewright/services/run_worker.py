"""The worker: finds runs to work on, has them worked on durably, and takes over what others have left."""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final

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
#: A share that is open for longer is looked after: its work may have ended without saying so.
_LOOK_AFTER_S: Final = 5.0
_log = structlog.get_logger(__name__)


class RunWorker:
    """One process's worker.

    Args:
        database: Where runs are.
        url: The database's.
        parts: Opens sources.
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
        self._dead_after_s = dead_after_s
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
        self._enqueue(now_s)

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
        """Let shares be worked on: one for each run that waits, one more per process where there is much to do."""
        with self._database.read() as connection:
            waiting = run_rows.active(connection)
            if not waiting:
                return
            shares = Counter(share.run_id for share in share_rows.open_shares(connection))
        free = CONCURRENCY * self._work.executors - shares.total()
        for run in in_turn(waiting, set(shares)):
            wanted = self._wanted(run.status, run.total, run.next_place)
            if shares[run.id] < wanted and (free > 0 or run.status == "cancelling"):
                free -= 1
                with self._database.write() as connection:
                    share_rows.add_share(connection, run.id, run.next_share)

    def _wanted(self, status: str, total: int | None, next_place: int) -> int:
        if status == "running" and total is not None and total - next_place > 0:
            return self._work.executors
        return 1

    def _enqueue(self, now_s: float) -> None:
        with self._database.read() as connection:
            shares = share_rows.open_shares(connection)
        for share in shares:
            if not share.is_enqueued:
                self._durable.enqueue(share.id, share.run_id)
        fresh = [share.id for share in shares if not share.is_enqueued]
        if fresh:
            with self._database.write() as connection:
                share_rows.mark_enqueued(connection, fresh)
        self._share_seen_at_s = {
            share.id: self._share_seen_at_s.get(share.id, now_s) for share in shares
        }
        for share in shares:
            if now_s - self._share_seen_at_s[share.id] > _LOOK_AFTER_S:
                self._share_seen_at_s[share.id] = now_s
                if self._durable.is_over(share.id):
                    with self._database.write() as connection:
                        share_rows.hand_back(connection, share.id, share.run_id)
