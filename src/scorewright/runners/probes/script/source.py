"""Puts the sources of probes in JavaScript together."""

from __future__ import annotations

import textwrap
from typing import Final

from scorewright.runners.probes.probe import Expect, Probe

#: What a call throws, or the promise that it returns is rejected with, refuses it. A promise that nothing ever comes of does as well.
_ATTEMPT: Final = """\
async function attempt() {
%s
}

async function evaluate(x) {
  let end;
  const silence = new Promise((_, no) => { end = setTimeout(() => no(new Error("nothing came of it")), 1); });
  try {
    const got = await Promise.race([attempt(), silence]);
    clearTimeout(end);
    if (got === undefined) throw new Error("nothing is there");
    return { score: 1, explanation: `escaped: ${String(got)}`.slice(0, 200) };
  } catch (error) {
    return { score: 0, explanation: `refused: ${error}`.slice(0, 200) };
  }
}
"""

RESULT: Final = '{ score: 0, explanation: "went on" }'
"""What a probe returns that has nothing to report."""


def attempting(steps: str) -> str:
    """Return an evaluator that has escaped when `steps` (statements, or one expression) come to a value.

    No value, or none worth the name, is a refusal as well: what is not there is `undefined`.
    """
    body = textwrap.dedent(steps).strip("\n")
    if "return" not in body and "throw" not in body:
        body = f"return {body}"
    return _ATTEMPT % textwrap.indent(body, "  ")


def evaluating(body: str) -> str:
    """Return an evaluator of these statements, which reports nothing when it comes to its end."""
    steps = textwrap.indent(textwrap.dedent(body).strip("\n"), "  ")
    return f"function evaluate(x) {{\n{steps}\n  return {RESULT};\n}}\n"


def waiting(body: str) -> str:
    """Return an asynchronous evaluator of these statements."""
    return f"async {evaluating(body)}"


def escaped(what: str) -> str:
    """Return a statement that reports an escape, with the value of an expression."""
    return f"return {{ score: 1, explanation: `escaped: ${{String({what})}}`.slice(0, 200) }};"


def probe(  # noqa: PLR0913 - what a probe consists of
    name: str, family: str, source: str, expect: Expect, *, items: int = 1, timeout_s: float = 0.3
) -> Probe:
    """Return a probe in JavaScript."""
    return Probe(
        name, family, source, expect, items=items, timeout_s=timeout_s, language="javascript"
    )
