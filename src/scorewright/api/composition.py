"""A server's parts put together: from its settings and its database."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from scorewright.api.context import Context
from scorewright.services.ingest import IngestLimits
from scorewright.services.runner_choice import Runners
from scorewright.services.runner_pool import RunnerPool
from scorewright.services.server_parts import make_parts
from scorewright.services.settings import Settings
from scorewright.storage.database import Database


def make_pool(
    settings: Settings, environ: Mapping[str, str] = MappingProxyType({}), *, is_warm: bool = True
) -> RunnerPool:
    """Return the sandboxes of one process, for runs and previews alike.

    Args:
        settings: What the operator decided.
        environ: Where the account of remote sandboxes is read from.
        is_warm: Whether one is to be ready before anybody asks.
    """
    has_python = settings.runner in ("auto", "jail", "restricted")
    return RunnerPool(
        lambda: Runners(settings.runner, environ=environ), warm=int(is_warm and has_python)
    )


def make_context(
    database: Database,
    settings: Settings,
    *,
    wake_worker: Callable[[], None] = lambda: None,
    pool: RunnerPool | None = None,
) -> Context:
    """Return what a server works with.

    Args:
        database: Where everything is.
        settings: What the operator decided.
        wake_worker: Tells the worker of this process, if it has one, that there is something to do.
        pool: Where the sandboxes are, if others use them too.
    """
    ingest = IngestLimits()
    return Context(
        database,
        runners=pool or make_pool(settings),
        ingest_limits=IngestLimits(
            max_packed_bytes=min(ingest.max_packed_bytes, settings.max_ingest_bytes),
            max_bytes=settings.max_ingest_bytes,
        ),
        run_parts=make_parts(database, runs_per_project=settings.runs_per_project),
        wake_worker=wake_worker,
        settings=settings,
    )
