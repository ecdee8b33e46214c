"""Tasks on the wire."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from scorewright.api.moments import Moment, moment, moment_or_none
from scorewright.api.schemas.sources import SourceDescription, to_description
from scorewright.domain.json_value import JsonObject
from scorewright.services.run_model import Task, TaskSpec
from scorewright.services.source_opening import write_description

Name = Annotated[
    str, Field(min_length=1, max_length=128, description="unique, deleted ones included")
]
Description = Annotated[str, Field(max_length=512)]


class EvaluatorUse(BaseModel):
    """An evaluator in a task."""

    model_config = ConfigDict(extra="forbid")

    evaluator: str = Field(min_length=1, max_length=128, description="its name or id")
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | Literal["latest"] = "latest"
    name: str | None = Field(
        None, min_length=1, max_length=128, description="what results call it; by default its name"
    )
    mapping: dict[str, Any] = Field(
        default={}, max_length=100, description="variable to field, path or constant"
    )
    params: dict[str, Any] = Field(default={}, max_length=100, description="config params")


class Settings(BaseModel):
    """How a task's runs are carried out."""

    model_config = ConfigDict(extra="forbid")

    timeout_s: float = Field(10.0, ge=0.05, le=600, description="of one item")
    memory_mb: int = Field(256, ge=16, le=8192, description="of one worker")
    filter: str | None = Field(None, min_length=1, max_length=8_000, description="which items")
    sample_rate: float = Field(1.0, ge=0, le=1, description="the share of these to judge")
    limit: int | None = Field(None, ge=1, le=2**31 - 1, description="the first so many of these")
    reuse: bool = Field(
        True,
        description="take over results of earlier runs of this project where they must come out the same",
    )


def _kept(source: BaseModel) -> JsonObject:
    return write_description(to_description(source))


Uses = Annotated[list[EvaluatorUse], Field(min_length=1, max_length=50)]


class NewTask(BaseModel):
    """A task to be made."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "example": {
                "name": "nightly",
                "source": {"kind": "traces", "filter": 'trace.environment = "production"'},
                "evaluators": [
                    {
                        "evaluator": "short-enough",
                        "mapping": {"output": "trace.output"},
                        "params": {"most": 400},
                    }
                ],
                "settings": {"sample_rate": 0.5, "timeout_s": 5},
            }
        },
    )

    name: Name
    description: Description = ""
    source: SourceDescription
    evaluators: Uses
    settings: Settings = Field(default_factory=lambda: Settings.model_validate({}))

    def spec(self) -> TaskSpec:
        """Return it as services take it."""
        said = self.model_dump(exclude={"source"})
        return msgspec.convert({**said, "source": _kept(self.source)}, TaskSpec)


class TaskChanges(BaseModel):
    """What is to be changed of a task; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    description: Description | None = None
    source: SourceDescription | None = None
    evaluators: Uses | None = None
    settings: Settings | None = None

    def changes(self) -> dict[str, Any]:
        """Return the fields of a `TaskSpec` that change."""
        said = self.model_dump(exclude={"source"})
        found = {name: value for name, value in said.items() if value is not None}
        if self.source is not None:
            found["source"] = _kept(self.source)
        kinds = {field.name: field.type for field in msgspec.structs.fields(TaskSpec)}
        return {name: msgspec.convert(value, kinds[name]) for name, value in found.items()}


class CopyOf(BaseModel):
    """How a copy is to be called."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None


class TaskView(BaseModel):
    """A task."""

    id: str
    name: str
    description: str
    source: dict[str, Any]
    evaluators: list[EvaluatorUse]
    settings: Settings
    revision: int
    runs: int = Field(description="how many were made of it")
    created_at: Moment
    changed_at: Moment
    deleted_at: Moment | None

    @classmethod
    def of(cls, task: Task) -> Self:
        """Write a task."""
        return cls.model_validate(
            {
                **msgspec.to_builtins(task.spec),
                "id": task.task_id,
                "revision": task.revision,
                "runs": task.latest_run,
                "created_at": moment(task.created_us),
                "changed_at": moment(task.changed_us),
                "deleted_at": moment_or_none(task.deleted_us),
            }
        )
