"""The audit."""

from __future__ import annotations

from pydantic import BaseModel, Field, JsonValue

from scorewright.api.moments import moment
from scorewright.services.audit import AuditEntry


class AuditEntryResponse(BaseModel):
    """Something that somebody did."""

    id: str
    actor_id: str = Field(description="an API key's id, or system or anyone")
    actor_name: str
    action: str
    kind: str
    target_id: str
    detail: JsonValue
    request_id: str | None
    created_at: str


def describe_entry(entry: AuditEntry) -> AuditEntryResponse:
    """Describe an entry."""
    return AuditEntryResponse(
        id=entry.id,
        actor_id=entry.actor_id,
        actor_name=entry.actor_name,
        action=entry.action,
        kind=entry.kind,
        target_id=entry.target_id,
        detail=entry.detail,
        request_id=entry.request_id,
        created_at=moment(entry.created_us),
    )
