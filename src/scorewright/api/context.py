"""What routes are given: the database, the project that a request is about, who asks."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, cast

from fastapi import Depends, Request

from scorewright.api.failures import Failures
from scorewright.api.run_events import Watchers
from scorewright.services.access import LastUsed
from scorewright.services.dataset_loading import DatasetLimits
from scorewright.services.ingest import IngestLimits, KnownNames
from scorewright.services.readiness import SandboxCheck
from scorewright.services.run_parts import RunParts
from scorewright.services.runner_pool import RunnerPool
from scorewright.services.server_metrics import ServerMetrics
from scorewright.services.settings import Settings
from scorewright.services.source_reader import SourceReader
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
    #: Reads what authors write; the process of the server never does.
    source_reader: SourceReader = field(default_factory=SourceReader)
    ingest_limits: IngestLimits = field(default_factory=IngestLimits)
    known_names: KnownNames = field(default_factory=KnownNames)
    #: Where runs get evaluators and data.
    run_parts: RunParts = field(default_factory=RunParts)
    #: Tells the worker of this process, if it has one, that there is something to do.
    wake_worker: Callable[[], None] = lambda: None
    watchers: Watchers = field(default_factory=Watchers)
    settings: Settings = field(default_factory=Settings)
    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    sandboxes: SandboxCheck = field(default_factory=SandboxCheck)
    failures: Failures = field(default_factory=Failures)
    last_used: LastUsed = field(default_factory=LastUsed)
    #: Set when the server is told to stop: what would stream on for long ends then.
    stopping: threading.Event = field(default_factory=threading.Event)


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
