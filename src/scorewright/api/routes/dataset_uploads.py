"""Files that become datasets, or versions of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Response, UploadFile

from scorewright.api.context import InContext, ProjectId
from scorewright.api.editing import etag
from scorewright.api.idempotency import OnceRoute
from scorewright.api.routes.datasets import Named
from scorewright.api.schemas.datasets import (
    Dataset,
    Description,
    DisplayName,
    Name,
    Note,
    Tag,
    Version,
)
from scorewright.services import datasets as service
from scorewright.services.dataset_upload import opened_upload, stem_of

router = APIRouter(prefix="/datasets", tags=["datasets"], route_class=OnceRoute)

Uploaded = Annotated[
    UploadFile, File(description="CSV, JSON Lines, JSON or Parquet; gzipped or not")
]
TextColumns = Annotated[
    list[str],
    Form(
        max_length=1_000,
        description="columns of a CSV file that stay text even where every cell is JSON",
    ),
]


@router.post("/upload", status_code=201)
def upload_dataset(
    *,
    project: ProjectId,
    context: InContext,
    response: Response,
    file: Uploaded,
    name: Annotated[Name | None, Form()] = None,
    display_name: Annotated[DisplayName | None, Form()] = None,
    description: Annotated[Description, Form()] = "",
    tags: Annotated[list[Tag], Form(max_length=50)] = [],
    note: Annotated[Note, Form()] = "",
    text_columns: TextColumns = [],
) -> Dataset:
    """Make a dataset of a file; its name is proposed from the display name or the file's."""
    shown = file.filename or ""
    fields = service.DatasetFields(
        name=name or service.propose_name(display_name or stem_of(shown)),
        display_name=display_name,
        description=description,
        tags=tuple(tags),
    )
    opened = opened_upload(
        file.file,
        shown,
        limits=context.dataset_limits,
        text_columns=frozenset(text_columns),
    )
    with opened as data:
        made = service.create_dataset(
            context.database, project, fields, data, note=note, limits=context.dataset_limits
        )
    response.headers["ETag"] = etag(made.revision)
    return Dataset.of(made)


@router.post("/{dataset}/versions/upload", status_code=201)
def upload_dataset_version(
    *,
    dataset: Named,
    project: ProjectId,
    context: InContext,
    file: Uploaded,
    note: Annotated[Note, Form()] = "",
    text_columns: TextColumns = [],
) -> Version:
    """Make a new version of a file."""
    found = service.get_dataset(context.database, project, dataset)
    service.require_not_deleted(found)
    opened = opened_upload(
        file.file,
        file.filename or "",
        limits=context.dataset_limits,
        text_columns=frozenset(text_columns),
    )
    with opened as data:
        made = service.add_version(
            context.database, project, found, data, note=note, limits=context.dataset_limits
        )
    return Version.of(made)
