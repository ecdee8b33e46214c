"""Datasets, their versions and rows."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse

from scorewright.api.context import InContext, ProjectId
from scorewright.api.document import file_types, headers
from scorewright.api.editing import ExpectedRevision, etag
from scorewright.api.idempotency import OnceRoute
from scorewright.api.newest import read_newest
from scorewright.api.paging import Cursor, Limit, Page, read_cursor, write_cursor
from scorewright.api.schemas.dataset_traces import NewRowsOfTraces, RowsOfTraces
from scorewright.api.schemas.datasets import (
    AppendRow,
    Dataset,
    DatasetChanges,
    NewDataset,
    NewVersion,
    NumberedRow,
    RowChange,
    RowChanges,
    SetRow,
    Version,
)
from scorewright.services import dataset_edit as edit
from scorewright.services import datasets as service
from scorewright.services.dataset_export import ExportFormat, export
from scorewright.services.dataset_traces import add_traces
from scorewright.sources.dataset import from_rows

router = APIRouter(prefix="/datasets", tags=["datasets"], route_class=OnceRoute)

Named = Annotated[str, Path(max_length=128, description="name or id")]
VersionNumber = Annotated[int | Literal["latest"], Path(description="number, or latest")]
_MEDIA_TYPES: dict[ExportFormat, str] = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


@router.post("", status_code=201)
def create_dataset(
    body: NewDataset, project: ProjectId, context: InContext, response: Response
) -> Dataset:
    """Make a dataset of rows."""
    made = service.create_dataset(
        context.database,
        project,
        body.fields(),
        _rows(body.rows),
        note=body.note,
        limits=context.dataset_limits,
    )
    response.headers["ETag"] = etag(made.revision)
    return Dataset.of(made)


@router.get("")
def list_datasets(
    *,
    project: ProjectId,
    context: InContext,
    q: Annotated[
        str | None, Query(max_length=200, description="in name, display name or description")
    ] = None,
    tag: Annotated[str | None, Query(max_length=64)] = None,
    deleted: Annotated[bool, Query(description="those that are deleted, instead")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Dataset]:
    """List datasets, newest first."""
    before = read_newest(cursor)
    found = service.list_datasets(
        context.database,
        project,
        text=q,
        tag=tag,
        deleted=deleted,
        before=before,
        limit=limit + 1,
    )
    last = found[limit - 1] if len(found) > limit else None
    return Page(
        items=[Dataset.of(one) for one in found[:limit]],
        next_cursor=None if last is None else write_cursor(last.created_us, last.id),
    )


@router.get("/{dataset}")
def get_dataset(
    dataset: Named, project: ProjectId, context: InContext, response: Response
) -> Dataset:
    """Return a dataset, a deleted one too."""
    found = service.get_dataset(context.database, project, dataset)
    response.headers["ETag"] = etag(found.revision)
    return Dataset.of(found)


@router.patch("/{dataset}")
def describe_dataset(
    *,
    dataset: Named,
    body: DatasetChanges,
    project: ProjectId,
    context: InContext,
    revision: ExpectedRevision,
    response: Response,
) -> Dataset:
    """Change what is said about a dataset."""
    changed = service.describe_dataset(
        context.database,
        project,
        dataset,
        revision=revision,
        changes=body.model_dump(exclude_unset=True),
    )
    response.headers["ETag"] = etag(changed.revision)
    return Dataset.of(changed)


@router.delete("/{dataset}", status_code=204)
def delete_dataset(
    dataset: Named, project: ProjectId, context: InContext, revision: ExpectedRevision
) -> None:
    """Delete a dataset; it can be restored, and its name stays taken."""
    service.delete_dataset(context.database, project, dataset, revision=revision)


@router.post("/{dataset}/restore")
def restore_dataset(
    dataset: Named, project: ProjectId, context: InContext, response: Response
) -> Dataset:
    """Undo that a dataset was deleted."""
    restored = service.restore_dataset(context.database, project, dataset)
    response.headers["ETag"] = etag(restored.revision)
    return Dataset.of(restored)


@router.get("/{dataset}/versions")
def list_dataset_versions(
    dataset: Named,
    project: ProjectId,
    context: InContext,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Version]:
    """List the versions of a dataset, newest first."""
    key = read_cursor(cursor, (int,))
    found = service.list_versions(
        context.database,
        project,
        dataset,
        before=None if key is None else int(key[0]),
        limit=limit + 1,
    )
    return Page(
        items=[Version.of(one) for one in found[:limit]],
        next_cursor=write_cursor(found[limit - 1].number) if len(found) > limit else None,
    )


@router.post("/{dataset}/versions", status_code=201)
def create_dataset_version(
    dataset: Named, body: NewVersion, project: ProjectId, context: InContext
) -> Version:
    """Make a new version of rows."""
    found = service.get_dataset(context.database, project, dataset)
    made = service.add_version(
        context.database,
        project,
        found,
        _rows(body.rows),
        note=body.note,
        limits=context.dataset_limits,
    )
    return Version.of(made)


@router.get("/{dataset}/versions/{version}")
def get_dataset_version(
    dataset: Named, version: VersionNumber, project: ProjectId, context: InContext
) -> Version:
    """Return one version."""
    return Version.of(service.get_version(context.database, project, dataset, version))


@router.get("/{dataset}/versions/{version}/rows", response_model=Page[NumberedRow])
def list_dataset_rows(
    *,
    dataset: Named,
    version: VersionNumber,
    project: ProjectId,
    context: InContext,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List rows in order; a page has fewer than `limit` where rows are large."""
    seen = service.get_version(context.database, project, dataset, version)
    key = read_cursor(cursor, (int,))
    after = 0 if key is None else max(0, int(key[0]))
    found = service.page_of_rows(context.database, seen, after=after, limit=limit)
    # Rows go out byte for byte as they are stored.
    items = [{"number": at, "data": msgspec.Raw(data)} for at, data in found]
    is_last = not found or found[-1][0] >= seen.rows
    page = {"items": items, "next_cursor": None if is_last else write_cursor(found[-1][0])}
    return Response(msgspec.json.encode(page), media_type="application/json")


