"""Which stored traces or log records runs are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from scorewright.storage.tables.runs import run_listings, runs


def owner_of(connection: sa.Connection, run: sa.Row[Any]) -> sa.Row[Any]:
    """Return the run that has the listing of another one: one of failed items is about its parent's."""
    while run.mode == "failed" and run.parent_run_id is not None:
        run = connection.execute(sa.select(runs).where(runs.c.id == run.parent_run_id)).one()
    return run


def blocks_of(connection: sa.Connection, run_id: str) -> list[bytes]:
    """Return a run's listing; empty where it has none."""
    found = connection.scalars(
        sa.select(run_listings.c.body)
        .where(run_listings.c.run_id == run_id)
        .order_by(run_listings.c.block_no)
    )
    return [bytes(body) for body in found]


def insert(connection: sa.Connection, run_id: str, blocks: Sequence[bytes]) -> None:
    """Write a run's listing."""
    connection.execute(
        run_listings.insert(),
        [{"run_id": run_id, "block_no": at, "body": body} for at, body in enumerate(blocks)],
    )
