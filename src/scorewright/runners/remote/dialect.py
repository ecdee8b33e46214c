"""What a session and the host's end of a remote sandbox say to each other, about any language.

Towards the session the sandbox looks like a worker that answers batch by batch. What came out of it is decoded here,
one result at a time; a batch with anything in it that no harness sends counts as forged as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from scorewright.domain.result import DurationUs, Failed, FailureCode, ItemOutcome, Outcome
from scorewright.runners.harness import protocol
from scorewright.runners.harness.worker import time_limit_failure
from scorewright.runners.json_dialect import JsonDialect
from scorewright.runners.loss import TAMPERED, describe_loss
from scorewright.runners.process import CLOSED, CLOSED_AND_RAN_ON

_LOST: Final = 3
#: A result is larger in no language.
_MAX_LINE_BYTES: Final = protocol.MAX_REPLY_BYTES
#: What a capture adds to the prints it cut.
_OUTPUT_ROOM: Final = 100
_REASONS: Final = {
    "closed": CLOSED,
    "ran_on": CLOSED_AND_RAN_ON,
    "protocol": "sent what no worker sends",
}


class Delivery(msgspec.Struct, frozen=True):
    """The answer to loading, or to the next items of the oldest batch."""

    #: Items that it answers; 0 for loading.
    items: int
    #: A result each, as the loop printed them; after loading, why it failed.
    lines: list[bytes] = []
    #: In place of these: what befell all the items.
    failure: Failed | None = None


class RemoteLoad(msgspec.Struct, frozen=True):
    """What the loop in the sandbox is told of an evaluator."""

    language: Literal["python", "javascript"]
    #: Of the evaluator's version: what its sandbox is labelled with.
    digest: str
    timeout_s: float
    grace_s: float
    #: For the language's harness.
    load: msgspec.Raw


class _Lost(msgspec.Struct, frozen=True):
    """What the loop says of an item whose worker did not answer."""

    reason: Literal["time", "closed", "ran_on", "protocol"]
    status: int | None
    words: str


_decode_line = msgspec.json.Decoder(tuple[Literal[0, 1, 2, 3], Any, str, DurationUs]).decode
_decode_delivery = msgspec.msgpack.Decoder(Delivery).decode


def forged() -> Failed:
    """Return the failure of items whose answer no harness would have sent."""
    text = f"{TAMPERED}: the sandbox sent results of another form"
    return Failed(FailureCode.AUTHOR_ERROR, text)


class RemoteDialect:
    """The dialect of a language's harness, as the loop passes it on.

    Args:
        inner: That dialect.
        language: What it is for.
    """

    #: The loop in the sandbox watches the time of each item; the link that of the whole call.
    grace_s = math.inf

    def __init__(self, inner: JsonDialect, language: Literal["python", "javascript"]) -> None:
        self._inner = inner
        self._language: Literal["python", "javascript"] = language
        self._max_output = inner.load.max_output_bytes + _OUTPUT_ROOM

    def encode_load(self) -> bytes:
        """As in `Dialect`."""
        inner = self._inner
        load = RemoteLoad(
            self._language,
            inner.load.seed,
            inner.load.timeout_s,
            inner.grace_s,
            msgspec.Raw(inner.encode_load()),
        )
        return msgspec.json.encode(load)

    def encode_batch(self, item_ids: Sequence[str], items: Sequence[bytes]) -> Sequence[bytes]:
        """As in `Dialect`."""
        return protocol.encode_batch(item_ids, items)

    def decode_loaded(self, body: bytes) -> Failed | None:
        """As in `Dialect`."""
        delivery = _decode_delivery(body)
        if delivery.failure is not None or not delivery.lines:
            return delivery.failure
        outcome = self._read(delivery.lines[:1])[0].outcome
        return outcome if isinstance(outcome, Failed) else forged()

    def decode_results(self, body: bytes) -> list[ItemOutcome]:
        """As in `Dialect`."""
        delivery = _decode_delivery(body)
        if delivery.failure is not None:
            return [ItemOutcome(delivery.failure)] * delivery.items
        return self._read(delivery.lines)

    def _read(self, lines: list[bytes]) -> list[ItemOutcome]:
        try:
            return list(map(self._outcome, lines))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            return [ItemOutcome(forged())] * len(lines)

    def _outcome(self, line: bytes) -> ItemOutcome:
        if len(line) > _MAX_LINE_BYTES:
            raise msgspec.ValidationError("a result that is too large")
        kind, payload, output, duration_us = _decode_line(line)
        outcome = self._lost(payload) if kind == _LOST else self._inner.outcome(kind, payload)
        return ItemOutcome(outcome, output[: self._max_output], duration_us)

    def _lost(self, payload: Any) -> Outcome:
        lost = msgspec.convert(payload, _Lost)
        if lost.reason == "time":
            return time_limit_failure(self._inner.load.timeout_s, None)
        return describe_loss(_REASONS[lost.reason], lost.status, lost.words)
