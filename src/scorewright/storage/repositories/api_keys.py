"""API keys and sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec
import sqlalchemy as sa

from scorewright.storage.tables.api_keys import api_keys, sessions


class ApiKey(msgspec.Struct, frozen=True):
    """A key, without its secret."""

    id: str
    #: None: good for every project.
    project_id: str | None
    name: str
    prefix: str
    scopes: tuple[str, ...]
    created_us: int
    expires_us: int | None
    last_used_us: int | None
    revoked_us: int | None


_COLUMNS: Final = [api_keys.c[name] for name in ApiKey.__struct_fields__]


def add_key(connection: sa.Connection, key: ApiKey, secret_sha256: str) -> None:
    """Store a new key."""
    row = {**msgspec.structs.asdict(key), "scopes": list(key.scopes)}
    connection.execute(api_keys.insert().values(**row, secret_sha256=secret_sha256))


def key_of_secret(connection: sa.Connection, secret_sha256: str, now_us: int) -> ApiKey | None:
    """Find the key of a secret that is good at a moment."""
    return _first(
        connection,
        sa.select(*_COLUMNS).where(api_keys.c.secret_sha256 == secret_sha256, _is_good(now_us)),
    )


def key_of_session(connection: sa.Connection, secret_sha256: str, now_us: int) -> ApiKey | None:
    """Find the key of a session that is good at a moment, as is its key."""
    return _first(
        connection,
        sa.select(*_COLUMNS)
        .join(sessions, sessions.c.key_id == api_keys.c.id)
        .where(
            sessions.c.secret_sha256 == secret_sha256,
            sessions.c.expires_us > now_us,
            _is_good(now_us),
        ),
    )


def get_key(
    connection: sa.Connection, project_id: str, key_id: str, *, with_general: bool
) -> ApiKey | None:
    """Find a key of a project, or where asked for one that is good for every project."""
    return _first(
        connection,
        sa.select(*_COLUMNS).where(api_keys.c.id == key_id, _of(project_id, with_general)),
    )


def list_keys(
    connection: sa.Connection,
    project_id: str,
    *,
    with_general: bool,
    before_id: str | None,
    limit: int,
) -> list[ApiKey]:
    """List a project's keys, newest first."""
    query = sa.select(*_COLUMNS).where(_of(project_id, with_general))
    if before_id is not None:
        query = query.where(api_keys.c.id < before_id)
    rows = connection.execute(query.order_by(api_keys.c.id.desc()).limit(limit))
    return [_key(row) for row in rows]


def has_general_key(connection: sa.Connection) -> bool:
    """Tell whether there ever was a key that is good for every project."""
    query = sa.select(api_keys.c.id).where(api_keys.c.project_id.is_(None)).limit(1)
    return connection.scalar(query) is not None


def revoke_key(connection: sa.Connection, key_id: str, now_us: int) -> None:
    """End a key, and with it its sessions."""
    connection.execute(
        api_keys.update()
        .where(api_keys.c.id == key_id, api_keys.c.revoked_us.is_(None))
        .values(revoked_us=now_us)
    )
    connection.execute(sessions.delete().where(sessions.c.key_id == key_id))


def set_last_used(connection: sa.Connection, used_us: Mapping[str, int]) -> None:
    """Store when keys were used last."""
    for key_id, moment_us in used_us.items():
        connection.execute(
            api_keys.update().where(api_keys.c.id == key_id).values(last_used_us=moment_us)
        )


def add_session(  # noqa: PLR0913 - the columns
    connection: sa.Connection,
    session_id: str,
    *,
    key_id: str,
    secret_sha256: str,
    created_us: int,
    expires_us: int,
) -> None:
    """Store a new session."""
    connection.execute(
        sessions.insert().values(
            id=session_id,
            key_id=key_id,
            secret_sha256=secret_sha256,
            created_us=created_us,
            expires_us=expires_us,
        )
    )


def remove_session(connection: sa.Connection, secret_sha256: str) -> str | None:
    """End a session; returns its id, None where there is none."""
    ended = sessions.delete().where(sessions.c.secret_sha256 == secret_sha256)
    return connection.scalar(ended.returning(sessions.c.id))


def remove_expired_sessions(connection: sa.Connection, now_us: int) -> None:
    """Forget sessions that ended by themselves."""
    connection.execute(sessions.delete().where(sessions.c.expires_us <= now_us))


def _is_good(now_us: int) -> sa.ColumnElement[bool]:
    is_timely = sa.or_(api_keys.c.expires_us.is_(None), api_keys.c.expires_us > now_us)
    return sa.and_(api_keys.c.revoked_us.is_(None), is_timely)


def _of(project_id: str, with_general: bool) -> sa.ColumnElement[bool]:  # noqa: FBT001 - private
    its_own = api_keys.c.project_id == project_id
    return sa.or_(its_own, api_keys.c.project_id.is_(None)) if with_general else its_own


def _first(connection: sa.Connection, query: sa.Select[*tuple[object, ...]]) -> ApiKey | None:
    row = connection.execute(query).first()
    return None if row is None else _key(row)


def _key(row: sa.Row[*tuple[object, ...]]) -> ApiKey:
    return msgspec.convert(dict(zip(ApiKey.__struct_fields__, row, strict=True)), ApiKey)
