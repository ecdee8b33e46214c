"""The loop of a worker: load one evaluator, answer batches, end after anything odd."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

import msgspec

from scorewright.domain.binding import compile_binding
from scorewright.domain.item_fields import FieldAbsentError
from scorewright.domain.result import Failed, FailureCode, Outcome
from scorewright.domain.returned import Reading, make_interpreter
from scorewright.runners.harness import protocol
from scorewright.runners.harness.author_module import AuthorModule
from scorewright.runners.harness.failure import TimeLimitError, describe
from scorewright.runners.harness.prints import Capture
from scorewright.runners.harness.watchdog import Watchdog

_EMPTY_ARRAY_32 = b"\xdd\x00\x00\x00\x00"
#: The exit status of a harness that met an error of its own.
HARNESS_BROKE = 70


class Wire:
    """Frames over one descriptor, with plain read and write: all that the filter leaves."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._read = os.read
        self._write = os.write

    def receive(self) -> tuple[bytes, bytes]:
        """Return the next frame's kind and body; ends the process when the host is gone."""
        kind, length = protocol.HEADER.unpack(self._exactly(protocol.HEADER.size))
        return kind, self._exactly(length)

    def send(self, kind: bytes, body: bytes | bytearray) -> None:
        """Send one frame."""
        rest = memoryview(protocol.HEADER.pack(kind, len(body)) + body)
        while rest:
            rest = rest[self._write(self._descriptor, rest) :]

    def _exactly(self, length: int) -> bytes:
        part = self._read(self._descriptor, length)
        if len(part) == length:
            return part
        whole = bytearray(part)
        while len(whole) < length:
            part = self._read(self._descriptor, length - len(whole))
            if not part:
                os._exit(0)
            whole += part
        return bytes(whole)


