"""What a worker sent, decoded and checked: nothing gets past here that the harness would not send.

The author's code can write to the worker's socket, so every frame may be forged. A forgery may give its author
wrong results for the author's own items; it must not cost the host memory, time or an exception, nor bring in
values that storage has no place for.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec

from scorewright.domain.json_copy import MAX_DEPTH, MAX_INT, MAX_RESULT_BYTES, MIN_INT, VALUE_BYTES
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Scored
from scorewright.runners.harness.protocol import Loaded
from scorewright.runners.process import WorkerLostError

#: Those that only the host may give: whoever retries failures of ours must not be led on by an author.
_HOST_CODES = frozenset(
    {FailureCode.SANDBOX_UNAVAILABLE, FailureCode.JUDGE_ERROR, FailureCode.CANCELLED}
)
#: Values that the largest result has, keys not counted.
_MAX_VALUES = MAX_RESULT_BYTES // VALUE_BYTES
_MAX_FLOAT = 1.7976931348623157e308


def _refuse_extension(code: int, _data: memoryview) -> object:
    raise msgspec.DecodeError(f"an extension type ({code})")


_results_decoder = msgspec.msgpack.Decoder(list[ItemOutcome], ext_hook=_refuse_extension)
_loaded_decoder = msgspec.msgpack.Decoder(Loaded)


def decode_results(body: bytes) -> list[ItemOutcome]:
    """Return the outcomes of one frame, at least one.

    Raises:
        WorkerLostError: No harness sends this.
    """
    try:
        outcomes = _results_decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise WorkerLostError(f"sent results of another form: {str(error)[:200]}") from None
    if not outcomes:
        raise WorkerLostError("sent an answer without a result")
    # Most outcomes are a score and no metrics: all there is to check of them, the decoder has checked.
    rest = [o for item in outcomes if type(o := item.outcome) is not Scored or o.metrics]
    for outcome in rest:
        if type(outcome) is Scored:
            _check_metrics(outcome.metrics)
        elif type(outcome) is Failed and outcome.code in _HOST_CODES:
            raise WorkerLostError(f"claimed {outcome.code}, which is not for it to say")
    return outcomes


def decode_loaded(body: bytes) -> Failed | None:
    """Return why the evaluator could not be loaded; None when it was.

    Raises:
        WorkerLostError: No harness sends this.
    """
    try:
        failure = _loaded_decoder.decode(body).failure
    except (msgspec.DecodeError, RecursionError) as error:
        raise WorkerLostError(f"answered to loading in another form: {str(error)[:200]}") from None
    if failure is not None and failure.code in _HOST_CODES:
        raise WorkerLostError(f"claimed {failure.code}, which is not for it to say")
    return failure


def _check_metrics(metrics: dict[str, Any]) -> None:
    """Refuse what is no JSON, such as NaN, bytes or keys that are no text: MessagePack has all of these."""
    left = _MAX_VALUES
    level: list[Any] = list(metrics.values())
    for _ in range(MAX_DEPTH + 1):
        left -= len(level)
        if left < 0:
            raise WorkerLostError(f"sent a metric of more than {_MAX_VALUES:,} values")
        nested: list[Any] = []
        for value in level:
            kind = type(value)  # pyright: ignore[reportUnknownVariableType] - JSON, if all is well
            if kind is float:
                sound = -_MAX_FLOAT <= value <= _MAX_FLOAT
            elif kind is int:
                sound = MIN_INT <= value <= MAX_INT
            elif kind is list:
                sound = True
                nested += value
            elif kind is dict:
                sound = all(type(key) is str for key in cast("dict[object, object]", value))
                nested += value.values()
            else:
                sound = value is None or kind is bool or kind is str
            if not sound:
                raise WorkerLostError("sent a metric that is not JSON")
        if not nested:
            return
        level = nested
    raise WorkerLostError(f"sent a metric nested deeper than {MAX_DEPTH} levels")
