"""What Alembic runs: migrations over the connection that `storage.schema` gives it."""

from __future__ import annotations

from typing import Any, Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from alembic.operations.ops import MigrationScript

from scorewright.storage.tables.metadata import METADATA, Json, Text


def _plain(kind: str, value: Any, autogen: AutogenContext) -> str | Literal[False]:
    """Write our types as they are in the database: a revision stays true when they change."""
    if kind == "type" and isinstance(value, Text):
        return "sa.Text()"
    if kind == "type" and isinstance(value, Json):
        autogen.imports.add("from sqlalchemy.dialects import postgresql")
        return 'sa.JSON().with_variant(postgresql.JSONB(), "postgresql")'
    return False


def _drop_empty(_context: Any, _revision: Any, directives: list[MigrationScript]) -> None:
    """Write no revision that changes nothing."""
    operations = directives[0].upgrade_ops
    if operations is not None and operations.is_empty():
        directives.clear()


context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,  # SQLite can change little of a table: it is copied
    render_item=_plain,
    process_revision_directives=_drop_empty,
    transactional_ddl=True,
)
context.run_migrations()
