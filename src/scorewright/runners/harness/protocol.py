"""Frames and messages between host and harness. protocol.md is the same in words.

A frame is one kind byte, the body's length as 32 bits little-endian, and the body. The host trusts nothing
that comes back: lengths are capped, messages are decoded into typed structs, counts are checked.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from typing import Literal

import msgspec

from scorewright.domain.binding import Plan
from scorewright.domain.convention import Convention
from scorewright.domain.result import Failed
from scorewright.domain.source_language import Language

#: Of the frames, and of all that makes results of values: part of every result's environment, and so of what the
#: cache goes by. `tests/unit/runners/test_harness_version.py` says when it has to be raised.
VERSION = 3

#: What the author's language is narrowed to: nothing, or RestrictedPython's view of it.
Policy = Literal["", "restricted"]

#: Host to harness.
LOAD, BATCH, SHARED_BATCH = b"L", b"B", b"S"
#: Harness to host.
HELLO, LOADED, RESULTS, RETIRE = b"H", b"l", b"r", b"x"

HEADER = struct.Struct("<cI")
#: The harness sends what it has once that is more than this, or this old: a kill then loses little work.
FLUSH_BYTES = 256 << 10
FLUSH_AFTER_NS = 50_000_000
#: What was collected before, and one result at its largest (`domain.returned`: 256 KiB of values, 1,000 names
#: of 256 characters), with room. Small, since one byte of MessagePack can cost the host 60 bytes of memory.
MAX_REPLY_BYTES = 2 << 20

#: Words of the shared progress page: number of the item begun, counted over the worker's life, and phase.
ITEM_WORD, PHASE_WORD = 0, 1
PHASE_IDLE, PHASE_LOAD, PHASE_AUTHOR = 0, 1, 2
PAGE_BYTES = 4096
#: Behind the page: places for the items of two batches, which then need not go through the socket.
SLOTS, SLOT_BYTES = 2, 256 << 10
SHARED_BYTES = PAGE_BYTES + SLOTS * SLOT_BYTES

#: Descriptors of a worker: its socket, and the progress page until it is mapped.
SOCKET_FD, PAGE_FD = 3, 4


class Hello(msgspec.Struct, frozen=True):
    """The first message of a worker: what stands between it and the machine."""

    #: Layer name to "on", a value such as a version, or "off: why".
    layers: dict[str, str]
    engine: str
    version: int = VERSION


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """All a worker needs to know of one evaluator in one run."""

    source: str
    #: What it is written in.
    language: Language = "python"
    policy: Policy = ""
    #: Shown in messages and tracebacks.
    filename: str
    convention: Convention
    plan: Plan
    score_range: tuple[float, float] | None
    threshold: float | None
    #: What stands still in here: seconds since 1970, UTC; None leaves the clock alone (`local`).
    clock_s: float | None
    #: Start of every random stream, with the item's id.
    seed: str
    #: Whether the source names random, uuid or secrets: only then is each item seeded (9 µs).
    uses_entropy: bool
    #: Whether each item needs a namespace of its own; not where the source can keep no state (2 µs).
    fresh_namespace: bool = True
    timeout_s: float
    max_output_bytes: int


class Loaded(msgspec.Struct, frozen=True):
    """The answer to `Load`: None, or why no item can be judged."""

    failure: Failed | None


class Batch(msgspec.Struct, frozen=True, array_like=True):
    """Items to judge, as the JSON bytes they are stored in."""

    item_ids: list[str]
    #: Views into the frame, so that nothing is copied.
    items: list[memoryview]


class SharedBatch(msgspec.Struct, frozen=True, array_like=True):
    """A batch whose items lie in a slot, one after the other."""

    item_ids: list[str]
    slot: int
    lengths: list[int]


#: MessagePack's heads of an array of two, of a long array, and of long binary data.
_PAIR, _ARRAY, _BINARY = b"\x92", struct.Struct(">BI"), struct.Struct(">BI")
_ARRAY_KIND, _BINARY_KIND = 0xDD, 0xC6


def encode_batch(item_ids: Sequence[str], items: Sequence[bytes]) -> list[bytes]:
    """Return a `Batch` as pieces of one body; the items among them are the very objects given."""
    head = _PAIR + msgspec.msgpack.encode(item_ids) + _ARRAY.pack(_ARRAY_KIND, len(items))
    pieces = [head]
    for item in items:
        pieces += (_BINARY.pack(_BINARY_KIND, len(item)), item)
    return pieces


class SharedMemory:
    """The shared page and slots, on either side."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._view = memoryview(memory)
        self._items = self._view.toreadonly()
        #: The words of the page.
        self.words = self._view[:PAGE_BYTES].cast("Q")

    def put(self, slot: int, items: Sequence[bytes]) -> list[int]:
        """Lay items into a slot, which has room for them; returns their lengths."""
        start = PAGE_BYTES + slot * SLOT_BYTES
        joined = b"".join(items)
        self._view[start : start + len(joined)] = joined
        return [len(item) for item in items]

    def take(self, slot: int, lengths: Sequence[int]) -> list[memoryview]:
        """Return views of the items in a slot."""
        end = PAGE_BYTES + slot * SLOT_BYTES
        return [self._items[(start := end) : (end := start + length)] for length in lengths]

    def close(self) -> None:
        """Let go of the mapping."""
        self.words.release()
        self._items.release()
        self._view.release()
        self._memory.close()
