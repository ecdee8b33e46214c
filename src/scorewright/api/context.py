"""What routes are given: the database, the project that a request is about, who asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from scorewright.api.run_events import Watchers
from scorewright.services.dataset_loading import DatasetLimits
from scorewright.services.ingest import IngestLimits, KnownNames
from scorewright.services.run_parts import RunParts
from scorewright.services.runner_pool import RunnerPool
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id


@dataclass(frozen=True, slots=True)
class Context:
    """What one server works with."""

    database: Database
    dataset_limits: DatasetLimits = field(default_factory=DatasetLimits)
    #: Seconds that one preview may take.
    preview_s: float = 60.0
    runners: RunnerPool = field(default_factory=RunnerPool)
    ingest_limits: IngestLimits = field(default_factory=IngestLimits)
    known_names: KnownNames = field(default_factory=KnownNames)
    #: Where runs get evaluators and data.
    run_parts: RunParts = field(default_factory=RunParts)
    #: Tells the worker of this process, if it has one, that there is something to do.
    wake_worker: Callable[[], None] = lambda: None
    watchers: Watchers = field(default_factory=Watchers)


def context_of(request: Request) -> Context:
    """Return what this server works with."""
    return cast("Context", request.app.state.context)


def project_of(project: str, context: Annotated[Context, Depends(context_of)]) -> str:
    """Return the id of the project that the path names.

    Raises:
        NotFoundError: The caller's: there is no such project.
    """
    return project_id(context.database, project)


InContext = Annotated[Context, Depends(context_of)]
ProjectId = Annotated[str, Depends(project_of)]
