"""The tables, one module per noun; a table that is not imported here is not in the database."""

from __future__ import annotations

from scorewright.storage.tables.api_keys import api_keys, sessions
from scorewright.storage.tables.audit import audit
from scorewright.storage.tables.idempotency_keys import idempotency_keys
from scorewright.storage.tables.metadata import METADATA
from scorewright.storage.tables.projects import projects

__all__ = ["METADATA", "api_keys", "audit", "idempotency_keys", "projects", "sessions"]
