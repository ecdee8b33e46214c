"""Puts the sources of probes together."""

from __future__ import annotations

import textwrap

from scorewright.runners.harness import protocol

#: A call is refused when it raises. An error of the system other than a plain no means that it looked.
_ATTEMPT = """\
import errno, os, sys

ANSWERS = errno.errorcode.keys() - {{errno.EPERM, errno.EACCES, errno.ENOSYS}}

def attempt():
{steps}

def evaluate(x):
    try:
        got = attempt()
    except Exception as error:
        if not isinstance(error, OSError) or error.errno not in ANSWERS:
            return {{"score": 0, "explanation": f"refused: {{type(error).__name__}}: {{error}}"[:200]}}
        got = error
    return {{"score": 1, "explanation": f"escaped: {{got!r}}"[:200]}}
"""

RESULT = '{"score": 0, "explanation": "went on"}'
"""What a probe returns that has nothing to report."""


def attempting(steps: str) -> str:
    """Return an evaluator that has escaped when `steps` (statements, or one expression) raise nothing."""
    body = textwrap.dedent(steps).strip("\n")
    if "\n" not in body and "return" not in body:
        body = f"return {body}"
    return _ATTEMPT.format(steps=textwrap.indent(body, "    "))


def evaluating(body: str) -> str:
    """Return an evaluator of these statements, which reports nothing when it comes to its end."""
    steps = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"def evaluate(x):\n{steps}\n    return {RESULT}\n"


def forging(*frames: bytes, then: str = "") -> str:
    """Return an evaluator that writes to the worker's socket behind the harness's back."""
    writes = "\n".join(f"os.write({protocol.SOCKET_FD}, {each!r})" for each in frames)
    return evaluating(f"import os\n{writes}\n{then}")


def frame(kind: bytes, body: bytes) -> bytes:
    """Return one frame as the protocol has it."""
    return protocol.HEADER.pack(kind, len(body)) + body
