"""A judge as a session sees it: to it this is a worker, behind it an event loop asks models."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

import msgspec

from scorewright.domain.result import Failed, ItemOutcome, JudgedOutcome
from scorewright.judges.verdict import Judge
from scorewright.runners.harness import protocol
from scorewright.runners.process import WorkerLostError

_decode_batch = msgspec.msgpack.Decoder(protocol.Batch).decode
_decode_load = msgspec.json.Decoder(protocol.Load).decode
_decode_outcomes = msgspec.msgpack.Decoder(list[JudgedOutcome]).decode
_encode: Final = msgspec.msgpack.Encoder().encode


def decode_judged(body: bytes) -> list[ItemOutcome]:
    """Return the outcomes of one frame, or of the result cache.

    Raises:
        WorkerLostError: No judge has written this.
    """
    try:
        return list(_decode_outcomes(body))
    except (msgspec.DecodeError, RecursionError) as error:
        raise WorkerLostError(f"results of another form: {str(error)[:200]}") from None


class JudgeDialect:
    """How a session speaks to it about one evaluator.

    Args:
        load: The evaluator.
    """

    #: Each request has a time limit of its own, and waiting for its turn takes as long as it takes.
    grace_s = math.inf

    def __init__(self, load: protocol.Load) -> None:
        self._load = load
        self.encode_batch = protocol.encode_batch
        self.decode_results = decode_judged

    def encode_load(self) -> bytes:
        """As in `Dialect`."""
        return msgspec.json.encode(self._load)

    def decode_loaded(self, body: bytes) -> Failed | None:
        """As in `Dialect`."""
        return msgspec.msgpack.decode(body, type=protocol.Loaded).failure


class JudgeWorker:
    """One judge in one run; items are judged side by side and answered in order.

    Args:
        loop: Running, in a thread of its own.
        make_judge: Called in that thread; returns why there can be no judge otherwise.
    """

    memory = None
    item_number = 0
    phase = protocol.PHASE_IDLE
    wants_to_write = False

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make_judge: Callable[[protocol.Load], Judge | Failed],
    ) -> None:
        self._loop = loop
        self._make_judge = make_judge
        self._near, self._far = socket.socketpair()
        self._near.setblocking(False)
        self._lock = Lock()
        self._is_ended = False
        self._arrived: deque[tuple[bytes, bytes]] = deque()
        #: What went wrong with ourselves.
        self._crash: BaseException | None = None
        # The rest is the loop's.
        self._judge: Judge | None = None
        self._tasks: deque[asyncio.Task[JudgedOutcome]] = deque()

    # ---- what the session sees ------------------------------------------------------------------

    def fileno(self) -> int:
        """As in `Worker`."""
        return self._near.fileno()

    def send(self, kind: bytes, pieces: Sequence[bytes]) -> None:
        """As in `Worker`."""
        body = b"".join(pieces)
        take = self._take_load if kind == protocol.LOAD else self._take_batch
        self._loop.call_soon_threadsafe(self._guarded, take, body)

    def flush(self) -> None:
        """Nothing waits to be written."""

    def receive(self) -> list[tuple[bytes, bytes]]:
        """As in `Worker`."""
        if self._crash is not None:
            raise self._crash
        with contextlib.suppress(BlockingIOError):
            os.read(self._near.fileno(), 4096)
        with self._lock:
            frames = list(self._arrived)
            self._arrived.clear()
        return frames

    def kill(self) -> None:
        """As in `Worker`."""
        self.end()

    def last_words(self) -> str:
        """Nothing: it has no process."""
        return ""

    def ends_within(self, timeout_s: float) -> bool:  # noqa: ARG002 - as in `Worker`
        """It ends with the loop."""
        return False

    def end(self) -> None:
        """Have all requests given up, without waiting for it."""
        with self._lock:
            if self._is_ended:
                return
            self._is_ended = True
            self._near.close()
            self._far.close()
        with contextlib.suppress(RuntimeError):  # the loop is gone, and all requests with it
            self._loop.call_soon_threadsafe(self._give_up)

    # ---- in the loop -------------------------------------------------------------------------------

    def _guarded(self, take: Callable[[bytes], None], body: bytes) -> None:
        try:
            take(body)
        except BaseException as error:  # noqa: BLE001 - what is lost in the loop would be waited for for ever
            self._break(error)

    def _take_load(self, body: bytes) -> None:
        made = self._make_judge(_decode_load(body))
        failure = made if isinstance(made, Failed) else None
        self._judge = None if isinstance(made, Failed) else made
        self._hand_over(protocol.LOADED, _encode(protocol.Loaded(failure)))

    def _take_batch(self, body: bytes) -> None:
        if (judge := self._judge) is None:
            return  # the session knows that nothing can be judged
        for item in _decode_batch(body).items:
            task = self._loop.create_task(judge.judge(bytes(item)))
            self._tasks.append(task)
            task.add_done_callback(self._deliver)

    def _deliver(self, _: object) -> None:
        """Hand over what is next in order, as far as it is known."""
        outcomes: list[JudgedOutcome] = []
        while self._tasks and self._tasks[0].done():
            task = self._tasks.popleft()
            if task.cancelled():
                return
            if (error := task.exception()) is not None:
                self._break(error)
                return
            outcomes.append(task.result())
        if outcomes:
            self._hand_over(protocol.RESULTS, _encode(outcomes))

    def _give_up(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _break(self, error: BaseException) -> None:
        self._crash = error
        self._wake()

    def _hand_over(self, kind: bytes, body: bytes) -> None:
        with self._lock:
            self._arrived.append((kind, body))
        self._wake()

    def _wake(self) -> None:
        """Have the session ask for what has arrived."""
        with self._lock:
            if not self._is_ended:
                self._far.send(b"\0")
