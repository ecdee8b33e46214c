"""Writes the revision that leads from the last one to the tables as the code has them: `make migration MESSAGE=…`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command

from scorewright.storage.database import Database, sqlite_url
from scorewright.storage.schema import MIGRATIONS, alembic_config, migrate


def write_revision(message: str) -> list[Path]:
    """Write a revision; none where the tables are as the last one left them.

    Args:
        message: What changes, in a few words.
    """
    before = set((MIGRATIONS / "versions").glob("[0-9]*.py"))
    number = f"{len(before) + 1:04d}"
    with tempfile.TemporaryDirectory() as folder:
        database = Database(sqlite_url(Path(folder) / "empty.db"))
        if before:
            migrate(database)
        config = alembic_config()
        with database.write() as connection:
            config.attributes["connection"] = connection
            command.revision(config, message, autogenerate=True, rev_id=number)
        database.close()
    return sorted(set((MIGRATIONS / "versions").glob("[0-9]*.py")) - before)


if __name__ == "__main__":
    for path in write_revision(" ".join(sys.argv[1:]) or "tables"):
        sys.stdout.write(f"{path}\n")
