"""Which stored traces or log records there are, as bytes: what a run keeps, so that it is always about the same ones."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Final, TypeVar, cast

import msgspec

#: Of one block.
_ROWS: Final = 2_000


class ListedTrace(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One trace, and what of it is judged: spans that arrive later make no further items."""

    trace_id: str
    span_count: int
    session_id: str | None
    agent_spans: list[str]
    llm_spans: list[str]


class ListedRecord(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One log record."""

    id: str
    trace_id: str | None


Listed = TypeVar("Listed", ListedTrace, ListedRecord)


def write_listing(listed: Iterable[ListedTrace | ListedRecord]) -> Iterator[bytes]:
    """Pack a listing into blocks: one at least, so that an empty one is a listing too."""
    encode = msgspec.msgpack.Encoder().encode
    rows = iter(listed)
    block = list(islice(rows, _ROWS))
    while True:
        yield zlib.compress(encode(block), 1)
        block = list(islice(rows, _ROWS))
        if not block:
            return


def read_listing(blocks: Iterable[bytes], what: type[Listed]) -> list[Listed]:
    """Unpack a listing."""
    packed = chain.from_iterable(
        cast("list[object]", msgspec.msgpack.decode(zlib.decompress(block))) for block in blocks
    )
    return [msgspec.convert(one, what) for one in packed]
