"""How the harness for JavaScript is spoken to, in Deno and anywhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from scorewright.domain.result import Failed, FailureCode
from scorewright.domain.script_module import as_factory_body
from scorewright.runners.harness import protocol
from scorewright.runners.json_dialect import MAX_MESSAGE, MAX_TYPE, JsonDialect
from scorewright.runners.loss import OUT_OF_MEMORY, RESULT_TOO_LARGE

#: What frames of the author's file are called in there: a path could hold anything.
_FILENAME: Final = "evaluator.js"
_MAX_LINE_CHARS: Final = 160
#: What browsers and servers have, and the language has not.
_FOREIGN: Final = frozenset(
    "fetch XMLHttpRequest WebSocket EventSource process Deno require Worker Buffer navigator localStorage "
    "sessionStorage crypto WebAssembly SharedArrayBuffer Atomics performance window document global".split()
)
_LANGUAGE_ALONE: Final = "the sandbox has the language alone: no network, files, processes or threads; put what the code needs into the item"


class _Load(msgspec.Struct, frozen=True):
    """All that the harness needs to know of one evaluator in one run."""

    source: str
    filename: str
    plan: Any
    clock_s: float
    seed: str
    max_output_bytes: int


class _Failure(msgspec.Struct, frozen=True):
    """What the harness says of an item without a value."""

    code: Literal["author_error", "bad_return", "mapping_error", "out_of_memory", "output_limit"]
    message: str
    type: str | None
    #: Line and function, in the author's file only, innermost first.
    frames: list[tuple[int, str]]


class ScriptDialect(JsonDialect):
    """The harness is `worker.mjs`; items go through the socket.

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
        super().__init__(load)
        self._body = as_factory_body(javascript)
        self._author_lines = lines
        self._lines = load.source.split("\n")

    def encode_load(self) -> bytes:
        """As in `Dialect`."""
        load = self.load
        return msgspec.json.encode(
            _Load(
                source=self._body,
                filename=_FILENAME,
                plan=load.plan,
                clock_s=load.clock_s or 0.0,
                seed=load.seed,
                max_output_bytes=load.max_output_bytes,
            )
        )

    def failed(self, payload: Any) -> Failed:
        """As in `JsonDialect`."""
        failure = msgspec.convert(payload, _Failure)
        code = FailureCode(failure.code)
        message = failure.message[:MAX_MESSAGE]
        if code is FailureCode.OUT_OF_MEMORY:
            message = OUT_OF_MEMORY
        elif code is FailureCode.OUTPUT_LIMIT:
            message = RESULT_TOO_LARGE
        if code is not FailureCode.AUTHOR_ERROR:
            return Failed(code, message)
        name = None if failure.type is None else failure.type[:MAX_TYPE]
        if name == "ReferenceError" and message.removesuffix(" is not defined") in _FOREIGN:
            message = f"{message}; {_LANGUAGE_ALONE}"
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
