"""Results as evaluators make them, by chance: of every status, in range and out of it."""

from __future__ import annotations

import random

from scorewright.domain.result import FailureCode
from scorewright.domain.result_record import FailureRecord, ResultRecord

WORDS = ("Late", "refund", "HÖFLICH", "refunds", "x-ray", "退款", "order", "late-comer")
_CODES = (FailureCode.TIMEOUT, FailureCode.AUTHOR_ERROR)


def made_record(
    at: int,
    number: int,
    score_range: tuple[float, float] | None,
    chance: random.Random,
    *,
    is_named: bool = False,
) -> ResultRecord:
    """A result of one of several evaluators on an item, which has an id other than its number where `is_named`."""
    status = chance.choices(("scored", "skipped", "failed"), (8, 1, 1))[0]
    text = " ".join([f"n{number}", *chance.sample(WORDS, 2)])
    score, normalised, out_of_range, failure = None, None, False, None
    if status == "scored" and chance.random() < 0.9:
        score = chance.choice((0.0, 0.5, 1.0, 2.0, 1 / 3, chance.uniform(-1, 5)))
        if score_range is not None:
            low, high = score_range
            out_of_range = not low <= score <= high
            normalised = None if out_of_range else (score - low) / (high - low)
    if status == "failed":
        failure = FailureRecord(chance.choice(_CODES), "Error", text, 1, None)
    return ResultRecord(
        item_id=f"item-{number}" if is_named else str(number),
        evaluator=f"evaluator-{at}",
        version=1,
        status=status,
        score=score,
        normalised_score=normalised,
        passed=chance.choice((True, False, None)) if status == "scored" else None,
        metrics={},
        explanation=text if status == "scored" else None,
        reason=text if status == "skipped" else None,
        failure=failure,
        output="",
        duration_ms=1.0,
        out_of_range=out_of_range,
        digest="",
        basis="",
        environment=None,
        runner="",
    )
