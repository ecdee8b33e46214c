"""One result as it is stored, exported and printed: flat, with names fixed by docs/reference/results.md."""

from __future__ import annotations

from typing import assert_never

import msgspec

from scorewright.domain.json_value import JsonValue
from scorewright.domain.result import Failed, FailureCode, ItemOutcome, Outcome, Scored, Skipped

_NO_METRICS: dict[str, JsonValue] = {}


class FailureRecord(msgspec.Struct, frozen=True):
    """Why there is no result."""

    code: FailureCode
    type: str | None
    message: str
    line: int | None
    traceback: str | None


class ResultRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one evaluator version on one item. Unknown is null; numbers stay numbers."""

    item_id: str
    evaluator: str
    version: int
    #: scored, skipped or failed.
    status: str
    score: float | None = None
    normalised_score: float | None = None
    passed: bool | None = None
    metrics: dict[str, JsonValue] = {}
    explanation: str | None = None
    #: Why the item was skipped.
    reason: str | None = None
    failure: FailureRecord | None = None
    #: Captured prints.
    output: str = ""
    duration_ms: float = 0.0
    #: The score lies outside the declared range and counts in no mean.
    out_of_range: bool = False
    #: Of the evaluator: all that its author decides.
    digest: str
    #: What stood between the code and the machine.
    runner: str


class RecordMaker:
    """Makes the records of one evaluator in one run."""

    def __init__(
        self,
        *,
        evaluator: str,
        version: int,
        digest: str,
        score_range: tuple[float, float] | None,
        runner: str,
    ) -> None:
        self._evaluator = evaluator
        self._version = version
        self._digest = digest
        self._range = score_range
        self._runner = runner

    def normalise(self, score: float | None, *, out_of_range: bool) -> float | None:
        """Map a raw score to 0–1; None without a range, and outside it."""
        if score is None or self._range is None or out_of_range:
            return None
        low, high = self._range
        return (score - low) / (high - low)

    def make(self, item_id: str, item: ItemOutcome) -> ResultRecord:
        """Return the record of one outcome."""
        outcome = item.outcome
        duration_ms = item.duration_us / 1000
        match outcome:
            case Scored():
                return ResultRecord(
                    item_id=item_id,
                    evaluator=self._evaluator,
                    version=self._version,
                    status="scored",
                    score=outcome.score,
                    normalised_score=self.normalise(
                        outcome.score, out_of_range=outcome.out_of_range
                    ),
                    passed=outcome.passed,
                    metrics=outcome.metrics,
                    explanation=outcome.explanation,
                    output=item.output,
                    duration_ms=duration_ms,
                    out_of_range=outcome.out_of_range,
                    digest=self._digest,
                    runner=self._runner,
                )
            case Skipped():
                return ResultRecord(
                    item_id=item_id,
                    evaluator=self._evaluator,
                    version=self._version,
                    status="skipped",
                    metrics=_NO_METRICS,
                    explanation=outcome.explanation,
                    reason=outcome.reason,
                    output=item.output,
                    duration_ms=duration_ms,
                    digest=self._digest,
                    runner=self._runner,
                )
            case Failed():
                return ResultRecord(
                    item_id=item_id,
                    evaluator=self._evaluator,
                    version=self._version,
                    status="failed",
                    metrics=_NO_METRICS,
                    failure=FailureRecord(
                        outcome.code,
                        outcome.type,
                        outcome.message,
                        outcome.line,
                        outcome.traceback,
                    ),
                    output=item.output,
                    duration_ms=duration_ms,
                    digest=self._digest,
                    runner=self._runner,
                )
            case _:
                assert_never(outcome)


def to_item_outcome(record: ResultRecord) -> ItemOutcome:
    """Return the outcome that a stored record came from."""
    return ItemOutcome(_to_outcome(record), record.output, round(record.duration_ms * 1000))


def _to_outcome(record: ResultRecord) -> Outcome:
    if record.failure is not None:
        failure = record.failure
        return Failed(failure.code, failure.message, failure.type, failure.line, failure.traceback)
    if record.reason is not None:
        return Skipped(record.reason, record.explanation)
    return Scored(
        record.score, record.passed, record.metrics, record.explanation, record.out_of_range
    )
