"""How Python's harness in a remote sandbox is spoken to (`inside/python_worker.py`)."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from scorewright.authoring.eval_result import put_together
from scorewright.domain.result import Failed, FailureCode, Outcome
from scorewright.domain.returned import expected_of
from scorewright.runners.harness import protocol
from scorewright.runners.harness.worker import time_limit_failure
from scorewright.runners.json_dialect import MAX_MESSAGE, MAX_TYPE, JsonDialect

_EVAL_RESULT: Final = 2
#: Twelve frames at their longest, and the message.
_MAX_TRACEBACK: Final = 6_000


class _Load(msgspec.Struct, frozen=True):
    """All that the harness needs to know of one evaluator in one run."""

    source: str
    filename: str
    plan: Any
    #: What the funnel takes, as the harness has to tell of values that JSON has no word for.
    takes: list[str]
    wanted: str
    seed: str
    uses_entropy: bool
    fresh_namespace: bool
    timeout_s: float
    max_output_bytes: int


class _Failure(msgspec.Struct, frozen=True):
    """What the harness says of an item without a value."""

    code: Literal[
        "author_error", "bad_return", "mapping_error", "out_of_memory", "output_limit", "timeout"
    ]
    message: str
    type: str | None
    line: int | None
    traceback: str | None


class RemotePythonDialect(JsonDialect):
    """JSON both ways, with a kind of its own for `EvalResult`.

    Args:
        load: The evaluator.
    """

    #: The worker's own timer comes first.
    grace_s = 0.5

    def __init__(self, load: protocol.Load) -> None:
        super().__init__(load)
        self._takes, self._wanted = expected_of(load.convention)

    def encode_load(self) -> bytes:
        """As in `Dialect`."""
        load = self.load
        return msgspec.json.encode(
            _Load(
                source=load.source,
                filename=load.filename,
                plan=load.plan,
                takes=self._takes,
                wanted=self._wanted,
                seed=load.seed,
                uses_entropy=load.uses_entropy,
                fresh_namespace=load.fresh_namespace,
                timeout_s=load.timeout_s,
                max_output_bytes=load.max_output_bytes,
            )
        )

    def outcome(self, kind: int, payload: Any) -> Outcome:
        """As in `JsonDialect`."""
        if kind == _EVAL_RESULT:
            return self.interpret(put_together(msgspec.convert(payload, dict[str, Any])))
        return super().outcome(kind, payload)

    def failed(self, payload: Any) -> Failed:
        """As in `JsonDialect`."""
        failure = msgspec.convert(payload, _Failure)
        if failure.code == "timeout":
            return time_limit_failure(self.load.timeout_s, failure.line)
        return Failed(
            FailureCode(failure.code),
            failure.message[:MAX_MESSAGE],
            type=None if failure.type is None else failure.type[:MAX_TYPE],
            line=failure.line,
            traceback=None if failure.traceback is None else failure.traceback[:_MAX_TRACEBACK],
        )
