"""How the host speaks to a worker about one evaluator: what differs between the harnesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from scorewright.domain.result import Failed, ItemOutcome
from scorewright.runners.harness import protocol
from scorewright.runners.reply import decode_loaded, decode_results


class Dialect(Protocol):
    """Made for one evaluator in one run, and used for all its workers."""

    @property
    def grace_s(self) -> float:
        """Seconds beyond the time limit until the host ends an item itself."""
        ...

    def encode_load(self) -> bytes:
        """Return the first message to a worker."""
        ...

    def encode_batch(self, item_ids: Sequence[str], items: Sequence[bytes]) -> Sequence[bytes]:
        """Return a batch as pieces of one body."""
        ...

    def decode_loaded(self, body: bytes) -> Failed | None:
        """Return why the evaluator could not be loaded; None when it was.

        Raises:
            WorkerLostError: No harness sends this.
        """
        ...

    def decode_results(self, body: bytes) -> list[ItemOutcome]:
        """Return the outcomes of one frame, at least one.

        Raises:
            WorkerLostError: No harness sends this.
        """
        ...


class PythonDialect:
    """MessagePack, with items in shared memory where they fit (`harness/protocol.py`).

    Args:
        load: The evaluator.
    """

    #: The worker's own timer comes first.
    grace_s = 0.5

    def __init__(self, load: protocol.Load) -> None:
        self._load = load
        self.encode_batch = protocol.encode_batch
        self.decode_loaded = decode_loaded
        self.decode_results = decode_results

    def encode_load(self) -> bytes:
        """As in `Dialect`."""
        return msgspec.json.encode(self._load)
