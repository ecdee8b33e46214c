"""What the host sees of a worker's progress without asking it: memory that both of them look at."""

from __future__ import annotations

import fcntl
import mmap
import os
from typing import Protocol

from scorewright.runners.harness import protocol

_READ_BYTES = 1 << 16
_MAX_LAST_WORDS = 2000


class Progress(Protocol):
    """The host's end; the descriptor goes to a new worker."""

    @property
    def descriptor(self) -> int:
        """What to hand over."""
        ...

    @property
    def memory(self) -> protocol.SharedMemory | None:
        """Where batches can be laid; None where they go through the socket."""
        ...

    @property
    def item_number(self) -> int:
        """Number of the item begun, counted over the worker's life; as the worker claims."""
        ...

    @property
    def phase(self) -> int:
        """What the worker claims to be doing."""
        ...

    def last_words(self) -> str:
        """Return what the worker's runtime said when it died."""
        ...

    def handed_over(self) -> None:
        """Let go of what only the worker needs."""
        ...

    def close(self) -> None:
        """Let go of the rest."""
        ...


class SharedPage:
    """A page of words, and slots for batches behind it."""

    def __init__(self) -> None:
        name = "scorewright-progress"
        self.descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, protocol.SHARED_BYTES)
            # A page that shrinks would kill whoever reads it.
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            self.memory = protocol.SharedMemory(mmap.mmap(self.descriptor, protocol.SHARED_BYTES))
        except OSError:
            os.close(self.descriptor)
            raise

    @property
    def item_number(self) -> int:
        """As in `Progress`."""
        return self.memory.words[protocol.ITEM_WORD]

    @property
    def phase(self) -> int:
        """As in `Progress`."""
        return self.memory.words[protocol.PHASE_WORD]

    def last_words(self) -> str:
        """Nothing: the harness has no standard error."""
        return ""

    def handed_over(self) -> None:
        """As in `Progress`."""
        os.close(self.descriptor)

    def close(self) -> None:
        """As in `Progress`."""
        self.memory.close()


class ProgressFile:
    """A file in memory that gets a zero byte per item begun; what else is written there are last words.

    For a runtime that can write to its standard error, but cannot share memory.
    """

    memory = None
    phase = protocol.PHASE_AUTHOR

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("scorewright-progress", os.MFD_CLOEXEC)
        self._count = 0

    @property
    def item_number(self) -> int:
        """The number of leading zeros."""
        while part := os.pread(self.descriptor, _READ_BYTES, self._count):
            zeros = len(part) - len(part.lstrip(b"\0"))
            self._count += zeros
            if zeros < len(part):
                break
        return self._count

    def last_words(self) -> str:
        """As in `Progress`."""
        words = os.pread(self.descriptor, _MAX_LAST_WORDS, self.item_number)
        return words.replace(b"\0", b"").decode("utf-8", "replace").strip()

    def handed_over(self) -> None:
        """Nothing: the host goes on reading it."""

    def close(self) -> None:
        """As in `Progress`."""
        os.close(self.descriptor)