@router.get(
    "/{dataset}/versions/{version}/download",
    response_class=StreamingResponse,
    responses=file_types(_MEDIA_TYPES.values()),
)
def download_dataset_version(
    dataset: Named,
    version: VersionNumber,
    project: ProjectId,
    context: InContext,
    form: Annotated[ExportFormat, Query(alias="format")] = "jsonl",
) -> StreamingResponse:
    """Download a version; in CSV and Parquet, nested values are JSON text."""
    found = service.get_dataset(context.database, project, dataset)
    seen = service.get_version(context.database, project, dataset, version)
    name = f"{found.name}-v{seen.number}.{form}"
    return StreamingResponse(
        export(service.open_version(context.database, seen), form),
        media_type=_MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@router.patch("/{dataset}/rows", status_code=201, responses={201: headers("ETag")})
def edit_dataset_rows(
    *,
    dataset: Named,
    body: RowChanges,
    project: ProjectId,
    context: InContext,
    revision: ExpectedRevision,
    response: Response,
) -> Version:
    """Make a version of the latest one, with changes; the ETag is the dataset's."""
    made = edit.edit_rows(
        context.database,
        project,
        dataset,
        [_change(one) for one in body.changes],
        revision=revision,
        note=body.note,
        limits=context.dataset_limits,
    )
    response.headers["ETag"] = etag(
        service.get_dataset(context.database, project, dataset).revision
    )
    return Version.of(made)


@router.post("/{dataset}/versions/from-traces", status_code=201)
def add_traces_to_dataset(
    dataset: Named, body: NewRowsOfTraces, project: ProjectId, context: InContext
) -> RowsOfTraces:
    """Make a version of the latest one, with rows of stored traces, agents or model calls behind its own.

    Each row has the columns that are asked for, and the ids of what it was made of.
    """
    made = add_traces(
        context.database,
        project,
        dataset,
        body.wanted(),
        note=body.note,
        limits=context.dataset_limits,
    )
    return RowsOfTraces.of(made)


def _rows(rows: list[dict[str, Any]]) -> Any:
    return from_rows(rows)


def _change(change: RowChange) -> edit.RowChange:
    if isinstance(change, SetRow):
        return edit.SetRow(change.number, change.data)
    return (
        edit.AppendRow(change.data)
        if isinstance(change, AppendRow)
        else edit.DeleteRow(change.number)
    )
