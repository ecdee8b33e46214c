"""The host's side of readers in the jail."""

from __future__ import annotations

import threading
from typing import Final

import msgspec

from scorewright.domain.definition import Definition
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.evaluator import Reading, UnreadableSourceError
from scorewright.runners.base import Limits
from scorewright.runners.jail.launch import LaunchedZygote, launch_reader
from scorewright.runners.jail.layers import MANDATORY
from scorewright.runners.jail.supervisor import KernelJail
from scorewright.runners.process import WorkerLostError, WorkerProcess
from scorewright.runners.progress import Progress, ProgressFile
from scorewright.runners.reader import messages

_LIMITS: Final = Limits(memory_mb=messages.MEMORY_MB)
#: A zygote that is gone is started again, once for a source.
_TRIES: Final = 2
#: Of a status as waitpid gives it.
_SIGNAL_BITS: Final = 0x7F


class ReaderJail(KernelJail):
    """Readers behind the layers that workers of Python have."""

    mandatory = MANDATORY

    def launch(self, omitted: frozenset[str], prefix: tuple[str, ...]) -> LaunchedZygote:
        """Start the zygote."""
        return launch_reader(omitted=omitted, prefix=prefix)

    def make_progress(self) -> Progress:
        """Return what nothing is written to: a reader does one thing."""
        return ProgressFile()


class JailedReader:
    """Reads each source in a jailed process of its own; used by any number of threads at once.

    Args:
        jail: Where the processes come from.
    """

    def __init__(self, jail: ReaderJail | None = None) -> None:
        self._jail = jail or ReaderJail()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Boot what forks the processes, without waiting for it.

        Raises:
            SandboxUnavailableError: This machine has no jail.
        """
        with self._lock:
            self._jail.start()

    def read(self, source: str, definition: Definition) -> Reading:
        """Read a source, as `read_source` does.

        Raises:
            UnreadableSourceError: The author's: it is no evaluator, or takes too much time or memory.
            SandboxUnavailableError: The machine's.
        """
        question = messages.encode_question(source, definition)
        for _ in range(_TRIES - 1):
            try:
                return self._ask(question, definition)
            except SandboxUnavailableError:
                pass
        return self._ask(question, definition)

    def close(self) -> None:
        """End every process. The next `read` would start them again."""
        with self._lock:
            self._jail.close()

    def _ask(self, question: bytes, definition: Definition) -> Reading:
        with self._lock:
            reader = self._jail.spawn(_LIMITS)
        frame, is_late = None, False
        try:
            frame = _converse(reader, question)
            is_late = frame is None
        except WorkerLostError:
            pass
        finally:
            with self._lock:
                status = reader.end()
                self._jail.prepare(_LIMITS)
        if frame is not None and frame[0] == messages.ANSWER:
            try:
                return messages.decode_answer(frame[1], definition)
            except msgspec.MsgspecError as error:
                raise SandboxUnavailableError(
                    f"sandbox: a reader answered oddly: {error}"
                ) from None
        if is_late:
            raise UnreadableSourceError((messages.too_slow(),))
        raise UnreadableSourceError((messages.blame((status or 0) & _SIGNAL_BITS),))


def _converse(reader: WorkerProcess, question: bytes) -> tuple[bytes, bytes] | None:
    """Ask, and return the answer; None where it does not come in time."""
    reader.send(messages.SOURCE, [question])
    reader.write_all(messages.PATIENCE_S)
    return reader.wait_frame(messages.PATIENCE_S)
