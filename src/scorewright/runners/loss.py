"""Say what became of a worker that ended without answering, as a failure of the item it was at."""

from __future__ import annotations

import signal
from typing import Final

from scorewright.domain.result import Failed, FailureCode
from scorewright.runners.harness.worker import HARNESS_BROKE
from scorewright.runners.process import CLOSED

TAMPERED: Final = "the code tampered with the sandbox's connection"
FORBIDDEN_CALL: Final = (
    "the code made a system call for which the sandbox ends the process (SIGSYS)"
)
_HARNESS_BROKE_STATUS = HARNESS_BROKE << 8
_ENDED_BY_SIGNAL = 0x7F
#: What V8 and Deno say when there is no memory left.
_NO_MEMORY: Final = ("out of memory", "memory allocation", "allocation failed", "heap limit")
RESULT_TOO_LARGE: Final = "the result is too large to be sent; return less"
OUT_OF_MEMORY: Final = "the code needed more memory than it may have; use less or raise --memory-mb"


def describe_loss(reason: str, status: int | None, last_words: str = "") -> Failed:
    """Return the failure.

    Args:
        reason: What the worker did.
        status: As waitpid gives it; None when it could not be learnt.
        last_words: What its runtime said.
    """
    code = FailureCode.AUTHOR_ERROR
    if status is None or reason != CLOSED:
        text = f"{TAMPERED}: the worker {reason}"
    elif any(words in last_words.lower() for words in _NO_MEMORY):
        code, text = FailureCode.OUT_OF_MEMORY, OUT_OF_MEMORY
    elif status == signal.SIGSYS:
        text = FORBIDDEN_CALL
    elif status == signal.SIGKILL:
        code, text = FailureCode.OUT_OF_MEMORY, "the process was killed, most likely for its memory"
    elif status & _ENDED_BY_SIGNAL:
        name = signal.strsignal(status & _ENDED_BY_SIGNAL)
        text = f"the code crashed the interpreter ({name})"
    elif status == _HARNESS_BROKE_STATUS:
        text = "the code damaged the interpreter it runs in, so that no result could be read"
    else:
        text = f"the code ended its process (exit code {status >> 8}) without returning a result"
    return Failed(code, text)
