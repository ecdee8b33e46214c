"""Stands in the sandbox for `runners.harness.protocol`: the parts that need nothing but the standard library."""

from __future__ import annotations

import struct
from typing import Literal

#: None is applied here.
Policy = Literal["", "restricted"]

LOAD, BATCH = b"L", b"B"
HELLO, LOADED, RESULTS, RETIRE = b"H", b"l", b"r", b"x"
HEADER = struct.Struct("<cI")
FLUSH_BYTES = 256 << 10
FLUSH_AFTER_NS = 50_000_000
MAX_REPLY_BYTES = 2 << 20
ITEM_WORD, PHASE_WORD = 0, 1
