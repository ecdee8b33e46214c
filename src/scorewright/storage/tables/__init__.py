"""The tables, one module per noun; a table that is not imported here is not in the database."""

from __future__ import annotations

from scorewright.storage.tables.api_keys import api_keys, sessions
from scorewright.storage.tables.attribute_names import attribute_names
from scorewright.storage.tables.audit import audit
from scorewright.storage.tables.datasets import dataset_rows, dataset_versions, datasets
from scorewright.storage.tables.evaluators import evaluator_tags, evaluator_versions, evaluators
from scorewright.storage.tables.idempotency_keys import idempotency_keys
from scorewright.storage.tables.log_records import log_records
from scorewright.storage.tables.metadata import METADATA
from scorewright.storage.tables.projects import projects
from scorewright.storage.tables.results import result_blocks, result_times, result_words, results
from scorewright.storage.tables.runs import (
    chunks,
    executors,
    run_evaluators,
    run_listings,
    run_shares,
    runs,
)
from scorewright.storage.tables.spans import spans
from scorewright.storage.tables.tasks import tasks
from scorewright.storage.tables.traces import traces

__all__ = [
    "METADATA",
    "api_keys",
    "attribute_names",
    "audit",
    "chunks",
    "dataset_rows",
    "dataset_versions",
    "datasets",
    "evaluator_tags",
    "evaluator_versions",
    "evaluators",
    "executors",
    "idempotency_keys",
    "log_records",
    "projects",
    "result_blocks",
    "result_times",
    "result_words",
    "results",
    "run_evaluators",
    "run_listings",
    "run_shares",
    "runs",
    "sessions",
    "spans",
    "tasks",
    "traces",
]
