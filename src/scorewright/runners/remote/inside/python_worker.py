"""The harness for Python in a remote sandbox: one evaluator, frames in and out, answers in JSON.

It is the jail's harness as far as that gets by with the standard library: the same modules bind, call, capture
prints, watch the time and describe failures. What was returned goes to the host as JSON, whose funnel decides.

Standard input and output carry frames, standard error a zero byte per item begun.
"""

from __future__ import annotations

import inspect
import json
import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from scorewright.authoring.eval_result import EvalResult, lay_open
from scorewright.domain.excerpt import base_of
from scorewright.domain.item_fields import FieldAbsentError, make_binder
from scorewright.domain.json_copy import (
    BadReturnError,
    JsonCopy,
    TooLargeError,
    no_result,
    not_json,
    too_deep,
)
from scorewright.runners.harness import protocol
from scorewright.runners.harness.author_module import AuthorModule
from scorewright.runners.harness.determinism import forget_machine, seed_entropy
from scorewright.runners.harness.failure import TimeLimitError, describe
from scorewright.runners.harness.prints import Capture
from scorewright.runners.harness.watchdog import Watchdog

VALUE, FAILURE, EVAL_RESULT = 0, 1, 2
_HARNESS_BROKE = 70


class _Json:
    """JSON as the host reads it: NaN and infinity are none."""

    @staticmethod
    def encode(value: Any) -> str:
        return json.dumps(value)

    @staticmethod
    def decode(text: str | bytes) -> Any:
        return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _as_it_is(row: Any) -> Any:
    return row


class Wire:
    """Frames over descriptors that the author's code does not know by name."""

    def __init__(self) -> None:
        self._input, self._output, self._marks = os.dup(0), os.dup(1), os.dup(2)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)
        self._read, self._write = os.read, os.write

    def receive(self) -> bytes:
        """Return the next frame's body; ends the process when there is none."""
        _, length = protocol.HEADER.unpack(self._exactly(protocol.HEADER.size))
        return self._exactly(length)

    def send(self, kind: bytes, body: bytes) -> None:
        """Send one frame."""
        rest = memoryview(protocol.HEADER.pack(kind, len(body)) + body)
        while rest:
            rest = rest[self._write(self._output, rest) :]

    def mark(self) -> None:
        """Say that an item is begun."""
        self._write(self._marks, b"\0")

    def _exactly(self, length: int) -> bytes:
        whole = bytearray()
        while len(whole) < length:
            part = self._read(self._input, length - len(whole))
            if not part:
                os._exit(0)
            whole += part
        return bytes(whole)


