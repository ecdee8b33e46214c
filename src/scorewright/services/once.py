"""Requests that are sent again under the same Idempotency-Key: done once, answered as often as asked."""

from __future__ import annotations

from typing import Final

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import ConflictError, UsageError
from scorewright.storage.database import Database
from scorewright.storage.repositories import idempotency_keys
from scorewright.storage.repositories.idempotency_keys import Claim
from scorewright.storage.tables.metadata import new_id, now_us

__all__ = [
    "KEPT_S",
    "MAX_BODY_BYTES",
    "Claim",
    "check_same",
    "claim",
    "finish",
    "forget_old",
    "give_up",
]

KEPT_S: Final = 24 * 3600
#: Of an answer that is kept.
MAX_BODY_BYTES: Final = 64 * 1024
#: After that a request that has no answer is taken to have been lost with its server.
_LOST_S: Final = 15 * 60


def claim(database: Database, project_id: str, key: str, operation: str) -> Claim:
    """Take a key for a request, or find the request that had it.

    Args:
        database: Where keys stand.
        project_id: Keys of other projects are other keys.
        key: As the caller made it up.
        operation: What is asked for and by whom, in one text.

    Returns:
        With a status: the request that was answered before. Without: this one, which is now the only one to be done.

    Raises:
        UsageError: The caller's: another operation had the key.
        ConflictError: The caller's: the same request is in progress, or was done by a server that died before it
            could answer.
    """
    now = now_us()
    wanted = Claim(new_id(), project_id, key, operation, now)
    with database.write() as connection:
        if idempotency_keys.add_claim(connection, wanted):
            return wanted
        found = idempotency_keys.find_claim(connection, project_id, key)
        if found is not None and _is_void(found, now):
            # A request that goes on all the same finds its key gone when it comes to change something.
            _remove(connection, found)
            if idempotency_keys.add_claim(connection, wanted):
                return wanted
    if found is not None and found.operation != operation:
        raise _other()
    if found is not None and found.status is None and found.changed is not None:
        raise ConflictError(
            f"the request was done, and made {found.changed}; its answer is on its way, or was lost"
        )
    if found is None or found.status is None:
        raise ConflictError("a request with this Idempotency-Key is in progress; try again later")
    return found


def check_same(found: Claim, body_sha256: str) -> None:
    """Make sure that a request which is sent again is the one that was answered.

    Raises:
        UsageError: The caller's: its body is another one.
        ConflictError: The caller's: it was done, but its answer was too large to be kept.
    """
    if found.body_sha256 != body_sha256:
        raise _other()
    if found.body is None:
        raise ConflictError(
            f"the request was done and answered with {found.status}; the answer was too large to be kept"
        )


def finish(  # noqa: PLR0913 - the parts of an answer
    database: Database,
    claimed: Claim,
    *,
    body_sha256: str,
    status: int,
    headers: dict[str, str],
    body: bytes | None,
) -> None:
    """Keep what a request was answered.

    Args:
        database: Where keys stand.
        claimed: The request.
        body_sha256: Of its body.
        status: Of the answer.
        headers: Those of the answer that are worth keeping.
        body: Of the answer; None where it cannot be kept.
    """
    kept = body if body is None or len(body) <= MAX_BODY_BYTES else None
    answered = msgspec.structs.replace(
        claimed, body_sha256=body_sha256, status=status, headers=headers, body=kept
    )
    with database.write() as connection:
        idempotency_keys.set_answer(connection, answered)


def give_up(database: Database, claimed: Claim) -> None:
    """Give a key back whose request changed nothing, so that it may be sent again."""
    with database.write() as connection:
        idempotency_keys.remove_unchanged(connection, claimed.id)


def forget_old(database: Database) -> None:
    """Forget requests whose time is over."""
    with database.write() as connection:
        idempotency_keys.remove_claims_before(connection, now_us() - KEPT_S * 1_000_000)


def _is_void(found: Claim, now: int) -> bool:
    kept_s = _LOST_S if found.status is None and found.changed is None else KEPT_S
    return found.created_us < now - kept_s * 1_000_000


def _remove(connection: sa.Connection, found: Claim) -> None:
    if found.status is None and found.changed is None:
        idempotency_keys.remove_unchanged(connection, found.id)  # it may have changed just now
    else:
        idempotency_keys.remove_claim(connection, found.id)


def _other() -> UsageError:
    return UsageError("Idempotency-Key: another request had it; use a new key for each request").at(
        "Idempotency-Key"
    )
