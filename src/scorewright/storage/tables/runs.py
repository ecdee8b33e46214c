"""Runs of tasks, who works on them, and what is done of them."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text

runs: Final = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", Id, primary_key=True),
    sa.Column("project_id", Id, sa.ForeignKey("projects.id"), nullable=False),
    sa.Column("task_id", Id, sa.ForeignKey("tasks.id"), nullable=False),
    #: From 1 in its task.
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("status", sa.String(12), nullable=False),
    #: `all`, or `failed`: what has a result in the parent is taken over from it.
    sa.Column("mode", sa.String(8), nullable=False),
    sa.Column("parent_run_id", Id, sa.ForeignKey("runs.id")),
    #: As they were when the run was made: the task may change.
    sa.Column("source", Json, nullable=False),
    sa.Column("settings", Json, nullable=False),
    #: The evaluators in full, with mapping and params: their JSON, byte for byte.
    sa.Column("resolved", sa.LargeBinary, nullable=False),
    #: The time that evaluators see.
    sa.Column("clock_s", sa.Float, nullable=False),
    #: Items to judge; unknown until the first worker has looked.
    sa.Column("total", sa.Integer),
    #: The first item that nobody was given yet, by its place among those to judge, and the next chunk's number.
    sa.Column("next_place", sa.Integer, nullable=False),
    sa.Column("next_chunk", sa.Integer, nullable=False),
    sa.Column("next_share", sa.Integer, nullable=False),
    #: Items done, and results by what became of them.
    sa.Column("done", sa.Integer, nullable=False),
    sa.Column("scored", sa.Integer, nullable=False),
    sa.Column("skipped", sa.Integer, nullable=False),
    sa.Column("failed", sa.Integer, nullable=False),
    #: Grows with every change that somebody who watches should hear of.
    sa.Column("change", sa.Integer, nullable=False),
    sa.Column("error", Text),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("started_us", Moment),
    sa.Column("ended_us", Moment),
    sa.UniqueConstraint("task_id", "number"),
    sa.Index("ix_runs_newest", "project_id", "created_us", "id"),
    sa.Index("ix_runs_of_task", "task_id", "created_us", "id"),
    sa.Index("ix_runs_waiting", "status", "created_us", "id"),
)

#: Which stored traces or log records a run is about, so that all its workers judge the same; written by the first.
run_listings: Final = sa.Table(
    "run_listings",
    METADATA,
    sa.Column("run_id", Id, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("block_no", sa.Integer, primary_key=True),
    #: Some of them, in order: see `sources.stored_listing`.
    sa.Column("body", sa.LargeBinary, nullable=False),
)

#: A part of a run's items that one worker was given; done when its results are there.
chunks: Final = sa.Table(
    "chunks",
    METADATA,
    sa.Column("run_id", Id, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("chunk_no", sa.Integer, primary_key=True),
    #: Place of the first item, from 0, and how many.
    sa.Column("first", sa.Integer, nullable=False),
    sa.Column("count", sa.Integer, nullable=False),
    #: Whose it is; null when it was handed back.
    sa.Column("share_id", sa.String(48)),
    sa.Column("done_us", Moment),
    sa.Index("ix_chunks_open", "run_id", "done_us", "chunk_no"),
)

#: One durable workflow's part in a run: it takes chunks until there are none left.
run_shares: Final = sa.Table(
    "run_shares",
    METADATA,
    #: Of the workflow too.
    sa.Column("id", sa.String(48), primary_key=True),
    sa.Column("run_id", Id, sa.ForeignKey("runs.id"), nullable=False),
    #: Whether the workflow was put into the queue, since whoever made the share did not begin it at once.
    sa.Column("is_enqueued", sa.Boolean, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("ended_us", Moment),
    sa.Index("ix_run_shares_open", "ended_us", "run_id"),
)

#: What all results of one evaluator in a run amount to.
run_evaluators: Final = sa.Table(
    "run_evaluators",
    METADATA,
    sa.Column("run_id", Id, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("evaluator_no", sa.Integer, primary_key=True),
    sa.Column("name", Text, nullable=False),
    sa.Column("scored", sa.Integer, nullable=False),
    sa.Column("skipped", sa.Integer, nullable=False),
    sa.Column("failed", sa.Integer, nullable=False),
    sa.Column("environment", Text),
    #: What the results were made in.
    sa.Column("runner", Json),
    #: A `domain.rollup.Rollup`.
    sa.Column("rollup", sa.LargeBinary),
)

#: Processes that work on runs.
executors: Final = sa.Table(
    "executors",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("started_us", Moment, nullable=False),
    #: When it was last heard of, by its own clock: for people.
    sa.Column("heartbeat_us", Moment, nullable=False),
    #: Grows while it lives. Others watch whether it does, by a clock that cannot be set.
    sa.Column("beats", sa.BigInteger, nullable=False),
)
