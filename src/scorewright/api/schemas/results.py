"""Results on the wire."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from scorewright.domain.result import FailureCode


class Failure(BaseModel):
    """Why there is no result."""

    code: FailureCode
    type: str | None
    message: str
    line: int | None = Field(description="of the source, from 1")
    traceback: str | None


class Result(BaseModel):
    """What an evaluator made of an item."""

    item_id: str
    evaluator: str
    version: int
    status: Literal["scored", "skipped", "failed"]
    score: float | None
    normalised_score: float | None
    passed: bool | None
    metrics: dict[str, Any]
    explanation: str | None
    reason: str | None
    failure: Failure | None
    output: str
    duration_ms: float
    out_of_range: bool
    digest: str
    basis: str
    environment: str | None
    runner: str
    reused: bool
