"""Evaluators over the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema

from scorewright.api.moments import Moment
from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import MAX_DESCRIPTION_CHARS, MAX_DISPLAY_NAME_CHARS
from scorewright.domain.evaluator_name import MAX_NAME_CHARS, NAME_PATTERN
from scorewright.domain.param import ParamType
from scorewright.domain.source_language import Language
from scorewright.domain.source_limits import MAX_PARAMETERS, MAX_SOURCE_BYTES

# What the rules of `domain` decide about, types included, is taken as it is: a number stays the kind it was sent as,
# since digests rest on it.
AnyJson = Annotated[Any, WithJsonSchema({"description": "any JSON value"})]
Number = Annotated[Any, WithJsonSchema({"type": "number"})]
Range = Annotated[
    Any,
    WithJsonSchema(
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        | {"description": "lowest and highest score"}
    ),
]
Source = Annotated[
    str, Field(description=f"code that defines evaluate; at most {MAX_SOURCE_BYTES >> 20} MiB")
]
Name = Annotated[
    str,
    Field(
        min_length=1,
        description=f"a letter, then letters, digits, _ and -, 3 to {MAX_NAME_CHARS} in all; never changes",
        json_schema_extra={"pattern": f"^{NAME_PATTERN}$"},
    ),
]
DisplayName = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=MAX_DISPLAY_NAME_CHARS)
]
Description = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=MAX_DESCRIPTION_CHARS)
]
Tag = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Tags = Annotated[list[Tag], Field(max_length=50)]
CorrectAnswerKey = Annotated[
    str,
    Field(
        min_length=1,
        max_length=256,
        description="legacy_correct_answer only: the column that holds the right answer",
    ),
]
Mapping = Annotated[
    dict[str, AnyJson],
    Field(max_length=MAX_PARAMETERS, description="variable to field, path or constant"),
]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class DeclaredParam(_Body):
    """A config param as it is declared."""

    key: str = Field(description="the parameter's name")
    type: ParamType
    description: str = Field(default="", max_length=2_000)
    default: AnyJson = Field(default=None, description="left out: the code's own")
    required: bool = False
    min: Number | None = None
    max: Number | None = None
    values: list[AnyJson] = Field(default=[], max_length=1_000, description="of an enum")


Params = Annotated[list[DeclaredParam], Field(max_length=MAX_PARAMETERS)]


class ScoreRead(_Body):
    """How a score is read, and where arguments come from."""

    params: Params | None = Field(
        default=None, description="config params that the source does not declare itself"
    )
    score_range: Range | None = None
    threshold: Number | None = Field(
        default=None, description="a score equal to it passes; the middle of the range if left out"
    )
    mapping: Mapping | None = None
    correct_answer_key: CorrectAnswerKey | None = None


class EvaluatorDraft(ScoreRead):
    """An evaluator that is not saved."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "name": "short-enough",
                "tags": ["format"],
                "source": "def evaluate(output, most=280):\n"
                "    return {'score': int(len(output) <= most), 'explanation': f'{len(output)} characters'}\n",
                "params": [{"key": "most", "type": "integer", "default": 280, "min": 1}],
                "score_range": [0, 1],
                "threshold": 1,
            }
        }
    )

    source: Source
    name: Name | None = Field(default=None, description="made from the display name if left out")
    display_name: DisplayName | None = None
    description: Description | None = None
    tags: Tags | None = None
    type: Literal["code"] = "code"
    language: Language = "python"
    convention: Convention | None = Field(default=None, description="detected if left out")
    level: Level | None = Field(default=None, description="detected if left out")


class EvaluatorEdit(ScoreRead):
    """What is to change: what is left out stays, null takes back what was declared."""

    source: Source | None = None
    display_name: DisplayName | None = None
    description: Description | None = None
    tags: Tags | None = None


class EvaluatorCopy(_Body):
    """A copy of an evaluator."""

    name: Name | None = Field(default=None, description="NAME-copy, or NAME-copy-2 …, if left out")
    display_name: DisplayName | None = None
    version: Annotated[int, Field(strict=True, ge=1)] | Literal["latest"] = "latest"


class EvaluatorSource(_Body):
    """A source, and what is settled about it."""

    source: Source
    language: Language = "python"
    convention: Convention | None = None
    level: Level | None = None
    params: Params | None = None


class Variable(BaseModel):
    """A parameter that is filled from the item."""

    name: str
    required: bool
    default: AnyJson = Field(description="the code's own, where it is a literal")
    annotation: str | None


class ConfigParam(BaseModel):
    """A parameter that a person sets."""

    key: str
    type: ParamType
    description: str
    default: AnyJson
    required: bool
    min: float | None
    max: float | None
    values: list[str | int | float]


class Diagnostic(BaseModel):
    """Something about a source that its author should know."""

    severity: Literal["error", "warning"]
    code: str
    message: str
    line: int = Field(description="from 1")
    column: int = Field(description="in characters, from 1")


class ParsedEvaluator(BaseModel):
    """What a source is; null and empty where an error keeps it unknown."""

    language: Language
    convention: Convention | None
    level: Level | None
    variables: list[Variable]
    params: list[ConfigParam]
    score_range: Range | None = Field(description="where none is declared")
    threshold: float | None = Field(description="where none is declared")
    diagnostics: list[Diagnostic]


class CheckedEvaluator(BaseModel):
    """An entry of `scorewright check --format json`."""

    path: str = Field(description="the name, or draft")
    language: Language
    convention: Convention | None
    variables: list[Variable]
    params: list[ConfigParam]
    diagnostics: list[Diagnostic]


class DeclaredFields(BaseModel):
    """What a version's author declared beside the source, as it can be sent again."""

    params: list[dict[str, AnyJson]]
    score_range: Range | None
    threshold: Number | None


class EvaluatorVersionEntry(BaseModel):
    """A version in a list."""

    number: int
    digest: str = Field(description="sha256 over all its author decides about results")
    score_range: Range | None
    threshold: float | None
    created_at: Moment


class EvaluatorVersion(EvaluatorVersionEntry):
    """A version; nothing of it ever changes."""

    source: str
    variables: list[Variable]
    params: list[ConfigParam] = Field(description="declared here and in the source")
    declared: DeclaredFields
    mapping: dict[str, AnyJson]
    correct_answer_key: str
    warnings: list[Diagnostic]


class EvaluatorEntry(BaseModel):
    """An evaluator in a list."""

    id: str
    name: str
    display_name: str | None = Field(description="null: the name is shown")
    description: str
    tags: list[str]
    type: str
    level: Level
    convention: Convention
    language: Language
    latest_version: int
    revision: int
    created_at: Moment
    updated_at: Moment
    deleted_at: Moment | None


class Evaluator(EvaluatorEntry):
    """An evaluator with one of its versions."""

    version: EvaluatorVersion


class EvaluatorReferrer(BaseModel):
    """A task or monitor that has the evaluator among its own."""

    id: str
    name: str
    version: int | None = Field(description="null: it follows the newest")


class EvaluatorUsage(BaseModel):
    """Who refers to an evaluator."""

    tasks: list[EvaluatorReferrer]
    active_monitors: list[EvaluatorReferrer]


class EvaluatorTemplate(BaseModel):
    """An evaluator to start from."""

    convention: Convention
    language: Language
    source: str


class EvaluatorTemplates(BaseModel):
    """Evaluators to start from."""

    items: list[EvaluatorTemplate]


class CopilotPrompt(BaseModel):
    """What to paste into an AI assistant to have an evaluator written."""

    text: str
