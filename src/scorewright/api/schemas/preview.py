"""Previews on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from scorewright.api.schemas.evaluators import Diagnostic, Range
from scorewright.api.schemas.results import Result
from scorewright.api.schemas.sources import Description
from scorewright.domain.convention import Convention, Level
from scorewright.domain.source_language import Language
from scorewright.runners.base import Limits
from scorewright.services.preview import Subject
from scorewright.services.preview_evaluators import Draft, Previewed, Saved

MAX_SOURCE_CHARS = 1 << 20
Assigned = Annotated[dict[str, Any], Field(max_length=200)]


class _Subject(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mapping: Annotated[Assigned, Field(description="variable to field, path or constant")] = {}
    params: Annotated[Assigned, Field(description="config param to value")] = {}


class DraftEvaluator(_Subject):
    """An evaluator that need not be saved; what is left out is detected."""

    source: Annotated[str, Field(max_length=MAX_SOURCE_CHARS)]
    language: Language = "python"
    name: Annotated[str | None, Field(max_length=128)] = None
    convention: Convention | None = None
    level: Level | None = None
    param_schema: Annotated[
        list[dict[str, Any]],
        Field(max_length=100, description="config params, each as `DeclaredParam`"),
    ] = []
    score_range: Range | None = None
    threshold: float | None = None
    correct_answer_key: Annotated[str | None, Field(max_length=256)] = None

    def previewed(self) -> Previewed:
        """Return the evaluator that is meant."""
        said = self.model_dump(mode="json", exclude={"source", "mapping", "params"})
        fields = {key: value for key, value in said.items() if value is not None}
        fields["params"] = fields.pop("param_schema")
        return Draft(source=self.source, fields=fields)


class SavedEvaluator(_Subject):
    """A version of an evaluator of this project."""

    evaluator: Annotated[str, Field(min_length=1, max_length=128, description="name or id")]
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | Literal["latest"] = "latest"

    def previewed(self) -> Previewed:
        """Return the evaluator that is meant."""
        return Saved(evaluator=self.evaluator, version=self.version)


def _kind_of_evaluator(value: Any) -> str:
    is_saved = isinstance(value, SavedEvaluator) or (
        isinstance(value, dict) and "evaluator" in value
    )
    return "saved" if is_saved else "draft"


#: One that names an evaluator is saved; all others are drafts.
AnyEvaluator = Annotated[
    Annotated[DraftEvaluator, Tag("draft")] | Annotated[SavedEvaluator, Tag("saved")],
    Discriminator(_kind_of_evaluator),
]


class PreviewRequest(BaseModel):
    """What to try on what; items are given, or named by a source and their numbers."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "evaluators": [
                    {
                        "source": "def evaluate(output, expected):\n"
                        "    return {'score': int(output == expected), 'explanation': 'compared'}\n",
                        "mapping": {"expected": "right answer"},
                    }
                ],
                "items": [{"output": "Paris", "right answer": "Paris"}],
            }
        },
    )

    evaluators: list[AnyEvaluator] = Field(min_length=1, max_length=20)
    items: list[dict[str, Any]] | None = Field(
        None, min_length=1, max_length=50, description="rows to try on, instead of a source"
    )
    source: Description | None = Field(None, description="where the items are, instead of items")
    numbers: list[Annotated[int, Field(ge=1)]] | None = Field(None, min_length=1, max_length=50)
    n: Annotated[int, Field(ge=1, le=50, description="the first items, without numbers")] = 5
    timeout_s: Annotated[float, Field(ge=0.05, le=30, description="of one item")] = 10.0
    memory_mb: Annotated[int, Field(ge=16, le=1024)] = 256
    purity: Annotated[
        bool, Field(description="find out if results depend on more than the item")
    ] = False

    @model_validator(mode="after")
    def _has_items(self) -> Self:
        if (self.items is None) == (self.source is None):
            raise ValueError("give either items or a source")
        if self.numbers is not None and self.source is None:
            raise ValueError("numbers are of the items of a source")
        return self

    def subjects(self) -> list[Subject]:
        """Return the evaluators with what is set for them."""
        return [
            Subject(evaluator=one.previewed(), mapping=one.mapping, params=one.params)
            for one in self.evaluators
        ]

    def limits(self) -> Limits:
        """Return the limits of one evaluator."""
        return Limits(timeout_s=self.timeout_s, memory_mb=self.memory_mb)


class Refusal(BaseModel):
    """Why an evaluator could not be tried."""

    pointer: str = Field(description="JSON pointer into its entry of the request")
    detail: str
    diagnostics: list[Diagnostic]


class Difference(BaseModel):
    """What came out otherwise when one thing was changed."""

    varied: str
    items: int
    first_item: str
    example: str


class PurityReport(BaseModel):
    """Whether results depend on more than the item."""

    is_pure: bool
    items: int
    compared: int
    varied: list[str]
    differences: list[Difference]


class Runner(BaseModel):
    """What stood between the code and the machine."""

    tier: str
    engine: str
    layers: list[str]
    missing: list[str]


class Trial(BaseModel):
    """What came of one evaluator; what is not known where it was refused is null."""

    name: str | None
    digest: str | None
    language: Language | None
    convention: Convention | None
    level: Level | None
    score_range: tuple[float, float] | None
    threshold: float | None
    warnings: list[Diagnostic]
    error: Refusal | None = Field(description="null where it was tried")
    runner: Runner | None
    results: list[Result] = Field(description="one per item that was judged, in order")
    judged_twice: int = Field(description="items that were judged again by themselves")
    differing: int = Field(description="of these, those with another result")
    purity: PurityReport | None


class Preview(BaseModel):
    """What came of all evaluators, in the order of the request."""

    items: list[str] = Field(description="ids of the items, in order")
    evaluators: list[Trial]
    clock_s: float = Field(description="the frozen time that the code saw, in seconds since 1970")
    duration_ms: float
    stopped_early: bool = Field(description="whether time ran out before all was judged")
