"""Attack the sandbox with the shipped probes and say, for each, whether it was contained.

The probes take the path of every evaluator: a session, a worker of its own, the same limits. Beside each of
them a neighbour, another evaluator in a worker of its own, has to answer: a probe that is contained but takes
its neighbour along has not been contained.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from scorewright.domain.binding import Argument
from scorewright.domain.convention import Convention
from scorewright.domain.errors import SandboxUnavailableError
from scorewright.domain.result import ItemOutcome, Outcome, Scored
from scorewright.runners.base import Limits, Runner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.probes import ALL, Probe
from scorewright.runners.probes.isolation import CANARY
from scorewright.runners.probes.probe import describe, judge
from scorewright.runners.session import Session

#: Enough for the interpreter, and soon used up.
_MEMORY_MB: Final = 64
#: What a probe may take on top of its items' time limits: starting, ending, a machine under load.
_PATIENCE_S: Final = 15.0
_NEIGHBOUR_TIMEOUT_S: Final = 10.0
_TICK_MS: Final = 20
_NEIGHBOUR_SOURCE: Final = f"""\
KEPT = {CANARY!r}

def evaluate(x):
    return {{"score": x, "explanation": "here"}}
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one probe."""

    probe: Probe
    passed: bool
    #: One bounded line for people.
    outcome: str
    duration_ms: float


def run_probes(
    make_runner: Callable[[], Runner], probes: Sequence[Probe] = ALL
) -> Iterator[Verdict]:
    """Try probes one after the other.

    Args:
        make_runner: Called once; the runner is closed at the end.
        probes: In this order.

    Yields:
        A verdict as soon as it is known.

    Raises:
        SandboxUnavailableError: The runner has no sandbox, or the machine cannot give it.
    """
    runner = make_runner()
    try:
        check = SelfCheck(runner)
        try:
            for probe in probes:
                yield check.try_probe(probe)
        finally:
            check.close()
    finally:
        runner.close()


class SelfCheck:
    """Tries probes against one runner; the neighbour lives as long as this does.

    Raises:
        SandboxUnavailableError: The runner has no sandbox, or the machine cannot give it.
    """

    def __init__(self, runner: Runner) -> None:
        if not runner.jailed:
            raise SandboxUnavailableError(
                f"{runner.tier} is no sandbox: the probes would run with your own rights"
            )
        self._runner = runner
        self._neighbour = _session(runner, _NEIGHBOUR_SOURCE, _NEIGHBOUR_TIMEOUT_S)
        self._greetings = 0
        self._neighbour.start()

    def try_probe(self, probe: Probe) -> Verdict:
        """Run one probe to its end, while the neighbour answers."""
        began_s = time.monotonic()
        attacker = _session(self._runner, probe.source, probe.timeout_s)
        try:
            passed, text = self._watch(probe, attacker)
        except SandboxUnavailableError as error:
            passed, text = False, f"the sandbox itself was lost: {error}"
        finally:
            attacker.close()
        return Verdict(probe, passed, text, (time.monotonic() - began_s) * 1000)

    def close(self) -> None:
        """End the neighbour."""
        self._neighbour.close()

    def _watch(self, probe: Probe, attacker: Session) -> tuple[bool, str]:
        self._greetings += 1
        greeting = self._greetings
        outcomes = _submit(attacker, list(range(1, probe.items + 1)))
        answers = _submit(self._neighbour, [greeting])
        deadline = time.monotonic() + probe.items * probe.timeout_s + _PATIENCE_S
        while attacker.batches_in_flight or self._neighbour.batches_in_flight:
            if time.monotonic() > deadline:
                return False, "it was still not ended when patience was"
            for session, taken in _exchange(attacker, self._neighbour):
                (outcomes if session is attacker else answers).extend(taken)
        passed, text = judge(probe, [item.outcome for item in outcomes])
        if not _is_well(answers, greeting):
            said = describe(answers[0].outcome) if answers else "nothing"
            return False, f"its neighbour answered {said}"
        return passed, text


def _is_well(answers: list[ItemOutcome], greeting: int) -> bool:
    outcomes: list[Outcome] = [item.outcome for item in answers]
    return outcomes == [Scored(float(greeting), None, {}, "here")]


def _session(runner: Runner, source: str, timeout_s: float) -> Session:
    limits = Limits(timeout_s=timeout_s, memory_mb=_MEMORY_MB)
    load = Load(
        source=source,
        filename="probe.py",
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


def _submit(session: Session, numbers: list[int]) -> list[ItemOutcome]:
    """Send each number as a batch of its own; returns what is answered already."""
    answered: list[ItemOutcome] = []
    for number in numbers:
        for _, outcomes in session.submit(number, [str(number)], [b'{"x": %d}' % number]):
            answered += outcomes
    return answered


def _exchange(*sessions: Session) -> Iterator[tuple[Session, list[ItemOutcome]]]:
    """Wait a little for any of the sessions' workers, and hand out what they answered."""
    poll = select.poll()
    busy: dict[int, Session] = {}
    for session in sessions:
        worker = session.worker
        if worker is not None and session.batches_in_flight:
            write = select.POLLOUT if worker.wants_to_write else 0
            poll.register(worker.fileno(), select.POLLIN | write)
            busy[worker.fileno()] = session
    for descriptor, event in poll.poll(_TICK_MS):
        session = busy[descriptor]
        if event & select.POLLOUT and session.worker is not None:
            session.worker.flush()
        if event & ~select.POLLOUT:
            for _, outcomes in session.receive():
                yield session, outcomes
    for session in busy.values():
        for _, outcomes in session.check_time(time.monotonic()):
            yield session, outcomes
