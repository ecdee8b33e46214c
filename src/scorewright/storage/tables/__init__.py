"""The tables, one module per noun; a table that is not imported here is not in the database."""

from __future__ import annotations

from scorewright.storage.tables.metadata import METADATA
from scorewright.storage.tables.projects import projects
from scorewright.storage.tables.results import results
from scorewright.storage.tables.runs import chunks, executors, run_evaluators, run_shares, runs
from scorewright.storage.tables.tasks import tasks

__all__ = [
    "METADATA",
    "chunks",
    "executors",
    "projects",
    "results",
    "run_evaluators",
    "run_shares",
    "runs",
    "tasks",
]
