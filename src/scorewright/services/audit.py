"""Who does what: every change that a service makes is noted in the same transaction."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import msgspec
import sqlalchemy as sa
from structlog.contextvars import get_contextvars

from scorewright.domain.errors import ConflictError
from scorewright.storage.database import Database
from scorewright.storage.repositories import audit
from scorewright.storage.repositories.audit import AuditEntry
from scorewright.storage.repositories.idempotency_keys import set_changed
from scorewright.storage.tables.metadata import new_id, now_us

__all__ = ["SYSTEM", "Actor", "AuditEntry", "act_as", "list_audit", "note", "under_claim"]


class Actor(msgspec.Struct, frozen=True):
    """Who does something."""

    #: An API key's, or `system` or `anyone`.
    id: str
    name: str


#: The server itself, when nobody has asked it to.
SYSTEM: Final = Actor("system", "system")
#: The Idempotency-Key that it is done under, by the id of its claim.
_claim_id: ContextVar[str | None] = ContextVar("claim_id", default=None)
_acting: ContextVar[Actor] = ContextVar("acting", default=SYSTEM)


@contextmanager
def act_as(actor: Actor) -> Generator[None]:
    """Let what is noted inside the block, and in threads started by it, be of an actor."""
    token = _acting.set(actor)
    try:
        yield
    finally:
        _acting.reset(token)


@contextmanager
def under_claim(claim_id: str) -> Generator[None]:
    """Let what is noted inside the block, and in threads started by it, be done under an Idempotency-Key."""
    token = _claim_id.set(claim_id)
    try:
        yield
    finally:
        _claim_id.reset(token)


def note(  # noqa: PLR0913 - each by name
    connection: sa.Connection,
    project_id: str | None,
    action: str,
    *,
    kind: str,
    target_id: str,
    detail: Any = None,
) -> None:
    """Note that something is changed, as part of the transaction that changes it.

    Args:
        connection: In that transaction.
        project_id: None for what concerns the whole server.
        action: A verb: `create`, `edit`, `delete`, `restore`, `cancel` …
        kind: What is changed: `evaluator`, `dataset` …
        target_id: Its id.
        detail: A small JSON value with what else is worth knowing; never a secret, a source or data.

    Raises:
        ConflictError: The caller's: the request took so long that its Idempotency-Key is another request's now.
    """
    claim_id = _claim_id.get()
    if claim_id is not None and not set_changed(connection, claim_id, f"{kind} {target_id}"):
        raise ConflictError("the request took too long; the same one was sent again meanwhile")
    actor = _acting.get()
    entry = AuditEntry(
        id=new_id(),
        project_id=project_id,
        actor_id=actor.id,
        actor_name=actor.name,
        action=action,
        kind=kind,
        target_id=target_id,
        detail=detail,
        request_id=get_contextvars().get("request_id"),
        created_us=now_us(),
    )
    audit.add_entry(connection, entry)


def list_audit(
    database: Database, project_id: str, *, before_id: str | None, limit: int
) -> list[AuditEntry]:
    """List what was done in a project, newest first.

    Args:
        database: Where it stands.
        project_id: The project.
        before_id: Start after this entry.
        limit: How many at most.
    """
    with database.read() as connection:
        return audit.list_entries(connection, project_id, before_id=before_id, limit=limit)
