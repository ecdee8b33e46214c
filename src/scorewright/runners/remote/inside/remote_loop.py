"""Judges one batch inside a remote sandbox: keeps the language's worker at it, and prints the answers.

A stuck or dead worker costs the item it was at and a new worker, but no request. Runs under whatever Python (3.9 or
newer) the sandbox has. Everything printed here can be forged by the author's code: the host reads it that way.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
import time
import zipfile
from typing import Any

from scorewright.runners.harness import protocol
from scorewright.runners.remote.inside.worker_process import LostError, WorkerProcess

FOLDER = "scorewright-harness"
ARCHIVE = f"{FOLDER}.zip"
LOAD_FILE = "scorewright-load.json"
BATCH_FILE = "scorewright-batch.bin"
#: A result in place of one that its worker did not send.
LOST = 3
#: Those that it may send.
_KINDS = (0, 1, 2)
#: Bytes of results after which the rest of a batch is left for the next call, and seconds for a worker to come up.
MAX_ANSWER_BYTES = 6 << 20
START_TIMEOUT_S = 30.0
#: Workers that may end between two items before the next item is blamed after all.
_MAX_IDLE_LOSSES = 3
_TICK_S = 0.02
_HERE = "scorewright.runners.remote.inside"
_LEAST_PYTHON = (3, 11)


class UnusableError(Exception):
    """The sandbox cannot run this language: nobody's code is at fault."""


class Batch:
    """Items with what is known of each.

    Args:
        blob: A line with ids and lengths as JSON, and the items behind it.
    """

    def __init__(self, blob: bytes) -> None:
        head, _, rest = blob.partition(b"\n")
        described = json.loads(head)
        self.ids: list[str] = described["ids"]
        self.items: list[bytes] = []
        start = 0
        for length in described["lengths"]:
            self.items.append(rest[start : start + length])
            start += length
        self.results: list[Any] = [None] * len(self.items)
        #: Positions without a result, in order.
        self.open = list(range(len(self.items)))
        self.size = 0

    def body(self) -> bytes:
        """Return the open items as the harnesses read them: `[[id, …], [item, …]]`."""
        ids = json.dumps([self.ids[at] for at in self.open]).encode()
        return b"[%b,[%b]]" % (ids, b",".join([self.items[at] for at in self.open]))

    def answer(self, offset: int, result: Any) -> None:
        """Take a result for the open item at `offset`; the first one where there is none."""
        at = self.open.pop(offset if 0 <= offset < len(self.open) else 0)
        self.results[at] = _as_line(result)
        self.size += len(self.results[at])

    @property
    def done(self) -> int:
        """How many results there are before the first open item."""
        return self.open[0] if self.open else len(self.items)


def _as_line(result: Any) -> bytes:
    return json.dumps(result, ensure_ascii=False).encode("utf-8", "replace")


class Loop:
    """One batch.

    Args:
        load: As the host uploaded it.
        batch: What to judge.
        run_s: Seconds after which the rest is left for the next call.
        memory_mb: Bound of one worker.
    """

    def __init__(self, load: dict[str, Any], batch: Batch, run_s: float, memory_mb: int) -> None:
        self._load = load
        self._batch = batch
        self._deadline_s = time.monotonic() + run_s
        self._command = _command(load["language"], memory_mb)
        self._idle_losses = 0
        self._was_loaded = False
        self.engine = ""
        #: In place of a result: why the evaluator could not be loaded.
        self.load_failure: Any = None

    def run(self) -> None:
        """Judge until every item has a result, or the time or the room is used up."""
        while self._batch.open and self.load_failure is None and not self._is_used_up():
            self._attend()
        if self._was_loaded and self.load_failure is not None:  # so it can be, but not every time
            while self._batch.open:
                self._batch.answer(0, self.load_failure)
            self.load_failure = None

    def lines(self) -> list[bytes]:
        """Return the results as far as there is none missing; of one that could not be loaded, why not."""
        if self.load_failure is not None:
            return [_as_line(self.load_failure)]
        return self._batch.results[: self._batch.done]

    def _is_used_up(self) -> bool:
        is_over = time.monotonic() > self._deadline_s or self._batch.size > MAX_ANSWER_BYTES
        return is_over and self._batch.done > 0

    def _attend(self) -> None:
        """Start a worker and stay with it to its end."""
        worker = WorkerProcess(self._command, FOLDER)
        worker.send(protocol.LOAD, json.dumps(self._load["load"]).encode())
        watch = Watch(worker, self._load["timeout_s"] + self._load["grace_s"])
        try:
            self._serve(worker, watch)
        except LostError as error:
            self._lose(worker, watch, str(error))
        finally:
            worker.end()

    def _serve(self, worker: WorkerProcess, watch: Watch) -> None:
        while self._batch.open and self.load_failure is None and not self._is_used_up():
            for kind, body in worker.exchange(_TICK_S):
                if not self._take(kind, body, worker, watch):
                    return
            watch.look(len(self._batch.open))

    def _take(self, kind: bytes, body: bytes, worker: WorkerProcess, watch: Watch) -> bool:
        """Take a frame; False when it was the worker's last one."""
        try:
            said: Any = json.loads(body) if body else None
            if kind == protocol.HELLO and watch.phase == "start":
                self.engine = str(said["engine"])[:200]
                watch.enter("load")
            elif kind == protocol.LOADED and watch.phase == "load":
                if said["failure"] is not None:
                    self.load_failure = [1, said["failure"], "", 0]
                    return False
                self._was_loaded = True
                worker.send(protocol.BATCH, self._batch.body())
                watch.enter("items")
            elif kind == protocol.RESULTS and watch.phase == "items":
                self._take_results(said, watch)
            elif kind == protocol.RETIRE and watch.answered:
                return False
            else:
                raise LostError("protocol")
        except (ValueError, TypeError, KeyError, RecursionError):
            raise LostError("protocol") from None
        return True

    def _take_results(self, results: list[Any], watch: Watch) -> None:
        # What is not a list of lists that start with a kind, raises what `_take` expects.
        if not 0 < len(results) <= len(self._batch.open):
            raise LostError("protocol")
        for result in results:
            if result[0] not in _KINDS:
                raise LostError("protocol")
            self._batch.answer(0, result)
        watch.answered += len(results)

    def _lose(self, worker: WorkerProcess, watch: Watch, reason: str) -> None:
        """Blame the item that the worker was at; the items around it get another one."""
        begun = worker.begun  # before it is ended, since it may run on
        status = worker.end()
        words = worker.last_words
        if watch.phase == "start":
            raise UnusableError(f"the harness did not start: {_gist(words) or status}")
        result = [LOST, {"reason": reason, "status": status, "words": words}, "", 0]
        if watch.phase == "load":
            self.load_failure = result
        elif begun <= watch.answered and self._idle_losses < _MAX_IDLE_LOSSES:
            self._idle_losses += 1  # it ended between two items: none of them is to blame
        else:
            self._batch.answer(begun - 1 - watch.answered, result)


