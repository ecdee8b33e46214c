"""Who changed what."""

from __future__ import annotations

from fastapi import APIRouter

from scorewright.api.access import needs
from scorewright.api.context import InContext, ProjectId
from scorewright.api.paging import Cursor, Limit, Page, read_cursor, write_cursor
from scorewright.api.schemas.audit import AuditEntryResponse, describe_entry
from scorewright.services.audit import list_audit

router = APIRouter(prefix="/audit", tags=["audit"])


@router.get("")
@needs("admin")
def list_audit_entries(
    project_id: ProjectId, context: InContext, limit: Limit = 50, cursor: Cursor = None
) -> Page[AuditEntryResponse]:
    """List what was done in the project, newest first."""
    after = read_cursor(cursor, (str,))
    before_id = None if after is None else str(after[0])
    entries = list_audit(context.database, project_id, before_id=before_id, limit=limit + 1)
    more = write_cursor(entries[limit - 1].id) if len(entries) > limit else None
    return Page(items=[describe_entry(entry) for entry in entries[:limit]], next_cursor=more)
