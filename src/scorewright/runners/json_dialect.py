"""How harnesses that answer in JSON are spoken to: values go through the funnel on the host.

The author's code runs in the worker, so every answer may be forged, as in `reply`: it is decoded into typed
values, and a failure may only say what the harness can know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from scorewright.domain.result import DurationUs, Failed, ItemOutcome, Outcome
from scorewright.domain.returned import Reading, make_interpreter
from scorewright.runners.harness import protocol
from scorewright.runners.process import WorkerLostError

#: The kinds of result: what was returned, or why nothing was.
VALUE: Final = 0
FAILURE: Final = 1
#: More than any harness sends.
MAX_MESSAGE: Final = 600
MAX_TYPE: Final = 160

_USUAL_KEYS: Final = {"score", "explanation"}


class _Loaded(msgspec.Struct, frozen=True):
    failure: Any


_results_decoder = msgspec.json.Decoder(list[tuple[Literal[0, 1], Any, str, DurationUs]])
_loaded_decoder = msgspec.json.Decoder(_Loaded)


class JsonDialect(ABC):
    """JSON both ways.

    Args:
        load: The evaluator.
    """

    grace_s: float

    def __init__(self, load: protocol.Load) -> None:
        self.load = load
        self.interpret = make_interpreter(
            Reading(
                convention=load.convention,
                score_range=load.score_range,
                threshold=load.threshold,
            )
        )

    @abstractmethod
    def encode_load(self) -> bytes:
        """As in `Dialect`."""

    @abstractmethod
    def failed(self, payload: Any) -> Failed:
        """Return what the harness says of an item without a value.

        Raises:
            msgspec.ValidationError: No harness sends this.
        """

    def outcome(self, kind: int, payload: Any) -> Outcome:
        """Return what one result means.

        Raises:
            msgspec.ValidationError: No harness sends this.
        """
        if kind == VALUE:
            returned: Any = payload  # stays so, whatever is asked about it
            if type(payload) is dict and returned.keys() == _USUAL_KEYS:
                # The funnel knows these two by identity: with our own it needs a third of the time.
                score, explanation = returned["score"], returned["explanation"]
                return self.interpret({"score": score, "explanation": explanation})
            return self.interpret(returned)
        if kind == FAILURE:
            return self.failed(payload)
        raise msgspec.ValidationError(f"a result of kind {kind}")

    def encode_batch(self, item_ids: Sequence[str], items: Sequence[bytes]) -> Sequence[bytes]:
        """As in `Dialect`: `[[id, …], [item, …]]`, of which the items are JSON already."""
        head = b"[" + msgspec.json.encode(item_ids) + b",["
        return [head, b",".join(items), b"]]"]

    def decode_loaded(self, body: bytes) -> Failed | None:
        """As in `Dialect`."""
        try:
            failure = _loaded_decoder.decode(body).failure
            return None if failure is None else self.failed(failure)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise WorkerLostError(
                f"answered to loading in another form: {str(error)[:200]}"
            ) from None

    def decode_results(self, body: bytes) -> list[ItemOutcome]:
        """As in `Dialect`."""
        try:
            outcomes = [
                ItemOutcome(self.outcome(kind, payload), output, duration_us)
                for kind, payload, output, duration_us in _results_decoder.decode(body)
            ]
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise WorkerLostError(f"sent results of another form: {str(error)[:200]}") from None
        if not outcomes:
            raise WorkerLostError("sent an answer without a result")
        return outcomes