class Watch:
    """How long a worker has been at what it is at.

    Args:
        worker: Its marks are believed only upwards, and only as far as there are items.
        patience_s: Seconds for one item, and for loading.
    """

    def __init__(self, worker: WorkerProcess, patience_s: float) -> None:
        self._worker = worker
        self._patience_s = patience_s
        self._last_item = -1
        self.answered = 0
        self.enter("start")

    def enter(self, phase: str) -> None:
        """Note what begins: `start`, `load` or `items`."""
        self.phase = phase
        self._moved_at_s = time.monotonic()

    def look(self, open_items: int) -> None:
        """Raise `LostError` when it takes too long."""
        now_s = time.monotonic()
        item = min(self._worker.begun, self.answered + open_items) if self.phase == "items" else 0
        if item > self._last_item:
            self._last_item = item
            self._moved_at_s = now_s
        elif now_s - self._moved_at_s > (
            START_TIMEOUT_S if self.phase == "start" else self._patience_s
        ):
            raise LostError("time")


def _gist(words: str) -> str:
    """Return the line that says what went wrong, of a traceback in either language."""
    lines = words.splitlines() or [""]
    return next((line for line in reversed(lines) if "Error" in line), lines[-1]).strip()[:300]


def _command(language: str, memory_mb: int) -> list[str]:
    if language == "python":
        if sys.version_info < _LEAST_PYTHON:
            version = sys.version.split()[0]
            raise UnusableError(f"its Python is {version}; evaluators need 3.11 or newer")
        return [sys.executable, "-s", "-P", "-m", f"{_HERE}.python_worker", str(memory_mb)]
    node = shutil.which("node")
    if node is None:
        raise UnusableError("it has no Node, which JavaScript and TypeScript need")
    shim = f"{FOLDER}/{_HERE.replace('.', '/')}/shim.mjs"
    return [node, f"--max-old-space-size={memory_mb}", "--no-warnings", shim]


def main(*, nonce: str, run_s: float, memory_mb: int, batch: str | None = None) -> None:
    """Judge a batch and print the answer between two lines that nobody could foresee.

    Args:
        nonce: What makes these lines unforeseeable.
        run_s: As in `Loop`.
        memory_mb: As in `Loop`.
        batch: The batch in base64; None when it was uploaded.
    """
    if not os.path.isdir(FOLDER):
        with zipfile.ZipFile(ARCHIVE) as archive:
            archive.extractall(FOLDER)
    head: dict[str, Any] = {"engine": "", "load_failed": False, "unusable": None}
    lines: list[bytes] = []
    try:
        with open(LOAD_FILE, encoding="utf-8") as file:
            load = json.load(file)
        loop = Loop(load, Batch(_batch_blob(batch)), run_s, memory_mb)
        loop.run()
        head["engine"] = loop.engine
        lines = loop.lines()
        head["load_failed"] = loop.load_failure is not None
    except UnusableError as error:
        head["unusable"] = str(error)
    text = base64.b64encode(b"\n".join([json.dumps(head).encode(), *lines])).decode()
    sys.stdout.write(f"\n{nonce}<\n{text}\n>{nonce}\n")
    sys.stdout.flush()


def _batch_blob(batch: str | None) -> bytes:
    if batch is not None:
        return base64.b64decode(batch)
    with open(BATCH_FILE, "rb") as file:
        return file.read()
