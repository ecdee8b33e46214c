"""Who may do what: API keys with scopes, and the sessions that browsers get for them."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec
import sqlalchemy as sa

from scorewright.domain.errors import NotFoundError, UsageError
from scorewright.domain.suggestion import quote
from scorewright.services.audit import Actor, act_as, note
from scorewright.storage.database import Database
from scorewright.storage.repositories import api_keys
from scorewright.storage.repositories.api_keys import ApiKey
from scorewright.storage.tables.metadata import new_id, now_us

__all__ = [
    "ANYONE",
    "SCOPES",
    "SESSION_S",
    "ApiKey",
    "Caller",
    "LastUsed",
    "NewKey",
    "Scope",
    "authenticate",
    "authenticate_session",
    "create_key",
    "end_session",
    "ensure_first_key",
    "forget_expired_sessions",
    "list_keys",
    "make_general_key",
    "revoke_key",
    "start_session",
]

Scope = Literal["read", "write", "admin", "ingest"]
#: What each scope of a key allows.
SCOPES: Final[Mapping[Scope, frozenset[Scope]]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write", "ingest"}),
    "admin": frozenset({"read", "write", "ingest", "admin"}),
    "ingest": frozenset({"ingest"}),
}
SESSION_S: Final = 7 * 24 * 3600
_PREFIX: Final = "sw_"
_PREFIX_CHARS: Final = 10
_MAX_SECRET_CHARS: Final = 200


class Caller(msgspec.Struct, frozen=True):
    """Who asks, and what they may do."""

    actor: Actor
    scopes: frozenset[Scope]
    #: None: every project.
    project_id: str | None

    def may(self, scope: Scope) -> bool:
        """Tell whether something is allowed."""
        return scope in self.scopes


#: Everybody, on a server that asks nobody who they are.
ANYONE: Final = Caller(Actor("anyone", "anyone"), SCOPES["admin"], None)


class NewKey(msgspec.Struct, frozen=True):
    """A key that was just made; the only time that its secret is seen."""

    key: ApiKey
    secret: str


class LastUsed:
    """When keys were used last: kept in memory and written now and then, so that asking never waits for a writer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used_us: dict[str, int] = {}

    def use(self, key_id: str) -> None:
        """Remember that a key is used."""
        with self._lock:
            self._used_us[key_id] = now_us()

    def store(self, database: Database) -> None:
        """Write what is remembered."""
        with self._lock:
            used_us, self._used_us = self._used_us, {}
        if used_us:
            with database.write() as connection:
                api_keys.set_last_used(connection, used_us)


def authenticate(database: Database, secret: str) -> Caller | None:
    """Tell whose key this is; None for one that is unknown, expired or revoked."""
    if len(secret) > _MAX_SECRET_CHARS:
        return None
    with database.read() as connection:
        return _caller(api_keys.key_of_secret(connection, _sha256(secret), now_us()))


def authenticate_session(database: Database, secret: str) -> Caller | None:
    """Tell whose session this is; None for one that ended, by itself or with its key."""
    if len(secret) > _MAX_SECRET_CHARS:
        return None
    with database.read() as connection:
        return _caller(api_keys.key_of_session(connection, _sha256(secret), now_us()))


def start_session(database: Database, caller: Caller) -> str:
    """Start a session for whoever a key belongs to; returns its secret."""
    secret = secrets.token_urlsafe(32)
    with act_as(caller.actor), database.write() as connection:
        created_us = now_us()
        session_id = new_id()
        api_keys.add_session(
            connection,
            session_id,
            key_id=caller.actor.id,
            secret_sha256=_sha256(secret),
            created_us=created_us,
            expires_us=created_us + SESSION_S * 1_000_000,
        )
        note(connection, caller.project_id, "login", kind="session", target_id=session_id)
    return secret


