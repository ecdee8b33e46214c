"""Which items a run is about, fixed by the first worker that opens it: data go on arriving, and others open it later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from scorewright.services.run_model import frozen_of, levels_of
from scorewright.services.run_parts import RunParts
from scorewright.sources.source import Source
from scorewright.storage.database import Database
from scorewright.storage.repositories import run_listings
from scorewright.storage.repositories import runs as run_rows


def open_items(database: Database, parts: RunParts, run: sa.Row[Any]) -> Source:
    """Open what a run is about, which is the same whenever and wherever that is done.

    Args:
        database: Where its listing is.
        parts: Opens the source.
        run: Its row.

    Raises:
        CallerError: The caller's: what it is about cannot be read.
    """
    levels = levels_of(frozen_of(run))
    listing = listing_of(database, parts, run)
    lister = parts.lister_of(run.source)
    if lister is None or listing is None:
        return parts.open_source(run.project_id, run.source, levels)
    return lister.open(run.project_id, run.source, levels, listing)


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
