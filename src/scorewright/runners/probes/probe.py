"""One probe: a hostile evaluator, and what has to become of it.

A probe's `evaluate(x)` follows the convention `variables` and reports by its score: **1** means that it got
what it should not get, with the explanation "escaped: …", and is a failed probe whatever was expected; **0** means
that it noticed being refused, or found nothing. How else it may end is said by `Expect`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, assert_never

from scorewright.domain.result import Failed, FailureCode, Outcome, Scored, Skipped
from scorewright.domain.source_language import Language
from scorewright.runners.loss import FORBIDDEN_CALL, TAMPERED

CANARY: Final = "scorewright-canary-5f1d"
"""Known to the host, and to the neighbour that runs beside every probe; never written in a probe's source."""

_ESCAPED: Final = 1
_MAX_TEXT = 200
#: Enough to start, and to be seen not to end.
_SHORT_S: Final = 0.1
PATIENT_S: Final = 5.0
"""Time limit of probes that do not use it up."""


class Expect(StrEnum):
    """What every item of a probe must end as."""

    REFUSED = "refused"
    """The call raised: the code reported a score of 0, or failed by the exception."""

    CLEAN = "clean"
    """The code ran to its end and found nothing that it should not: a score of 0 and nothing else."""

    TIMES_OUT = "times out"
    """The item failed as `timeout`."""

    KILLED = "killed"
    """The kernel ended the worker for the system call it made (SIGSYS)."""

    DIES = "dies"
    """The worker is gone by the code's own doing, and the item says how."""

    FAILS = "fails"
    """The item failed by something the author did, such as an exception or a value that is no result."""

    TAMPERED = "tampered"
    """The host noticed that what the worker sent is not of the harness's making, and ended it."""

    CONTAINED = "contained"
    """No result came of it: refused, out of memory, out of time or dead, as the machine's mood has it."""

    HARMLESS = "harmless"
    """Anything, a result included: what counts is that nothing escaped and that all others live on."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A hostile evaluator with its verdict."""

    name: str
    family: str
    source: str
    expect: Expect
    #: How many items it is run on; each is a batch of its own.
    items: int = 1
    #: Time limit of one item.
    timeout_s: float = 0.3
    language: Language = "python"
    #: Whether it is one of Deno's own attempts (`deno/attempts.py`), made with every permission by its name alone.
    is_attempt: bool = False
    #: The layer that it takes to refuse this; where the machine cannot give that one, the probe is not tried.
    needs: str | None = None


def hurried(probes: Iterable[Probe], *names: str) -> tuple[Probe, ...]:
    """Return the probes of these names, for a check in which they are tried side by side.

    What uses up its time gets less of it. The others take no time to speak of, and get more: a machine that is busy
    must not be mistaken for one that is broken into.

    Raises:
        KeyError: Ours: none has this name.
    """
    by_name = {probe.name: probe for probe in probes}
    times = {Expect.TIMES_OUT: _SHORT_S, Expect.CONTAINED: _SHORT_S}
    return tuple(
        replace(probe, timeout_s=times.get(probe.expect, PATIENT_S))
        for probe in map(by_name.__getitem__, names)
    )


def judge(probe: Probe, outcomes: Sequence[Outcome]) -> tuple[bool, str]:
    """Tell whether a probe was contained as expected, and describe its first outcome that was not (or first)."""
    wrong = [outcome for outcome in outcomes if not _is_as_expected(outcome, probe.expect)]
    passed = not wrong and len(outcomes) == probe.items
    if not outcomes:
        return passed, "no outcome"
    text = describe(wrong[0] if wrong else outcomes[0])
    return passed, text if passed else f"{text} (expected: {probe.expect})"


def describe(outcome: Outcome) -> str:
    """Describe an outcome in one bounded line."""
    match outcome:
        case Scored():
            text = outcome.explanation or f"score {outcome.score}"
        case Skipped():
            text = f"skipped: {outcome.reason}"
        case Failed():
            kind = f"{outcome.type}: " if outcome.type else ""
            what, _, _advice = outcome.message.partition("; ")
            text = f"{outcome.code}: {kind}{what}"
        case _:
            assert_never(outcome)
    shown = "".join(each if each.isprintable() else " " for each in text[:_MAX_TEXT])
    line = " ".join(shown.split())
    return line if len(text) <= _MAX_TEXT else f"{line[: _MAX_TEXT - 1]}…"


def _is_as_expected(outcome: Outcome, expect: Expect) -> bool:
    if isinstance(outcome, Scored) and outcome.score == _ESCAPED:
        return False
    if _failed_as(outcome, FailureCode.SANDBOX_UNAVAILABLE):  # nothing has run that could be judged
        return False
    return _CRITERIA[expect](outcome)


def _is_zero(outcome: Outcome) -> bool:
    return isinstance(outcome, Scored) and outcome.score == 0


def _failed_as(outcome: Outcome, *codes: FailureCode) -> bool:
    return isinstance(outcome, Failed) and outcome.code in codes


def _raised(outcome: Outcome) -> bool:
    return _failed_as(outcome, FailureCode.AUTHOR_ERROR) and _type_of(outcome) is not None


def _type_of(outcome: Outcome) -> str | None:
    return outcome.type if isinstance(outcome, Failed) else None


def _message_of(outcome: Outcome) -> str:
    return outcome.message if isinstance(outcome, Failed) else ""


_CRITERIA: Final[dict[Expect, Callable[[Outcome], bool]]] = {
    Expect.REFUSED: lambda outcome: _is_zero(outcome) or _raised(outcome),
    Expect.CLEAN: _is_zero,
    Expect.TIMES_OUT: lambda outcome: _failed_as(outcome, FailureCode.TIMEOUT),
    Expect.KILLED: lambda outcome: _message_of(outcome) == FORBIDDEN_CALL,
    Expect.DIES: lambda outcome: (
        _failed_as(outcome, FailureCode.AUTHOR_ERROR) and _type_of(outcome) is None
    ),
    Expect.FAILS: lambda outcome: _failed_as(
        outcome, FailureCode.AUTHOR_ERROR, FailureCode.BAD_RETURN, FailureCode.OUTPUT_LIMIT
    ),
    Expect.TAMPERED: lambda outcome: _message_of(outcome).startswith(TAMPERED),
    Expect.CONTAINED: lambda outcome: _is_zero(outcome) or isinstance(outcome, Failed),
    Expect.HARMLESS: lambda _: True,
}
