"""What a run amounts to, on the wire."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from scorewright.domain.convention import Convention, Level
from scorewright.domain.source_language import Language


class _Part(BaseModel):
    model_config = ConfigDict(extra="allow")


class ReportedLimits(_Part):
    """Bounds of each evaluator."""

    timeout_s: float
    memory_mb: int


class ReportedEvaluator(_Part):
    """An evaluator as it was in the run."""

    name: str
    evaluator_id: str | None
    version: int
    digest: str
    convention: Convention
    language: Language
    level: Level
    score_range: tuple[float, float] | None
    threshold: float | None
    environment: str | None
    runner: dict[str, Any] | None
    reused: int = Field(description="results that were taken over from an earlier run")
    judged_twice: int = Field(description="items that were judged again by themselves")
    nondeterministic: int = Field(description="of these, those with another result")


class ReportedHistogram(_Part):
    """How scores lie."""

    edges: list[float] = Field(description="of the bins, one more than there are bins")
    counts: list[int] = Field(
        description="scores between them; a bin has its lower edge, the last one both"
    )


class ReportedFailure(_Part):
    """Items that failed for one cause."""

    code: str = Field(
        description="a failure code; other for all causes beyond the fifty most frequent"
    )
    message: str
    type: str | None
    line: int | None
    count: int = Field(description="items that failed so")
    first_item: str | int = Field(
        description="the first of them: a row's number, or the id of any other item"
    )


class SlowItem(_Part):
    """An item that took long."""

    item: str | int = Field(description="a row's number, or the id of any other item")
    duration_ms: float


class EvaluatorSummary(_Part):
    """What one evaluator's results amount to. Skipped and failed items move no mean; unknown is null, never 0."""

    evaluator: str
    scored: int
    skipped: int
    failed: int
    out_of_range: int = Field(description="scored items whose score is outside of the range")
    mean_score: float | None
    mean_n: int
    min_score: float | None
    max_score: float | None
    mean_normalised: float | None
    mean_interval: tuple[float, float] | None
    score_range: tuple[float, float] | None
    pass_rate: float | None
    pass_rate_n: int
    pass_rate_interval: tuple[float, float] | None
    histogram: ReportedHistogram | None
    metrics: dict[str, Any] = Field(
        description="by dotted name: `type` (number, boolean, string, json, mixed), `count`, `nulls`, and by the type `n`, "
        "`mean`, `min`, `max`, `share_true`, `values`, `other_values` or `types`"
    )
    other_metric_values: int = Field(description="of metrics beyond the first thousand names")
    failures: list[ReportedFailure] = Field(description="by cause, the most frequent first")
    slowest: list[SlowItem] = Field(description="the five items that took longest")


class RunReport(_Part):
    """What a run amounts to, whether it has ended or not."""

    source: Literal["dataset", "items", "traces", "trajectories", "conversations", "logs"]
    items: int = Field(description="items that are done")
    complete: bool = Field(description="whether these are all")
    filter: str | None
    sample_rate: float
    total: int | None
    clock_s: float = Field(description="the time that evaluators saw: seconds since 1970, UTC")
    limits: ReportedLimits = Field(description="what each evaluator was held to")
    evaluators: list[ReportedEvaluator] = Field(description="in the order of the task")
    summary: list[EvaluatorSummary] = Field(description="one for each evaluator, in that order")
    duration_s: float | None = Field(description="from the start to the end")