class Worker:
    """One evaluator in one run."""

    def __init__(
        self, wire: Wire, memory: protocol.SharedMemory, load: protocol.Load, *, jailed: bool
    ) -> None:
        self._wire = wire
        self._page = page = memory.words
        self._load = load
        self._jailed = jailed
        self._clock_ns = time.perf_counter_ns
        self._stdout, self._stderr = sys.stdout, sys.stderr
        self._capture = Capture(load.max_output_bytes)
        sys.stdout = sys.stderr = self._capture
        self._watchdog = Watchdog(page, load.timeout_s, load.filename)
        self._binding = compile_binding(load.plan)
        self._interpret = make_interpreter(
            Reading(
                convention=load.convention,
                score_range=load.score_range,
                threshold=load.threshold,
            )
        )
        self._fresh: Callable[[], Callable[..., Any]]
        self._encoder = msgspec.msgpack.Encoder()
        self._judge: Callable[[str, memoryview], Outcome]
        #: Whether the last item may have damaged the process.
        self._is_tainted = False
        #: Items begun over the worker's life.
        self._count = 0

    def load(self, evaluate: Callable[..., Any] | None = None) -> Failed | None:
        """Stop the clock, compile the source and run its module level once.

        Args:
            evaluate: A function to call instead of a source's (`local` runner only).
        """
        if self._load.clock_s is not None:
            from scorewright.runners.harness import determinism

            determinism.freeze_clock(self._load.clock_s)
            determinism.forget_machine()
            self._restart_entropy = determinism.seed_entropy()
            self._restart_entropy(self._load.seed)
        self._page[protocol.PHASE_WORD] = protocol.PHASE_LOAD
        self._watchdog.start()
        self._watchdog.active = True
        failure: Failed | None = None
        try:
            shared = evaluate
            if evaluate is None:
                load = self._load
                self._fresh = AuthorModule(load.source, load.filename, load.policy).fresh
                evaluate = self._fresh()
                shared = None if self._load.fresh_namespace else evaluate
            if shared is not None:
                self._fresh = lambda: shared
            self._watchdog.active = False
        except BaseException as error:  # noqa: BLE001 - the wall between the author's code and ours
            self._watchdog.active = False
            failure = self._describe(error)
        self._watchdog.stop()
        if self._watchdog.has_raised:
            failure = self._timed_out()
        if failure is None and inspect.iscoroutinefunction(evaluate):
            self._await_results()
        if failure is None:
            self._judge = self._make_judge()
        self._capture.take()
        return failure

    def _await_results(self) -> None:
        import asyncio  # noqa: F401  # pyright: ignore[reportUnusedImport] - in the jail, brings in the loop below

        from scorewright.runners.harness.event_loop import finish

        interpret = self._interpret

        def interpret_awaited(value: Any) -> Outcome:
            return interpret(finish(value))

        self._interpret = interpret_awaited

    def run_batch(self, item_ids: list[str], items: list[memoryview]) -> bool:
        """Judge each item and send the results; False when this worker must end now."""
        page, capture, clock_ns, judge = self._page, self._capture, self._clock_ns, self._judge
        let_go = self._binding.let_go
        encode_into = self._encoder.encode_into
        number = self._count
        buffer, pending = bytearray(_EMPTY_ARRAY_32), 0
        self._watchdog.start()
        page[protocol.PHASE_WORD] = protocol.PHASE_AUTHOR
        began_ns = flushed_ns = clock_ns()
        for item_id, raw in zip(item_ids, items, strict=True):
            number += 1
            page[protocol.ITEM_WORD] = number
            outcome = judge(item_id, raw)
            if let_go is not None:
                let_go()
            ended_ns = clock_ns()
            output = capture.take() if capture.written else ""
            if sys.stdout is not capture or sys.stderr is not capture:
                sys.stdout = sys.stderr = capture
            # A tuple is what an ItemOutcome looks like on the wire, and cheaper to make.
            encode_into((outcome, output, (ended_ns - began_ns) // 1000), buffer, -1)
            pending += 1
            began_ns = ended_ns
            if self._is_tainted:
                break
            if (
                ended_ns - flushed_ns > protocol.FLUSH_AFTER_NS
                or len(buffer) > protocol.FLUSH_BYTES
            ):
                self._send_results(buffer, pending)
                buffer, pending = bytearray(_EMPTY_ARRAY_32), 0
                began_ns = flushed_ns = clock_ns()
        self._count = number
        self._watchdog.stop()
        page[protocol.PHASE_WORD] = protocol.PHASE_IDLE
        if pending:
            self._send_results(buffer, pending)
        return not self._is_tainted

    def _send_results(self, buffer: bytearray, count: int) -> None:
        buffer[1:5] = count.to_bytes(4, "big")
        self._wire.send(protocol.RESULTS, buffer)

    def _make_judge(self) -> Callable[[str, memoryview], Outcome]:
        """Return the function that is called for every item; one closure, since each look-up on `self` counts."""
        watchdog, bind, fresh, interpret = (
            self._watchdog,
            self._binding.bind,
            self._fresh,
            self._interpret,
        )
        restart = self._restart_entropy if self._load.uses_entropy else None
        seed = self._load.seed

        def judge(item_id: str, raw: memoryview) -> Outcome:
            watchdog.active = True
            try:
                arguments, named = bind(raw)
                if restart is not None:
                    restart(f"{seed}/{item_id}")
                evaluate = fresh()
                value = evaluate(*arguments, **named) if named else evaluate(*arguments)
                outcome = interpret(value)
            except BaseException as error:  # noqa: BLE001 - the wall between the author's code and ours
                watchdog.active = False
                return self._fail(error)
            watchdog.active = False
            if watchdog.has_raised:  # and the code swallowed it
                return self._fail(TimeLimitError())
            return outcome

        return judge

    def _fail(self, error: BaseException) -> Failed:
        """Return what an exception means for the item; the process may be as sound as before, or not."""
        if self._watchdog.has_raised:
            self._is_tainted = True
            return self._timed_out()
        if isinstance(error, FieldAbsentError):
            return Failed(FailureCode.MAPPING_ERROR, str(error))
        self._is_tainted = isinstance(error, (MemoryError, RecursionError))
        return self._describe(error)

    def _timed_out(self) -> Failed:
        return time_limit_failure(self._load.timeout_s, self._watchdog.line)

    def _describe(self, error: BaseException) -> Failed:
        load = self._load
        return describe(error, filename=load.filename, source=load.source, jailed=self._jailed)


def time_limit_failure(timeout_s: float, line: int | None) -> Failed:
    """Return the failure of an item that did not end in time."""
    return Failed(
        FailureCode.TIMEOUT,
        f"no result within {timeout_s:g} s; make the code faster or raise --timeout-s",
        line=line,
    )


def serve(
    descriptor: int,
    memory: protocol.SharedMemory,
    hello: protocol.Hello,
    *,
    jailed: bool,
    evaluate: Callable[..., Any] | None = None,
) -> NoReturn:
    """Run a worker's whole life on one descriptor and end the process."""
    wire = Wire(descriptor)
    end = os._exit  # the author's code may put something else in its place
    wire.send(protocol.HELLO, msgspec.json.encode(hello))
    try:
        _, body = wire.receive()
        load = msgspec.json.decode(body, type=protocol.Load)
        worker = Worker(wire, memory, load, jailed=jailed)
        failure = worker.load(evaluate)
        wire.send(protocol.LOADED, msgspec.msgpack.encode(protocol.Loaded(failure)))
        decode_shared = msgspec.msgpack.Decoder(protocol.SharedBatch).decode
        decode = msgspec.msgpack.Decoder(protocol.Batch).decode
        while failure is None:
            kind, body = wire.receive()
            if kind == protocol.SHARED_BATCH:
                shared = decode_shared(body)
                ids, items = shared.item_ids, memory.take(shared.slot, shared.lengths)
            else:
                batch = decode(body)
                ids, items = batch.item_ids, batch.items
            if not worker.run_batch(ids, items):
                wire.send(protocol.RETIRE, b"")
                break
    except BaseException:  # noqa: BLE001 - nothing of ours may unwind into the zygote
        end(HARNESS_BROKE)
    end(0)
