"""One result as it is stored, exported and printed: flat, with names fixed by docs/reference/results.md."""

from __future__ import annotations

from typing import assert_never

import msgspec

from scorewright.domain.json_value import JsonValue
from scorewright.domain.result import (
    Failed,
    FailureCode,
    ItemOutcome,
    JudgedOutcome,
    JudgeUse,
    Outcome,
    Scored,
    Skipped,
)

_NO_METRICS: dict[str, JsonValue] = {}


class FailureRecord(msgspec.Struct, frozen=True):
    """Why there is no result."""

    code: FailureCode
    type: str | None
    message: str
    line: int | None
    traceback: str | None


class ResultRecord(msgspec.Struct, frozen=True):
    """Outcome of one evaluator version on one item. Unknown is null; numbers stay numbers."""

    item_id: str
    evaluator: str
    version: int
    #: scored, skipped or failed.
    status: str
    score: float | None
    normalised_score: float | None
    passed: bool | None
    metrics: dict[str, JsonValue]
    explanation: str | None
    #: Why the item was skipped.
    reason: str | None
    failure: FailureRecord | None
    #: Captured prints.
    output: str
    duration_ms: float
    #: The score lies outside the declared range and counts in no mean.
    out_of_range: bool
    #: Of the evaluator: all that its author decides.
    digest: str
    #: Of what else the result rests on: the item, the mapping and params, and how the score is read.
    basis: str
    #: Of what the machine decides: runner, engine, limits. Null where no worker was needed for the evaluator.
    environment: str | None
    #: What stood between the code and the machine.
    runner: str
    #: Whether it was computed by an earlier run, of the same code and arguments, and not again.
    reused: bool = False
    #: What the data were: an id alone does not tell a row from a log record.
    source: str = "dataset"
    #: What a judge asked and what that took; null for code, and where nothing was asked.
    judge: JudgeUse | None = None


class RecordMaker:
    """Makes the records of one evaluator in one run."""

    def __init__(  # noqa: PLR0913 - each by name
        self,
        *,
        evaluator: str,
        version: int,
        digest: str,
        score_range: tuple[float, float] | None,
        runner: str,
        source: str,
    ) -> None:
        self._evaluator = evaluator
        self._version = version
        self._digest = digest
        self._range = score_range
        self._runner = runner
        self._source = source
        #: Of the records made from now on; known when there is a worker.
        self.environment: str | None = None

    def make(self, item_id: str, item: ItemOutcome, basis: str, reused: bool) -> ResultRecord:  # noqa: FBT001 - called by map
        """Return the record of one outcome."""
        outcome = item.outcome
        status, score, passed, out_of_range = "scored", None, None, False
        normalised, explanation, reason, failure = None, None, None, None
        metrics = _NO_METRICS
        match outcome:
            case Scored():
                score, passed, metrics = outcome.score, outcome.passed, outcome.metrics
                explanation, out_of_range = outcome.explanation, outcome.out_of_range
                if score is not None and self._range is not None and not out_of_range:
                    low, high = self._range
                    normalised = (score - low) / (high - low)
            case Skipped():
                status, reason, explanation = "skipped", outcome.reason, outcome.explanation
            case Failed():
                status = "failed"
                failure = FailureRecord(
                    outcome.code, outcome.type, outcome.message, outcome.line, outcome.traceback
                )
            case _:
                assert_never(outcome)
        return ResultRecord(  # by position: this is called once per result
            item_id,
            self._evaluator,
            self._version,
            status,
            score,
            normalised,
            passed,
            metrics,
            explanation,
            reason,
            failure,
            item.output,
            item.duration_us / 1000,
            out_of_range,
            self._digest,
            basis,
            self.environment,
            self._runner,
            reused,
            self._source,
            item.judge if isinstance(item, JudgedOutcome) else None,
        )


def to_item_outcome(record: ResultRecord) -> ItemOutcome:
    """Return the outcome that a stored record came from."""
    duration_us = round(record.duration_ms * 1000)
    if record.judge is not None:
        return JudgedOutcome(_to_outcome(record), record.output, duration_us, record.judge)
    return ItemOutcome(_to_outcome(record), record.output, duration_us)


def _to_outcome(record: ResultRecord) -> Outcome:
    if record.failure is not None:
        failure = record.failure
        return Failed(failure.code, failure.message, failure.type, failure.line, failure.traceback)
    if record.reason is not None:
        return Skipped(record.reason, record.explanation)
    return Scored(
        record.score, record.passed, record.metrics, record.explanation, record.out_of_range
    )
