"""Projects."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field

from scorewright.api.moments import moment
from scorewright.services.projects import MAX_NAME_CHARS
from scorewright.storage.repositories.projects import Project


class NewProject(BaseModel):
    """A project to be made."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=MAX_NAME_CHARS,
            pattern=r"^[a-z][a-z0-9-]*$",
            description="how addresses call it; it stays",
            examples=["support-bot"],
        ),
    ]


class ProjectView(BaseModel):
    """What everything else belongs to."""

    id: str
    name: str
    created_at: str

    @classmethod
    def of(cls, project: Project) -> Self:
        """Describe a project."""
        return cls(id=project.id, name=project.name, created_at=moment(project.created_us))
