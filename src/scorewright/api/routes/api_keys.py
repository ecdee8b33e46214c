"""API keys: making, listing and revoking them."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter

from scorewright.api.access import InCaller, needs
from scorewright.api.context import InContext, ProjectId
from scorewright.api.moments import moment_us_or_none
from scorewright.api.paging import Cursor, Limit, Page, read_cursor, write_cursor
from scorewright.api.schemas.api_keys import (
    ApiKeyRequest,
    ApiKeyResponse,
    NewApiKeyResponse,
    describe_key,
    describe_new_key,
)
from scorewright.services import access

router = APIRouter(prefix="/api-keys", tags=["api-keys"])


@router.post("", status_code=HTTPStatus.CREATED)
@needs("admin")
def create_api_key(
    body: ApiKeyRequest, project_id: ProjectId, context: InContext
) -> NewApiKeyResponse:
    """Make a key; its secret is in this answer and nowhere else. Takes no Idempotency-Key, as answers to those are kept."""
    new = access.create_key(
        context.database,
        project_id,
        name=body.name,
        scopes=body.scopes,
        expires_us=moment_us_or_none(body.expires_at),
    )
    return describe_new_key(new)


@router.get("")
@needs("admin")
def list_api_keys(
    project_id: ProjectId,
    context: InContext,
    caller: InCaller,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[ApiKeyResponse]:
    """List keys, newest first."""
    after = read_cursor(cursor, (str,))
    keys = access.list_keys(
        context.database,
        caller,
        project_id,
        before_id=None if after is None else str(after[0]),
        limit=limit + 1,
    )
    more = write_cursor(keys[limit - 1].id) if len(keys) > limit else None
    return Page(items=[describe_key(key) for key in keys[:limit]], next_cursor=more)


@router.delete("/{key_id}", status_code=HTTPStatus.NO_CONTENT)
@needs("admin")
def revoke_api_key(
    key_id: str, project_id: ProjectId, context: InContext, caller: InCaller
) -> None:
    """End a key and the sessions that were started with it. It stays in the list."""
    access.revoke_key(context.database, caller, project_id, key_id)
