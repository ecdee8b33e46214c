"""Readers where there is no jail: a process for each source, bounded in time and memory, and nothing more."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Final

import msgspec

from scorewright.domain.definition import Definition
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.evaluator import Reading, UnreadableSourceError
from scorewright.runners.harness.protocol import MAX_REPLY_BYTES
from scorewright.runners.jail.launch import start_unjailed_reader
from scorewright.runners.reader import messages

_LAST_GASP_S: Final = 5.0


class PlainReader:
    """Reads each source in a process of its own, which has this one's rights."""

    def read(self, source: str, definition: Definition) -> Reading:
        """Read a source, as `read_source` does.

        Raises:
            UnreadableSourceError: The author's: it is no evaluator, or takes too much time or memory.
            SandboxUnavailableError: The process does not start.
        """
        question = messages.encode_question(source, definition)
        process = start_unjailed_reader()
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101 - likewise
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            process.kill()

        end = threading.Timer(messages.PATIENCE_S, give_up)
        end.start()
        try:
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write(question)
            encoded = process.stdout.read(MAX_REPLY_BYTES + 1)
        finally:
            end.cancel()
            process.stdout.close()
            status = _end(process)
        if encoded:
            try:
                return messages.decode_answer(encoded, definition)
            except msgspec.MsgspecError as error:
                raise SandboxUnavailableError(f"a reader answered oddly: {error}") from None
        if is_late.is_set():
            raise UnreadableSourceError((messages.too_slow(),))
        raise UnreadableSourceError((messages.blame(max(0, -status)),))


def _end(process: subprocess.Popen[bytes]) -> int:
    """Return how it has ended; it has closed its output, so it does so now or never."""
    try:
        return process.wait(_LAST_GASP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def main() -> None:
    """Be such a process: take the limits, read the question, answer."""
    stack_bytes, _ = resource.getrlimit(resource.RLIMIT_STACK)
    limits = {
        resource.RLIMIT_AS: (messages.MEMORY_MB << 20) + (256 << 20),
        resource.RLIMIT_STACK: stack_bytes,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
    }
    for name, value in limits.items():
        with suppress(OSError, ValueError):  # not all systems have all of them
            resource.setrlimit(name, (value, value))
    resource.setrlimit(resource.RLIMIT_CPU, (messages.CPU_S, messages.CPU_S + 1))
    question = sys.stdin.buffer.read()
    sys.stdout.buffer.write(messages.answer(question))
    sys.stdout.flush()
    os._exit(0)
