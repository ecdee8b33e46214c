"""What there is to evaluate: fields to map, items to look at."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Response
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError

from scorewright.api.access import needs
from scorewright.api.context import InContext, ProjectId
from scorewright.api.schemas.sources import (
    Sample,
    SampleRequest,
    SourceDescription,
    SourceField,
    SourceFields,
    to_description,
)
from scorewright.domain.convention import Level
from scorewright.services.source_items import decoded, first_items
from scorewright.services.source_opening import filter_of_items, open_described

router = APIRouter(prefix="/sources", tags=["sources"])

_description: TypeAdapter[SourceDescription] = TypeAdapter(SourceDescription)


@router.get("/fields")
def list_source_fields(
    project: ProjectId,
    context: InContext,
    source: Annotated[
        str, Query(max_length=16_000, description="the description of a source, as JSON")
    ],
    level: Level = Level.RECORD,
) -> SourceFields:
    """List what the items of a source hold for evaluators of a level."""
    try:
        description = _description.validate_json(source)
    except ValidationError as error:
        parts = error.errors(include_url=False, include_context=False)
        raise RequestValidationError(
            [
                # The first step is the kind, which is not in the description.
                {**part, "loc": ("query", "source", *part["loc"][1:])}
                for part in parts
            ]
        ) from None
    found = open_described(context.database, project, to_description(description), levels=(level,))
    seen = found.item_level(level)
    return SourceFields(
        noun=found.noun,
        size=found.size,
        level=seen,
        fields=[
            SourceField(name=field.name, description=field.description)
            for field in found.fields(seen)
        ],
    )


@router.post("/sample", response_model=Sample)
@needs("read")
def sample_source(body: SampleRequest, project: ProjectId, context: InContext) -> Response:
    """Return the first items of a source that match its filter."""
    description = to_description(body.source)
    found = open_described(context.database, project, description, levels=(body.level,))
    look = first_items(
        found, levels=(body.level,), filter_text=filter_of_items(description), n=body.n
    )
    sample = {
        "items": [
            {"number": number, "item_id": item_id, "data": data}
            for number, item_id, data in decoded(look.items)
        ],
        "size": found.size,
        "scanned": look.scanned,
        "stopped_early": look.stopped_early,
    }
    return Response(msgspec.json.encode(sample), media_type="application/json")