def end_session(database: Database, secret: str) -> None:
    """End a session; one that is unknown has ended already."""
    caller = authenticate_session(database, secret)
    if caller is None:
        return
    with act_as(caller.actor), database.write() as connection:
        session_id = api_keys.remove_session(connection, _sha256(secret))
        if session_id is not None:
            note(connection, caller.project_id, "logout", kind="session", target_id=session_id)


def forget_expired_sessions(database: Database) -> None:
    """Remove sessions that ended by themselves."""
    with database.write() as connection:
        api_keys.remove_expired_sessions(connection, now_us())


def create_key(
    database: Database,
    project_id: str,
    *,
    name: str,
    scopes: Sequence[Scope],
    expires_us: int | None,
) -> NewKey:
    """Make a key for a project.

    Raises:
        UsageError: The caller's: it would have expired already.
    """
    if expires_us is not None and expires_us <= now_us():
        raise UsageError("expires_at: it has passed; give a later time, or none").at("/expires_at")
    with database.write() as connection:
        return _add(connection, project_id, name=name, scopes=scopes, expires_us=expires_us)


def make_general_key(database: Database, name: str, *, for_us: int | None = None) -> NewKey:
    """Make a key that may do everything in every project, for some time or, with None, until it is revoked."""
    expires_us = None if for_us is None else now_us() + for_us
    with database.write() as connection:
        return _add(connection, None, name=name, scopes=["admin"], expires_us=expires_us)


def ensure_first_key(database: Database) -> NewKey | None:
    """Make the first key that may do everything; None where there ever was one."""
    with database.write() as connection:
        if api_keys.has_general_key(connection):
            return None
        return _add(connection, None, name="first login", scopes=["admin"], expires_us=None)


def list_keys(
    database: Database, caller: Caller, project_id: str, *, before_id: str | None, limit: int
) -> list[ApiKey]:
    """List a project's keys, newest first; those of every project only for one whose key is such.

    Args:
        database: Where they stand.
        caller: Who asks.
        project_id: The project.
        before_id: Start after this key.
        limit: How many at most.
    """
    with database.read() as connection:
        return api_keys.list_keys(
            connection,
            project_id,
            with_general=caller.project_id is None,
            before_id=before_id,
            limit=limit,
        )


def revoke_key(database: Database, caller: Caller, project_id: str, key_id: str) -> None:
    """End a key and its sessions; one that has ended stays as it is.

    Raises:
        NotFoundError: The caller's: the project has no such key.
    """
    with database.write() as connection:
        is_general = caller.project_id is None
        key = api_keys.get_key(connection, project_id, key_id, with_general=is_general)
        if key is None:
            raise NotFoundError(f"there is no API key {quote(key_id)}")
        if key.revoked_us is None:
            api_keys.revoke_key(connection, key_id, now_us())
            note(
                connection,
                key.project_id,
                "revoke",
                kind="api_key",
                target_id=key_id,
                detail={"name": key.name},
            )


def _add(
    connection: sa.Connection,
    project_id: str | None,
    *,
    name: str,
    scopes: Sequence[Scope],
    expires_us: int | None,
) -> NewKey:
    secret = _PREFIX + secrets.token_urlsafe(32)
    key = ApiKey(
        id=new_id(),
        project_id=project_id,
        name=name,
        prefix=secret[:_PREFIX_CHARS],
        scopes=tuple(scope for scope in SCOPES if scope in scopes),
        created_us=now_us(),
        expires_us=expires_us,
        last_used_us=None,
        revoked_us=None,
    )
    api_keys.add_key(connection, key, _sha256(secret))
    detail = {"name": name, "scopes": list(key.scopes)}
    note(connection, project_id, "create", kind="api_key", target_id=key.id, detail=detail)
    return NewKey(key, secret)


def _caller(key: ApiKey | None) -> Caller | None:
    if key is None:
        return None
    allowed = frozenset[Scope]().union(*(SCOPES[scope] for scope in SCOPES if scope in key.scopes))
    return Caller(Actor(key.id, key.name), allowed, key.project_id)


def _sha256(secret: str) -> str:
    # Fast on purpose: secrets are 32 random bytes, which nobody finds by trying.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
