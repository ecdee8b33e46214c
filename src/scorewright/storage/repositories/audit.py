"""The audit."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import sqlalchemy as sa

from scorewright.storage.tables.audit import audit


class AuditEntry(msgspec.Struct, frozen=True):
    """Something that somebody did."""

    id: str
    #: None: it concerned the whole server.
    project_id: str | None
    actor_id: str
    actor_name: str
    action: str
    kind: str
    target_id: str
    detail: Any
    request_id: str | None
    created_us: int


_COLUMNS: Final = [audit.c[name] for name in AuditEntry.__struct_fields__]


def add_entry(connection: sa.Connection, entry: AuditEntry) -> None:
    """Store what was done."""
    connection.execute(audit.insert().values(**msgspec.structs.asdict(entry)))


def list_entries(
    connection: sa.Connection, project_id: str, *, before_id: str | None, limit: int
) -> list[AuditEntry]:
    """List what was done in a project, newest first."""
    query = sa.select(*_COLUMNS).where(audit.c.project_id == project_id)
    if before_id is not None:
        query = query.where(audit.c.id < before_id)
    rows = connection.execute(query.order_by(audit.c.id.desc()).limit(limit))
    return [
        msgspec.convert(dict(zip(AuditEntry.__struct_fields__, row, strict=True)), AuditEntry)
        for row in rows
    ]
