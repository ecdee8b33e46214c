"""API keys and the sessions that browsers get for them. Neither's secret is kept, only its SHA-256."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text

#: SHA-256 as hexadecimal digits.
_Digest: Final = sa.String(64)

api_keys: Final = sa.Table(
    "api_keys",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    #: Null for a key that is good for every project.
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), index=True),
    sa.Column("name", Text, nullable=False),
    #: How the secret starts, so that people can tell keys apart.
    sa.Column("prefix", Text, nullable=False),
    sa.Column("secret_sha256", _Digest, nullable=False, unique=True),
    sa.Column("scopes", Json, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("expires_us", Moment),
    sa.Column("last_used_us", Moment),
    sa.Column("revoked_us", Moment),
)

sessions: Final = sa.Table(
    "sessions",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    #: The key that was logged in with: its project and scopes are the session's, and its end is the session's end.
    sa.Column("key_id", Id, sa.ForeignKey("api_keys.id"), nullable=False, index=True),
    sa.Column("secret_sha256", _Digest, nullable=False, unique=True),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("expires_us", Moment, nullable=False, index=True),
)
