"""One evaluator's worker over time: batches in, outcomes out, whatever happens to the process.

A session answers every item exactly once. Where a worker hangs, dies or breaks the protocol, the item it was
at fails with the reason, a new worker takes over, and the items around it get their results.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import msgspec

from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import Failed, ItemOutcome
from scorewright.runners.base import Limits, Runner, Worker
from scorewright.runners.harness import protocol
from scorewright.runners.harness.worker import HARNESS_BROKE, time_limit_failure
from scorewright.runners.loss import describe_loss
from scorewright.runners.process import CLOSED, CLOSED_AND_RAN_ON, WorkerLostError

#: A worker whose socket closed is given this long to end by itself, for its exit status. It is short, since
#: other workers wait: one that dies has closed its socket in its very last moments.
_LAST_GASP_S = 0.2
#: The share of its time limit after which an item lets the host expect that another worker will be needed.
_SHARE_BEFORE_SPARE = 0.5
#: Workers that may end between two items before the next item is blamed after all.
_MAX_IDLE_LOSSES = 3


class _Pending:
    """A batch that is not answered yet."""

    __slots__ = ("batch_number", "item_ids", "items", "open", "outcomes", "slot")

    def __init__(self, batch_number: int, item_ids: Sequence[str], items: Sequence[bytes]) -> None:
        self.batch_number = batch_number
        self.item_ids = item_ids
        self.items = items
        self.outcomes: list[ItemOutcome | None] = [None] * len(items)
        #: Positions without an outcome, in order.
        self.open = deque(range(len(items)))
        #: Where the present worker finds the items; None: in the frame itself.
        self.slot: int | None = None

    def fill(self, outcomes: list[ItemOutcome], start: int) -> int:
        """Take outcomes from `start` on for the open positions; returns how many were taken."""
        count = min(len(self.open), len(outcomes) - start)
        if count == len(self.items):  # nearly always: all of a batch at once
            self.outcomes = list(outcomes[start : start + count])
            self.open.clear()
            return count
        for outcome in outcomes[start : start + count]:
            self.outcomes[self.open.popleft()] = outcome
        return count


class Session:
    """Sends batches of one evaluator to a worker of its own.

    Args:
        runner: Where workers come from.
        load: What each new worker is told first.
        limits: Its bounds; `load` carries the ones that the worker itself watches.
    """

    def __init__(self, runner: Runner, load: protocol.Load, limits: Limits) -> None:
        self._runner = runner
        self._dialect = runner.dialect(load)
        self._load = self._dialect.encode_load()
        self._limits = limits
        #: After this long on one item the host kills the worker.
        self._patience_s = limits.timeout_s + self._dialect.grace_s
        self._worker: Worker | None = None
        self._pending: deque[_Pending] = deque()
        self._load_failure: Failed | None = None
        self._is_loaded = False
        #: Outcomes received from the present worker.
        self._answered = 0
        self._last_item = -1
        self._moved_at_s = 0.0
        self._idle_losses = 0

    @property
    def batches_in_flight(self) -> int:
        """How many batches wait for an answer."""
        return len(self._pending)

    @property
    def worker(self) -> Worker | None:
        """The present worker, for poll."""
        return self._worker

    def start(self) -> None:
        """Get a worker and have it load the evaluator."""
        self._worker = self._runner.spawn(self._limits)
        self._is_loaded = False
        self._answered = 0
        self._last_item = -1
        self._moved_at_s = time.monotonic()
        self._worker.send(protocol.LOAD, [self._load])
        for batch in self._pending:
            batch.slot = None  # the last worker's slots went with it
        for batch in self._pending:
            self._send(batch)

    def submit(
        self, batch_number: int, item_ids: Sequence[str], items: Sequence[bytes]
    ) -> list[tuple[int, list[ItemOutcome]]]:
        """Take a batch; returns finished batches: this one, when the evaluator cannot even be loaded."""
        batch = _Pending(batch_number, item_ids, items)
        if not self._pending:
            self._moved_at_s = time.monotonic()
        self._pending.append(batch)
        if self._load_failure is None:
            if self._worker is None:
                self.start()
            else:
                self._send(batch)
        return self._finished()

    def receive(self) -> list[tuple[int, list[ItemOutcome]]]:
        """Read what the worker sent; returns the batches that are finished by it, oldest first."""
        worker = self._worker
        assert worker is not None  # noqa: S101 - polled because there is one
        try:
            for kind, body in worker.receive():
                self._take(kind, body)
                if self._worker is not worker:  # it was ended: what else it sent counts for nothing
                    break
        except WorkerLostError as error:
            self._lose(str(error))
        return self._finished()

    def check_time(self, now_s: float) -> list[tuple[int, list[ItemOutcome]]]:
        """Kill a worker that stayed on one item (or on loading) for too long: the second time ring."""
        worker = self._worker
        if worker is None or (self._is_loaded and not self._pending):
            return []
        item = self._claimed_item(worker) if self._is_loaded else 0
        if item > self._last_item:
            self._last_item = item
            self._moved_at_s = now_s
        elif now_s - self._moved_at_s > self._patience_s:
            self._lose(None)
        elif now_s - self._moved_at_s > self._limits.timeout_s * _SHARE_BEFORE_SPARE:
            self._runner.prepare(self._limits)
        return self._finished()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def _claimed_item(self, worker: Worker) -> int:
        """Return the number of the item under way, as far as it can be true.

        The author's code can write to the page: a counter that is kept moving must not buy more time than
        there are items. So it counts up to the items sent, and (in `check_time`) only ever upwards.
        """
        return min(worker.item_number, self._answered + self._open_items())

    def _open_items(self) -> int:
        return sum([len(batch.open) for batch in self._pending])

    def _send(self, batch: _Pending) -> None:
        assert self._worker is not None  # noqa: S101 - callers checked
        ids, items = batch.item_ids, batch.items
        if len(batch.open) < len(items):  # some were answered by a worker before
            ids = [ids[at] for at in batch.open]
            items = [items[at] for at in batch.open]
        memory = self._worker.memory
        batch.slot = None if memory is None else self._free_slot(items)
        if memory is None or batch.slot is None:
            self._worker.send(protocol.BATCH, self._dialect.encode_batch(ids, items))
            return
        lengths = memory.put(batch.slot, items)
        shared = protocol.SharedBatch(list(ids), batch.slot, lengths)
        self._worker.send(protocol.SHARED_BATCH, [msgspec.msgpack.encode(shared)])

    def _free_slot(self, items: Sequence[bytes]) -> int | None:
        """Return a slot that no batch under way lies in, where the items fit."""
        if sum(map(len, items)) > protocol.SLOT_BYTES:
            return None
        taken = [one.slot for one in self._pending]
        return next((slot for slot in range(protocol.SLOTS) if slot not in taken), None)

    def _take(self, kind: bytes, body: bytes) -> None:
        if kind == protocol.LOADED and not self._is_loaded:
            self._load_failure = self._dialect.decode_loaded(body)
            self._is_loaded = True
            self._moved_at_s = time.monotonic()
            if self._load_failure is not None:
                self._fail_all()
        elif kind == protocol.RESULTS and self._is_loaded:
            self._answer(self._dialect.decode_results(body))
        elif kind == protocol.RETIRE and self._answered:  # else it could retire for ever
            self.close()
            if self._open_items():
                self.start()
        else:
            raise WorkerLostError(f"sent a frame out of turn, of kind {kind!r}")

    def _answer(self, outcomes: list[ItemOutcome]) -> None:
        if len(outcomes) > self._open_items():
            raise WorkerLostError("sent more results than it was given items")
        at = 0
        for batch in self._pending:
            at += batch.fill(outcomes, at)
        self._answered += at

    def _lose(self, reason: str | None) -> None:
        """The worker is gone, or must go: fail the item it was at and let another one go on.

        Args:
            reason: What it did; None when it is killed for its time.
        """
        worker = self._worker
        assert worker is not None  # noqa: S101 - callers checked
        item_number = worker.item_number  # at once, since a worker may run on
        if reason == CLOSED and not worker.ends_within(_LAST_GASP_S):
            reason = CLOSED_AND_RAN_ON
        phase, last_words = worker.phase, worker.last_words()  # only now: this is what it died of
        status = worker.end()
        self._worker = None
        if status == HARNESS_BROKE << 8 and phase == protocol.PHASE_IDLE and not self._is_loaded:
            raise SandboxUnavailableError("sandbox: the harness failed before it read the source")
        if reason is None:
            failure = time_limit_failure(self._limits.timeout_s, None)
        else:
            failure = describe_loss(reason, status, last_words)
        if not self._is_loaded:
            self._load_failure = failure
            self._fail_all()
            return
        if item_number <= self._answered and self._idle_losses < _MAX_IDLE_LOSSES:
            self._idle_losses += 1  # it ended between two items: none of them is to blame
        else:
            self._blame(item_number - 1 - self._answered, failure)
        if self._open_items():
            self.start()

    def _blame(self, offset: int, failure: Failed) -> None:
        """Give `failure` to the open item at `offset`; a claim outside the open ones hits the first."""
        offset = offset if 0 <= offset < self._open_items() else 0
        for batch in self._pending:
            if offset < len(batch.open):
                at = batch.open[offset]
                del batch.open[offset]
                batch.outcomes[at] = ItemOutcome(failure)
                return
            offset -= len(batch.open)

    def _fail_all(self) -> None:
        self.close()
        assert self._load_failure is not None  # noqa: S101 - callers set it
        outcome = ItemOutcome(self._load_failure)
        for batch in self._pending:
            while batch.open:
                batch.outcomes[batch.open.popleft()] = outcome

    def _finished(self) -> list[tuple[int, list[ItemOutcome]]]:
        if self._load_failure is not None:
            self._fail_all()
        finished: list[tuple[int, list[ItemOutcome]]] = []
        while self._pending and not self._pending[0].open:
            batch = self._pending.popleft()
            finished.append((batch.batch_number, [o for o in batch.outcomes if o is not None]))
        return finished
