"""Removing for good what was deleted before."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from scorewright.api.access import needs
from scorewright.api.context import InContext, ProjectId
from scorewright.services import purging

router = APIRouter(tags=["purging"])
Dataset = Annotated[str, Path(description="name or id of a deleted dataset")]
Evaluator = Annotated[str, Path(description="name or id of a deleted evaluator")]


@router.post("/datasets/{dataset}/purge", status_code=204)
@needs("admin")
def purge_dataset(dataset: Dataset, project: ProjectId, context: InContext) -> None:
    """Remove a deleted dataset with its versions and rows, for good; refused while tasks or runs refer to it."""
    purging.purge_dataset(context.database, project, dataset)


@router.post("/evaluators/{evaluator}/purge", status_code=204)
@needs("admin")
def purge_evaluator(evaluator: Evaluator, project: ProjectId, context: InContext) -> None:
    """Remove a deleted evaluator with its versions, for good; refused while tasks or runs refer to it."""
    purging.purge_evaluator(context.database, project, evaluator)


@router.post("/tasks/{task}/purge", status_code=204)
@needs("admin")
def purge_task(task: str, project: ProjectId, context: InContext) -> None:
    """Remove a deleted task, for good; refused while it has runs."""
    purging.purge_task(context.database, project, task)


@router.post("/runs/{run}/purge", status_code=204)
@needs("admin")
def purge_run(run: str, project: ProjectId, context: InContext) -> None:
    """Remove a run that is over with its results, for good; refused while other runs repeat it."""
    purging.purge_run(context.database, project, run)