class Worker:
    """One evaluator.

    Args:
        wire: To the loop.
        load: As `remote/python_dialect.py` makes it.
    """

    def __init__(self, wire: Wire, load: dict[str, Any]) -> None:
        self._wire = wire
        self._load = load
        self._takes = frozenset(load["takes"])
        self._dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
        self._page = memoryview(bytearray(16)).cast("Q")
        self._capture = Capture(load["max_output_bytes"])
        sys.stdout = sys.stderr = self._capture
        self._watchdog = Watchdog(self._page, load["timeout_s"], load["filename"])
        plan: list[Any] = [SimpleNamespace(**argument) for argument in load["plan"]]
        self._bind = make_binder(plan, _as_it_is, _Json)
        self._fresh: Callable[[], Callable[..., Any]]
        self._is_async = False
        #: Whether the last item may have damaged the process.
        self._is_tainted = False

    def load(self) -> dict[str, Any] | None:
        """Compile the source and run its module level once; returns why that failed."""
        forget_machine()
        self._restart_entropy = seed_entropy()
        self._restart_entropy(self._load["seed"])
        if "asyncio" in self._load["source"]:  # for every source, it would be a long import
            from scorewright.runners.harness import event_loop

            event_loop.install()
        failure: dict[str, Any] | None = None
        self._watchdog.start()
        self._watchdog.active = True
        try:
            self._fresh = AuthorModule(self._load["source"], self._load["filename"]).fresh
            evaluate = self._fresh()
            if not self._load["fresh_namespace"]:
                self._fresh = lambda: evaluate
            self._is_async = inspect.iscoroutinefunction(evaluate)
            self._watchdog.active = False
        except BaseException as error:  # noqa: BLE001 - the wall between the author's code and ours
            self._watchdog.active = False
            failure = self._describe(error)
        self._watchdog.stop()
        if self._watchdog.has_raised:
            failure = self._timed_out()
        self._capture.take()
        return failure

    def run_batch(self, item_ids: list[str], rows: list[Any]) -> bool:
        """Judge each item and send the results; False when this worker must end now."""
        capture, clock_ns = self._capture, time.perf_counter_ns
        results: list[str] = []
        size = 0
        self._watchdog.start()
        began_ns = flushed_ns = clock_ns()
        for item_id, row in zip(item_ids, rows, strict=True):
            self._page[protocol.ITEM_WORD] += 1
            self._wire.mark()
            judged = self._judge(item_id, row)
            ended_ns = clock_ns()
            text = self._dump([*judged, capture.take(), (ended_ns - began_ns) // 1000])
            if sys.stdout is not capture or sys.stderr is not capture:
                sys.stdout = sys.stderr = capture
            results.append(text)
            size += len(text)
            began_ns = ended_ns
            if self._is_tainted:
                break
            if ended_ns - flushed_ns > protocol.FLUSH_AFTER_NS or size > protocol.FLUSH_BYTES:
                self._send_results(results)
                results, size = [], 0
                began_ns = flushed_ns = clock_ns()
        self._watchdog.stop()
        if results:
            self._send_results(results)
        return not self._is_tainted

    def _send_results(self, results: list[str]) -> None:
        self._wire.send(protocol.RESULTS, f"[{','.join(results)}]".encode())

    def _judge(self, item_id: str, row: Any) -> tuple[int, Any]:
        watchdog = self._watchdog
        watchdog.active = True
        try:
            arguments, named = self._bind(row)
            if self._load["uses_entropy"]:
                self._restart_entropy(f"{self._load['seed']}/{item_id}")
            value = self._fresh()(*arguments, **named)
            if self._is_async:
                value = _finished(value)
            judged = self._portable(value)
        except BaseException as error:  # noqa: BLE001 - the wall between the author's code and ours
            watchdog.active = False
            return FAILURE, self._fail(error)
        watchdog.active = False
        if watchdog.has_raised:  # and the code swallowed it
            return FAILURE, self._fail(TimeLimitError())
        return judged

    def _portable(self, value: Any) -> tuple[int, Any]:
        """Return a value as JSON, or as the failure that the funnel makes of what JSON has no word for."""
        try:
            return self._copy(value)
        except BadReturnError as error:
            message = error.message
        except TooLargeError as error:
            return FAILURE, _failure("output_limit", error.message)
        except RecursionError:  # the author lowered the interpreter's limit
            message = too_deep().message
        return FAILURE, _failure("bad_return", message)

    def _copy(self, value: Any) -> tuple[int, Any]:
        if issubclass(type(value), EvalResult):
            return EVAL_RESULT, JsonCopy().object(lay_open(value), cut="explanation")
        base = base_of(value)
        if base is dict:
            return VALUE, JsonCopy().object(value, cut="explanation")
        if base is None:
            raise not_json(value)
        if value is not None and ("float" if base is int else base.__name__) not in self._takes:
            raise no_result(value, self._load["wanted"])
        return VALUE, JsonCopy().value(value)

    def _fail(self, error: BaseException) -> dict[str, Any]:
        if self._watchdog.has_raised:
            self._is_tainted = True
            return self._timed_out()
        if isinstance(error, FieldAbsentError):
            return _failure("mapping_error", str(error))
        self._is_tainted = isinstance(error, (MemoryError, RecursionError))
        return self._describe(error)

    def _timed_out(self) -> dict[str, Any]:
        return {**_failure("timeout", ""), "line": self._watchdog.line}

    def _describe(self, error: BaseException) -> dict[str, Any]:
        load = self._load
        failed = describe(error, filename=load["filename"], source=load["source"], jailed=True)
        return {
            "code": str(failed.code),
            "message": failed.message,
            "type": failed.type,
            "line": failed.line,
            "traceback": failed.traceback,
        }


def _failure(code: str, message: str) -> dict[str, Any]:
    return {"code": code, "message": message, "type": None, "line": None, "traceback": None}


def _finished(value: Any) -> Any:
    from scorewright.runners.harness.event_loop import finish

    return finish(value)


def _bound_memory(memory_mb: int) -> None:
    """Bound what is used beyond what the interpreter has now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    limit = used + (memory_mb << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def main(memory_mb: int) -> None:
    """Serve one evaluator until the input ends."""
    wire = Wire()
    load = json.loads(wire.receive())
    _bound_memory(memory_mb)
    worker = Worker(wire, load)
    engine = f"{sys.implementation.name} {platform.python_version()}"
    # What fails up to here is no author's fault: the loop tells it by the hello that does not come.
    wire.send(protocol.HELLO, json.dumps({"engine": engine}).encode())
    end = os._exit  # the author's code may put something else in its place
    try:
        failure = worker.load()
        wire.send(protocol.LOADED, json.dumps({"failure": failure}).encode())
        while failure is None:
            item_ids, rows = json.loads(wire.receive())
            if not worker.run_batch(item_ids, rows):
                wire.send(protocol.RETIRE, b"")
                break
    except BaseException:  # noqa: BLE001 - how it ended says enough
        end(_HARNESS_BROKE)
    end(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
