"""The tables, one module per noun; a table that is not imported here is not in the database."""

from __future__ import annotations

from scorewright.storage.tables.datasets import dataset_rows, dataset_versions, datasets
from scorewright.storage.tables.evaluators import evaluator_tags, evaluator_versions, evaluators
from scorewright.storage.tables.metadata import METADATA
from scorewright.storage.tables.projects import projects

__all__ = [
    "METADATA",
    "dataset_rows",
    "dataset_versions",
    "datasets",
    "evaluator_tags",
    "evaluator_versions",
    "evaluators",
    "projects",
]
