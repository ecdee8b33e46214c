"""The host's end of a remote sandbox: to a session it is a worker, behind it a thread makes the calls."""

from __future__ import annotations

import contextlib
import os
import queue
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import Final

import msgspec

from scorewright.domain.result import Failed, FailureCode
from scorewright.runners.harness import protocol
from scorewright.runners.remote.call import Batch, Call, ForgedError, first_files
from scorewright.runners.remote.dialect import Delivery, RemoteLoad, forged
from scorewright.runners.remote.lease import ClosedError, Lease, Pause, delay_s
from scorewright.runners.remote.provider import CodeRun, Provider, ProviderError

#: Sandboxes tried in a row without a single result.
_ATTEMPTS: Final = 4
#: Seconds that a thread gets to notice that its sandbox is gone.
_JOIN_S: Final = 5.0
_decode_batch = msgspec.msgpack.Decoder(protocol.Batch).decode
_decode_load = msgspec.json.Decoder(RemoteLoad).decode


class RemoteWorker:
    """One evaluator's sandbox, and its successors where one is lost.

    It always answers: what no sandbox could be had for is answered with `sandbox_unavailable`.

    Args:
        provider: Where sandboxes come from.
        lease: This one's.
        memory_mb: Bound of one worker in the sandbox.
        note_engine: Told what the harness runs in.
        pause: Waits.
    """

    memory = None
    item_number = 0
    phase = protocol.PHASE_IDLE
    wants_to_write = False

    def __init__(
        self,
        provider: Provider,
        lease: Lease,
        *,
        memory_mb: int,
        note_engine: Callable[[str], None],
        pause: Pause,
    ) -> None:
        self._provider = provider
        self._lease = lease
        self._memory_mb = memory_mb
        self._note_engine = note_engine
        self._pause = pause
        self._near, self._far = socket.socketpair()
        self._near.setblocking(False)
        self._lock = Lock()
        self._is_ended = False
        self._arrived: deque[tuple[bytes, bytes]] = deque()
        self._queue: queue.SimpleQueue[Batch | None] = queue.SimpleQueue()
        self._load = b""
        self._timeout_s = 0.0
        self._is_loaded = False
        #: Failures since the last result.
        self._failures = 0
        #: Why nothing more is tried.
        self._given_up: Failed | None = None
        #: What went wrong with ourselves.
        self._crash: BaseException | None = None
        self._thread = Thread(target=self._work, name="scorewright-remote", daemon=True)

    # ---- what the session sees ------------------------------------------------------------------

    def fileno(self) -> int:
        """As in `Worker`."""
        return self._near.fileno()

    def send(self, kind: bytes, pieces: Sequence[bytes]) -> None:
        """As in `Worker`."""
        body = b"".join(pieces)
        if kind == protocol.LOAD:
            self._load = body
            load = _decode_load(body)
            self._timeout_s = load.timeout_s
            self._lease.labels["scorewright-evaluator"] = load.digest
            self._thread.start()
        else:
            batch = _decode_batch(body)
            self._queue.put(Batch(batch.item_ids, batch.items))

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
        """Nothing: what a worker in the sandbox said is part of its answer."""
        return ""

    def ends_within(self, timeout_s: float) -> bool:
        """Tell whether the thread ends."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def end(self) -> None:
        """Have the sandbox removed, without waiting for it; `join` does."""
        self._lease.closing.set()
        self._queue.put(None)
        with self._lock:
            if not self._is_ended:
                self._is_ended = True
                self._near.close()
                self._far.close()

    def join(self) -> None:
        """Wait until the sandbox is removed, in the middle of a call or not."""
        self.end()
        self._lease.close()
        if self._thread.ident is not None:
            self._thread.join(_JOIN_S)

    # ---- the thread ---------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while (batch := self._queue.get()) is not None:
                while batch.items and not self._lease.closing.is_set():
                    self._judge(batch)
        except ClosedError:
            pass
        except BaseException as error:  # noqa: BLE001 - a thread that died in silence would be waited for for ever
            self._crash = error
            self._wake()
        finally:
            self._lease.close()

    def _judge(self, batch: Batch) -> None:
        """Get results for the first items of a batch, or fail them all, or learn that it has to be tried again."""
        if self._given_up is not None:
            self._deliver(batch, Delivery(len(batch.items), failure=self._given_up))
            return
        call = Call(batch, timeout_s=self._timeout_s, memory_mb=self._memory_mb)
        try:
            run, took_s = self._run(call)
            answer, lines = call.read(run, took_s)
        except ForgedError:
            self._lease.drop()  # whatever made that up may still run
            self._deliver(batch, Delivery(len(batch.items), failure=forged()))
        except ProviderError as error:
            self._lease.drop()
            self._fail(error)
        else:
            self._note_engine(answer.engine)
            if not answer.load_failed:
                self._deliver(batch, Delivery(len(lines), lines))
            elif self._is_loaded:  # it could be before: no item that is left has a result
                self._deliver(batch, Delivery(len(batch.items), lines * len(batch.items)))
            else:
                self._hand_over(protocol.LOADED, Delivery(0, lines))
                raise ClosedError  # there is nothing to judge with

    def _run(self, call: Call) -> tuple[CodeRun, float]:
        files = dict(call.files)
        if not self._lease.is_held:
            files.update(first_files(self._load))
        sandbox = self._lease.take()
        if files:
            self._provider.upload(sandbox, files)
        began_s = time.monotonic()
        run = self._provider.run_code(sandbox, call.code, timeout_s=call.bound_s)
        return run, time.monotonic() - began_s

    def _fail(self, error: ProviderError) -> None:
        self._failures += 1
        if error.is_passing and self._failures < _ATTEMPTS:
            self._pause(delay_s(self._failures, error.retry_after_s), self._lease.closing)
            return
        tried = f" (tried {self._failures} times)" if self._failures > 1 else ""
        text = f"{self._provider.name}: {error}{tried}"
        self._given_up = Failed(FailureCode.SANDBOX_UNAVAILABLE, text)

    def _deliver(self, batch: Batch, delivery: Delivery) -> None:
        if not self._is_loaded:
            self._is_loaded = True
            failure = delivery.failure if delivery.failure is self._given_up else None
            self._hand_over(protocol.LOADED, Delivery(0, failure=failure))
        if delivery.lines:
            self._failures = 0
        self._hand_over(protocol.RESULTS, delivery)
        batch.drop(delivery.items)

    def _hand_over(self, kind: bytes, delivery: Delivery) -> None:
        body = msgspec.msgpack.encode(delivery)
        with self._lock:
            self._arrived.append((kind, body))
        self._wake()

    def _wake(self) -> None:
        """Have the session ask for what has arrived."""
        with self._lock:
            if not self._is_ended:
                self._far.send(b"\0")
