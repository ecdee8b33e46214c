"""Which items a run is about, fixed by the first worker that opens it: data go on arriving, and others open it later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from scorewright.services.run_parts import RunParts
from scorewright.storage.database import Database
from scorewright.storage.repositories import run_listings
from scorewright.storage.repositories import runs as run_rows


def listing_of(database: Database, parts: RunParts, run: sa.Row[Any]) -> Sequence[bytes] | None:
    """Return a run's listing, which is written where there is none yet.

    Args:
        database: Where it is.
        parts: What lists.
        run: Its row.

    Returns:
        None where its items cannot change, or where an older version of ours began it without one.

    Raises:
        CallerError: The caller's: what it is about cannot be read.
    """
    lister = parts.lister_of(run.source)
    if lister is None:
        return None
    with database.read() as connection:
        owner = run_listings.owner_of(connection, run)
        blocks = run_listings.blocks_of(connection, owner.id)
    if blocks:
        return blocks
    if owner.total is not None:
        return None
    found = list(lister.list(run.project_id, run.source))
    with database.write() as connection:
        run_rows.lock(connection, owner.id)
        blocks = run_listings.blocks_of(connection, owner.id)
        if blocks:  # another worker was first
            return blocks
        run_listings.insert(connection, owner.id, found)
    return found
