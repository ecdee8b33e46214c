"""Attack the sandbox with the shipped probes and say, for each, whether it was contained.

The probes take the path of every evaluator: a session, a worker of its own, the same limits. Beside each of
them a neighbour, another evaluator in a worker of its own, has to answer: a probe that is contained but takes
its neighbour along has not been contained.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.errors import EvaluatorError, SandboxUnavailableError
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Outcome, Scored
from scorewright.domain.source_language import Language
from scorewright.runners.base import Limits, Runner
from scorewright.runners.deno.attempt_runner import AttemptRunner
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.probes import SUITES, Suite
from scorewright.runners.probes.probe import CANARY, Probe, describe, judge
from scorewright.runners.session import Session

#: Enough for the interpreter, and soon used up.
_MEMORY_MB: Final = 64
_NEIGHBOUR_TIMEOUT_S: Final = 10.0
_TICK_MS: Final = 20
_LOST: Final = "the sandbox itself was lost"
_PYTHON_NEIGHBOUR: Final = f"""\
KEPT = {CANARY!r}

def evaluate(x):
    return {{"score": x, "explanation": "here"}}
"""
_JAVASCRIPT_NEIGHBOUR: Final = f"""\
const KEPT = "{CANARY}";

function evaluate(x) {{
  return {{ score: x, explanation: "here" }};
}}
"""
_NEIGHBOURS: Final[dict[Language, str]] = {
    "python": _PYTHON_NEIGHBOUR,
    "javascript": _JAVASCRIPT_NEIGHBOUR,
    "typescript": _JAVASCRIPT_NEIGHBOUR,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one probe."""

    probe: Probe
    passed: bool
    #: One bounded line for people.
    outcome: str
    duration_ms: float


class SelfCheck:
    """Tries probes against one runner, which stays the caller's to close; the neighbour lives as long as this does.

    Raises:
        SandboxUnavailableError: The runner has no sandbox, or the machine cannot give it.
    """

    def __init__(self, runner: Runner) -> None:
        suite = SUITES.get(runner.tier)
        if suite is None or not runner.jailed:
            raise SandboxUnavailableError(
                f"{runner.tier} is no sandbox: the probes would run with your own rights"
            )
        self.suite: Suite = suite
        self._runner = runner
        neighbour = _NEIGHBOURS[suite.language]
        self._neighbour = _session(runner, neighbour, suite.language, _NEIGHBOUR_TIMEOUT_S)
        self._greetings = 0
        self._neighbour.start()

    def try_all(self, probes: Iterable[Probe], *, at_once: int = 1) -> Iterator[Verdict]:
        """Try probes in order, those left out that this machine cannot have contained.

        Args:
            probes: Any number of them.
            at_once: How many to try side by side.

        Yields:
            A verdict as soon as it is known.
        """
        report = self._runner.report()
        layers = () if report is None else report.layers
        todo = [probe for probe in probes if probe.needs is None or probe.needs in layers]
        for start in range(0, len(todo), at_once):
            yield from self._try_together(todo[start : start + at_once])

    def try_probe(self, probe: Probe) -> Verdict:
        """Run one probe to its end, while the neighbour answers."""
        return self._try_together([probe])[0]

    def close(self) -> None:
        """End the neighbour."""
        self._neighbour.close()

    def _try_together(self, probes: Sequence[Probe]) -> list[Verdict]:
        began_s = time.monotonic()
        attacks = [self._open(probe) for probe in probes]
        neighbour = _Conversation(self._neighbour)
        self._greetings += 1
        try:
            neighbour.submit([self._greetings])
            for probe, attack in zip(probes, attacks, strict=True):
                attack.submit(range(1, probe.items + 1))
            longest_s = max(probe.items * probe.timeout_s for probe in probes)
            _converse([*attacks, neighbour], began_s + longest_s + self.suite.patience_s)
        finally:
            for attack in attacks:
                attack.close()
        suffering = neighbour.suffering(self._greetings)
        return [
            _verdict(probe, attack, suffering, (attack.ended_s - began_s) * 1000)
            for probe, attack in zip(probes, attacks, strict=True)
        ]

    def _open(self, probe: Probe) -> _Conversation:
        runner = self._runner
        if probe.is_attempt and isinstance(runner, DenoRunner):
            runner = AttemptRunner(runner, probe.name)
        try:
            return _Conversation(_session(runner, probe.source, probe.language, probe.timeout_s))
        except EvaluatorError as error:  # its text is refused before it comes to a worker
            return _Conversation(None, Failed(FailureCode.AUTHOR_ERROR, str(error)))
        except SandboxUnavailableError as error:
            return _Conversation(None, lost=f"{_LOST}: {error}")


