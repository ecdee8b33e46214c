"""How Deno's harness is spoken to: JSON, with values that go through the same funnel as Python's, on the host.

The author's code runs in the worker, so every answer may be forged, as in `reply`: it is decoded into typed
values, and a failure may only say what the harness can know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from scorewright.domain.result import DurationUs, Failed, FailureCode, ItemOutcome, Outcome
from scorewright.domain.returned import Reading, make_interpreter
from scorewright.domain.script_module import as_factory_body
from scorewright.runners.harness import protocol
from scorewright.runners.loss import OUT_OF_MEMORY, RESULT_TOO_LARGE
from scorewright.runners.process import WorkerLostError

#: What frames of the author's file are called in there: a path could hold anything.
_FILENAME: Final = "evaluator.js"
_VALUE: Final = 0
_USUAL_KEYS: Final = {"score", "explanation"}
_MAX_MESSAGE: Final = 600
_MAX_TYPE: Final = 160
_MAX_LINE_CHARS: Final = 160


class _Load(msgspec.Struct, frozen=True):
    """All that the harness needs to know of one evaluator in one run."""

    source: str
    filename: str
    plan: Any
    clock_s: float
    seed: str
    uses_entropy: bool
    max_output_bytes: int


class _Failure(msgspec.Struct, frozen=True):
    """What the harness says of an item without a value."""

    code: Literal["author_error", "bad_return", "mapping_error", "out_of_memory", "output_limit"]
    message: str
    type: str | None
    #: Line and function, in the author's file only, innermost first.
    frames: list[tuple[int, str]]


class _Loaded(msgspec.Struct, frozen=True):
    failure: _Failure | None


_Result = tuple[Literal[0, 1], Any, str, DurationUs]
_results_decoder = msgspec.json.Decoder(list[_Result])
_loaded_decoder = msgspec.json.Decoder(_Loaded)


class DenoDialect:
    """JSON both ways; items go through the socket.

    Args:
        load: The evaluator.
        javascript: Its source as JavaScript.
        lines: For each line of that the author's line, from 1; None where they are the same ones.

    Raises:
        EvaluatorError: The author's: the source takes too long to parse.
    """

    #: Only the host looks at the clock.
    grace_s = 0.0

    def __init__(
        self, load: protocol.Load, javascript: str, lines: Sequence[int] | None = None
    ) -> None:
        self._load = load
        self._body = as_factory_body(javascript)
        self._author_lines = lines
        self._lines = load.source.split("\n")
        self._interpret = make_interpreter(
            Reading(
                convention=load.convention,
                score_range=load.score_range,
                threshold=load.threshold,
            )
        )

    def encode_load(self) -> bytes:
        """As in `Dialect`."""
        load = self._load
        return msgspec.json.encode(
            _Load(
                source=self._body,
                filename=_FILENAME,
                plan=load.plan,
                clock_s=load.clock_s or 0.0,
                seed=load.seed,
                uses_entropy=load.uses_entropy,
                max_output_bytes=load.max_output_bytes,
            )
        )

    def encode_batch(self, item_ids: Sequence[str], items: Sequence[bytes]) -> Sequence[bytes]:
        """As in `Dialect`: `[[id, …], [item, …]]`, of which the items are JSON already."""
        head = b"[" + msgspec.json.encode(item_ids) + b",["
        return [head, b",".join(items), b"]]"]

    def decode_loaded(self, body: bytes) -> Failed | None:
        """As in `Dialect`."""
        try:
            failure = _loaded_decoder.decode(body).failure
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise WorkerLostError(
                f"answered to loading in another form: {str(error)[:200]}"
            ) from None
        return None if failure is None else self._failed(failure)

    def decode_results(self, body: bytes) -> list[ItemOutcome]:
        """As in `Dialect`."""
        try:
            results = _results_decoder.decode(body)
            outcomes = [
                ItemOutcome(self._outcome(kind, payload), output, duration_us)
                for kind, payload, output, duration_us in results
            ]
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise WorkerLostError(f"sent results of another form: {str(error)[:200]}") from None
        if not outcomes:
            raise WorkerLostError("sent an answer without a result")
        return outcomes

    def _outcome(self, kind: int, payload: Any) -> Outcome:
        if kind == _VALUE:
            returned: Any = payload  # stays so, whatever is asked about it
            if type(payload) is dict and returned.keys() == _USUAL_KEYS:
                # The funnel knows these two by identity: with our own it needs a third of the time.
                score, explanation = returned["score"], returned["explanation"]
                return self._interpret({"score": score, "explanation": explanation})
            return self._interpret(returned)
        return self._failed(msgspec.convert(payload, _Failure))

    def _failed(self, failure: _Failure) -> Failed:
        code = FailureCode(failure.code)
        message = failure.message[:_MAX_MESSAGE]
        if code is FailureCode.OUT_OF_MEMORY:
            message = OUT_OF_MEMORY
        elif code is FailureCode.OUTPUT_LIMIT:
            message = RESULT_TOO_LARGE
        if code is not FailureCode.AUTHOR_ERROR:
            return Failed(code, message)
        name = None if failure.type is None else failure.type[:_MAX_TYPE]
        frames = [(self._author_line(line), called) for line, called in failure.frames if line > 0]
        shown = [self._show(line, called) for line, called in reversed(frames)]
        return Failed(
            code,
            message,
            type=name,
            line=frames[0][0] if frames else None,
            traceback="\n".join([*shown, f"{name}: {message}" if name else message])
            if frames
            else None,
        )

    def _author_line(self, line: int) -> int:
        known = self._author_lines
        return line if known is None or line > len(known) else known[line - 1]

    def _show(self, line: int, called: str) -> str:
        text = self._lines[line - 1].strip() if line <= len(self._lines) else ""
        name = called[:_MAX_LINE_CHARS] or "(anonymous)"
        return f"  line {line}, in {name}\n    {text[:_MAX_LINE_CHARS]}"
