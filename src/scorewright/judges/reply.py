"""What a model replied, read as a verdict or refused with a reason that the model is told.

Nothing is guessed: a reply holds exactly one JSON object with a `score`, a finite number inside the range, and an
`explanation`. A code fence, prose around it and thoughts before it are left out; a number in prose, in quotes, as a
fraction or in per cent is none. Where two objects could be the verdict, neither is.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from scorewright.domain.suggestion import quote

MAX_REPLY_CHARS: Final = 200_000
MAX_EXPLANATION_CHARS: Final = 20_000
_THOUGHTS: Final = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
#: How a verdict begins, whole or not.
_LIKE_VERDICT: Final = re.compile(r'\{\s*["\'](score|explanation)["\']\s*:')
_WANTED: Final = (
    'reply with one JSON object, {"explanation": text, "score": number}, and nothing else'
)
_MAX_OBJECTS: Final = 1_000


class Verdict(msgspec.Struct, frozen=True):
    """A score with its reason."""

    score: float
    explanation: str


class NoVerdictError(Exception):
    """A reply is no verdict; its text says why, and what to reply instead."""

    def __init__(self, said: str, *, explanation: str | None = None) -> None:
        #: What the model said in place of a score.
        self.explanation = explanation
        super().__init__(said)


class _DuplicateKeyError(ValueError):
    """A key stands in an object twice."""


def read_reply(text: str, score_range: tuple[float, float]) -> Verdict:
    """Read a verdict.

    Args:
        text: All that the model wrote.
        score_range: Lowest and highest score; a score outside is refused, never moved into it.

    Raises:
        NoVerdictError: It is none.
    """
    if len(text) > MAX_REPLY_CHARS:
        raise NoVerdictError(f"the reply has {len(text):,} characters; {_WANTED}")
    if not text.strip():
        raise NoVerdictError(f"the reply is empty; {_WANTED}")
    found = list(_verdict_objects(_THOUGHTS.sub("", text)))
    if not found:
        raise NoVerdictError(f"the reply {quote(text.strip())} holds no verdict; {_WANTED}")
    if len(found) > 1:
        raise NoVerdictError(
            f"the reply holds {len(found)} verdicts, and none can be told to be the right one; {_WANTED}"
        )
    return _checked(found[0], score_range)


def _verdict_objects(text: str) -> Iterator[dict[str, Any]]:
    """Find the objects with a verdict's keys; raises where one is begun that cannot be read."""
    decoder = json.JSONDecoder(
        strict=False, object_pairs_hook=_pairs, parse_constant=_refuse_constant
    )
    at = 0
    for _ in range(_MAX_OBJECTS):
        at = text.find("{", at)
        if at < 0:
            return
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            if _LIKE_VERDICT.match(text, at):
                raise NoVerdictError(
                    f"the reply holds a verdict that is no JSON ({_reason(error)}); {_WANTED}"
                ) from None
            at += 1
            continue
        at = end
        if "score" in value or "explanation" in value:
            yield value
    raise NoVerdictError(f"the reply holds too many braces to find a verdict in it; {_WANTED}")


def _checked(value: dict[str, Any], score_range: tuple[float, float]) -> Verdict:
    explanation = value.get("explanation")
    said = explanation if isinstance(explanation, str) else None
    if "score" not in value:
        raise NoVerdictError(f"the verdict has no score; {_WANTED}", explanation=said)
    score = value["score"]
    if isinstance(score, bool) or not isinstance(score, int | float):
        shown = json.dumps(score, ensure_ascii=False, default=str)
        raise NoVerdictError(f"the score {quote(shown)} is no number; {_WANTED}", explanation=said)
    low, high = score_range
    number = _float(score)
    if number is None or not low <= number <= high:
        shown = str(score)
        raise NoVerdictError(
            f"the score {quote(shown)} is not from {low:g} to {high:g}; {_WANTED}", explanation=said
        )
    if said is None or not said.strip():
        raise NoVerdictError(f"the verdict has no explanation; {_WANTED}")
    return Verdict(number, said[:MAX_EXPLANATION_CHARS])


def _float(score: float) -> float | None:
    try:
        number = float(score)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _DuplicateKeyError("a key stands in it twice")
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _reason(error: Exception) -> str:
    message = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return message[:120].lower()