class _Conversation:
    """What was answered in a session; that the sandbox is lost is noted, since others go on.

    Args:
        session: None where it did not come to one.
        outcomes: What it came to instead.
        lost: Why it did not come to anything.
    """

    def __init__(
        self, session: Session | None, *outcomes: Outcome, lost: str | None = None
    ) -> None:
        self.session = session
        self.outcomes = list(outcomes)
        self.lost = lost
        self.ended_s = time.monotonic()

    @property
    def is_open(self) -> bool:
        """Whether more is to be answered."""
        return self.lost is None and self.session is not None and self.session.batches_in_flight > 0

    def submit(self, numbers: Iterable[int]) -> None:
        """Send each number as a batch of its own."""
        if self.session is not None:
            for number in numbers:
                item = b'{"x": %d}' % number
                self._hear(partial(self.session.submit, number, [str(number)], [item]))

    def react(self, event: int) -> None:
        """Do what poll says can be done."""
        if self.session is None or self.session.worker is None:
            return
        if event & select.POLLOUT:
            self.session.worker.flush()
        if event & ~select.POLLOUT:
            self._hear(self.session.receive)

    def check_time(self, now_s: float) -> None:
        """End the worker if it has been at one item for too long."""
        if self.session is not None and self.is_open:
            self._hear(partial(self.session.check_time, now_s))

    def suffering(self, greeting: int) -> str | None:
        """Say what is wrong with a neighbour that was sent this greeting, if anything is."""
        if self.lost is None and self.outcomes == [Scored(float(greeting), None, {}, "here")]:
            return None
        said = self.lost or (describe(self.outcomes[0]) if self.outcomes else "nothing")
        return f"its neighbour answered {said}"

    def close(self) -> None:
        """End the worker."""
        if self.session is not None:
            self.session.close()

    def _hear(self, answers: Callable[[], list[tuple[int, list[ItemOutcome]]]]) -> None:
        try:
            self.outcomes += [item.outcome for _, items in answers() for item in items]
        except SandboxUnavailableError as error:
            self.lost = f"{_LOST}: {error}"
        self.ended_s = time.monotonic()


def _converse(conversations: Sequence[_Conversation], deadline_s: float) -> None:
    """Let all of them go on until none is open, or it takes too long."""
    while still_open := [each for each in conversations if each.is_open]:
        if time.monotonic() > deadline_s:
            for each in still_open:
                each.lost = "it was still not ended when patience was"
            return
        poll = select.poll()
        by_descriptor: dict[int, _Conversation] = {}
        for each in still_open:
            worker = each.session.worker if each.session else None
            if worker is not None:
                write = select.POLLOUT if worker.wants_to_write else 0
                poll.register(worker.fileno(), select.POLLIN | write)
                by_descriptor[worker.fileno()] = each
        for descriptor, event in poll.poll(_TICK_MS):
            by_descriptor[descriptor].react(event)
        for each in still_open:
            each.check_time(time.monotonic())


def _verdict(
    probe: Probe, attack: _Conversation, suffering: str | None, duration_ms: float
) -> Verdict:
    passed, text = judge(probe, attack.outcomes)
    for wrong in (attack.lost, suffering):
        if wrong is not None:
            passed, text = False, wrong
    return Verdict(probe, passed, text, duration_ms)


def _session(runner: Runner, source: str, language: Language, timeout_s: float) -> Session:
    limits = Limits(timeout_s=timeout_s, memory_mb=_MEMORY_MB)
    load = Load(
        source=source,
        language=language,
        filename="probe",
        convention=Convention.VARIABLES,
        plan=(Argument(name="x", how="field", paths=(("x",),)),),
        score_range=None,
        threshold=None,
        clock_s=0.0,
        seed="probe",
        uses_entropy=False,
        timeout_s=timeout_s,
        max_output_bytes=limits.max_output_bytes,
    )
    return Session(runner, load, limits)
