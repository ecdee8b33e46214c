"""One call of a remote sandbox: a batch as a program and files, and what it printed, read back.

What was printed is hostile: the author's code can write to where the loop writes.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from typing import Final

import msgspec

from scorewright.runners.remote.archive import harness_archive
from scorewright.runners.remote.provider import CodeRun, ProviderError

#: A batch up to this size is part of the program, which a shell is given as one argument of at most 128 KiB.
_MAX_INLINE_BYTES: Final = 48 << 10
#: Seconds after which the loop leaves the rest of a batch to the next call: proxies cut what takes a minute.
_RUN_S: Final = 45.0
#: Bytes of results after which it does so as well; in `inside/remote_loop.py` too.
FULL_BYTES: Final = 6 << 20
#: Seconds for workers to come up, and for what the loop does beside them.
_STARTING_S: Final = 45.0
#: Items that may run out of time after the loop's own time is over, loading included.
_LATE_ITEMS: Final = 3
_MAX_HEAD_BYTES: Final = 4_096
_MAX_SHOWN: Final = 200
#: As in `inside/remote_loop.py`, which cannot be imported here for its own imports' sake.
ARCHIVE_FILE: Final = "scorewright-harness.zip"
LOAD_FILE: Final = "scorewright-load.json"
BATCH_FILE: Final = "scorewright-batch.bin"

PROGRAM: Final = """\
import sys
sys.path.insert(0, {archive!r})
from scorewright.runners.remote.inside.remote_loop import main
main(nonce={nonce!r}, run_s={run_s!r}, memory_mb={memory_mb!r}, batch={batch!r})
"""


class ForgedError(Exception):
    """An answer that the loop never gives: the author's code made it."""


class Batch(msgspec.Struct):
    """Items that are not answered yet."""

    item_ids: list[str]
    items: list[memoryview]

    def encoded(self) -> bytes:
        """Return it as the loop reads it."""
        head = {"ids": self.item_ids, "lengths": [len(item) for item in self.items]}
        return b"\n".join([msgspec.json.encode(head), b"".join(self.items)])

    def drop(self, count: int) -> None:
        """Forget the first items: they are answered."""
        del self.item_ids[:count]
        del self.items[:count]


class Answer(msgspec.Struct, frozen=True):
    """What the loop says beside the results."""

    #: What the harness runs in.
    engine: str
    #: Whether the one result says why the evaluator could not be loaded.
    load_failed: bool
    #: Why no sandbox of this kind can run it.
    unusable: str | None


class Call:
    """One batch on its way.

    Args:
        batch: What to judge.
        timeout_s: Bound of one item.
        memory_mb: Bound of one worker.
    """

    def __init__(self, batch: Batch, *, timeout_s: float, memory_mb: int) -> None:
        self._batch = batch
        self._nonce = secrets.token_hex(16)
        encoded = batch.encoded()
        is_small = len(encoded) <= _MAX_INLINE_BYTES
        #: What has to be uploaded before.
        self.files = {} if is_small else {BATCH_FILE: encoded}
        self.code = PROGRAM.format(
            archive=ARCHIVE_FILE,
            nonce=self._nonce,
            run_s=_RUN_S,
            memory_mb=memory_mb,
            batch=base64.b64encode(encoded).decode() if is_small else None,
        )
        #: Seconds until something is wrong.
        self.bound_s = call_bound_s(timeout_s)

    def read(self, run: CodeRun, took_s: float) -> tuple[Answer, list[bytes]]:
        """Return what the loop said, and its results: one for each of the first items.

        Args:
            run: What the program left behind.
            took_s: Seconds that it took, as seen from here.

        Raises:
            ProviderError: There is no answer in the output.
            ForgedError: There is one, and the loop did not make it.
        """
        raw = self._between_marks(run)
        head, _, rest = raw.partition(b"\n")
        lines = rest.split(b"\n", len(self._batch.items)) if rest else []
        try:
            if len(head) > _MAX_HEAD_BYTES:
                raise ForgedError
            answer = msgspec.json.decode(head, type=Answer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ForgedError from None
        if answer.unusable is not None:
            text = f"the sandbox cannot be used: {_printable(answer.unusable)}"
            raise ProviderError(text, is_passing=False)
        if len(lines) != (1 if answer.load_failed else len(self._batch.items)):
            # The loop leaves items to the next call only where time or room is used up; by half, as clocks may differ,
            # and results may be missing behind a lost one.
            has_reason = took_s >= _RUN_S / 2 or len(rest) > FULL_BYTES / 2
            if not lines or len(lines) > len(self._batch.items) or not has_reason:
                raise ForgedError
        return answer, lines

    def _between_marks(self, run: CodeRun) -> bytes:
        start, end = f"{self._nonce}<\n", f"\n>{self._nonce}"
        _, found, rest = run.output.partition(start)
        encoded, closed, _ = rest.partition(end)
        if not found or not closed:
            shown = _printable(run.output[-_MAX_SHOWN:]) or "it printed nothing"
            raise ProviderError(
                f"the sandbox gave no whole answer (exit code {run.exit_code}): {shown}",
                is_passing=True,
            )
        try:
            return base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            raise ForgedError from None


def call_bound_s(timeout_s: float) -> float:
    """Return the seconds that a call may take at most."""
    return _RUN_S + _STARTING_S + _LATE_ITEMS * timeout_s


def first_files(load: bytes) -> dict[str, bytes]:
    """Return what a new sandbox needs before its first call."""
    return {ARCHIVE_FILE: harness_archive(), LOAD_FILE: load}


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text[:_MAX_SHOWN]).strip()
