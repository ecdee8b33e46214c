"""Where a server reads author sources: never in its own process, and a bounded number at a time."""

from __future__ import annotations

import threading
from typing import Final, Literal

import structlog

from scorewright.domain.definition import Definition
from scorewright.domain.errors import OurError, SandboxUnavailableError
from scorewright.domain.evaluator import Reading, UnreadableSourceError
from scorewright.runners.reader.jailed import JailedReader
from scorewright.runners.reader.plain import PlainReader

#: Sources at a time: each may take half a gibibyte of memory and a processor.
_SIZE: Final = 4
_WAIT_S: Final = 5.0
_log = structlog.get_logger(__name__)


class SourceReader:
    """Reads each source in a jailed process of its own; safe to be used by several threads.

    Where the machine has no jail, in a process that is only bounded in time and memory. That is found out once, by the
    first source: a jail that was there and is lost is waited for.

    Args:
        jailed: Reads in the jail.
        size: Sources that are read at a time.
        wait_s: How long one more source waits for its turn.
    """

    def __init__(
        self, jailed: JailedReader | None = None, *, size: int = _SIZE, wait_s: float = _WAIT_S
    ) -> None:
        self._jailed = jailed or JailedReader()
        self._plain = PlainReader()
        self._turns = threading.BoundedSemaphore(size)
        self._wait_s = wait_s
        self._state: Literal["ok", "unavailable", "not checked"] = "not checked"

    @property
    def state(self) -> Literal["ok", "unavailable", "not checked"]:
        """Whether sources are read in the jail."""
        return self._state

    def start(self) -> None:
        """Boot the jail, without waiting for it."""
        try:
            self._jailed.start()
        except SandboxUnavailableError as error:
            self._do_without(error)

    def read(self, source: str, definition: Definition) -> Reading:
        """Read a source, as `domain.evaluator.read_source` does.

        Raises:
            UnreadableSourceError: The author's: it is no evaluator, or takes too much time or memory.
            OurError: Too many sources wait, or the sandbox is lost.
        """
        if not self._turns.acquire(timeout=self._wait_s):
            raise OurError("this server is busy reading other sources; try again")
        try:
            return self._read(source, definition)
        finally:
            self._turns.release()

    def close(self) -> None:
        """End every process."""
        self._jailed.close()

    def _read(self, source: str, definition: Definition) -> Reading:
        if self._state == "unavailable":
            return self._plain.read(source, definition)
        try:
            reading = self._jailed.read(source, definition)
        except SandboxUnavailableError as error:
            if self._state == "ok":
                raise
            self._do_without(error)
            return self._plain.read(source, definition)
        except UnreadableSourceError:
            self._state = "ok"
            raise
        self._state = "ok"
        return reading

    def _do_without(self, error: SandboxUnavailableError) -> None:
        self._state = "unavailable"
        _log.warning("author sources are read without a jail", reason=str(error))
