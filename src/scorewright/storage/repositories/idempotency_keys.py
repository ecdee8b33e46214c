"""What requests with an Idempotency-Key were answered."""

from __future__ import annotations

from typing import Final

import msgspec
import sqlalchemy as sa

from scorewright.storage.statements import upsert
from scorewright.storage.tables.idempotency_keys import idempotency_keys


class Claim(msgspec.Struct, frozen=True):
    """A request that was made with a key."""

    id: str
    project_id: str
    key: str
    operation: str
    created_us: int
    #: None, as all that follow, while the request is in progress.
    body_sha256: str | None = None
    status: int | None = None
    headers: dict[str, str] | None = None
    #: None also where it was too large to keep.
    body: bytes | None = None
    #: What it changed, such as `evaluator 0123…`; None until then.
    changed: str | None = None


_COLUMNS: Final = [idempotency_keys.c[name] for name in Claim.__struct_fields__]


def add_claim(connection: sa.Connection, claim: Claim) -> bool:
    """Take a key for a request; False when it is taken. Of many that try at once, one gets it."""
    insert = upsert(connection, idempotency_keys)
    statement = insert.values(**msgspec.structs.asdict(claim)).on_conflict_do_nothing()
    # What was inserted says so itself: drivers do not agree on how many rows there were.
    return connection.execute(statement.returning(idempotency_keys.c.id)).first() is not None


def find_claim(connection: sa.Connection, project_id: str, key: str) -> Claim | None:
    """Find the request that has taken a key."""
    row = connection.execute(
        sa.select(*_COLUMNS).where(
            idempotency_keys.c.project_id == project_id, idempotency_keys.c.key == key
        )
    ).first()
    if row is None:
        return None
    return msgspec.convert(dict(zip(Claim.__struct_fields__, row, strict=True)), Claim)


def set_answer(connection: sa.Connection, claim: Claim) -> None:
    """Store what a request was answered; nothing happens when its key was taken over meanwhile."""
    connection.execute(
        idempotency_keys.update()
        .where(idempotency_keys.c.id == claim.id)
        .values(
            body_sha256=claim.body_sha256,
            status=claim.status,
            headers=claim.headers,
            body=claim.body,
        )
    )


def set_changed(connection: sa.Connection, claim_id: str, changed: str) -> bool:
    """Store what a request changes, in the transaction that does; False when its key was taken over meanwhile."""
    statement = (
        idempotency_keys.update()
        .where(idempotency_keys.c.id == claim_id)
        .values(changed=sa.func.coalesce(idempotency_keys.c.changed, changed))
    )
    return connection.execute(statement).rowcount == 1


def remove_unchanged(connection: sa.Connection, claim_id: str) -> None:
    """Give a key back whose request is not known to have changed anything."""
    connection.execute(
        idempotency_keys.delete().where(
            idempotency_keys.c.id == claim_id,
            idempotency_keys.c.changed.is_(None),
            idempotency_keys.c.status.is_(None),
        )
    )


def remove_claim(connection: sa.Connection, claim_id: str) -> None:
    """Forget a request."""
    connection.execute(idempotency_keys.delete().where(idempotency_keys.c.id == claim_id))


def remove_claims_before(connection: sa.Connection, moment_us: int) -> None:
    """Forget old requests."""
    connection.execute(idempotency_keys.delete().where(idempotency_keys.c.created_us < moment_us))
