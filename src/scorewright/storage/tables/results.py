"""Results: one row for each evaluator and item of a run. They belong to their run, and with it to a project."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Moment, Text

results: Final = sa.Table(
    "results",
    METADATA,
    sa.Column("run_id", Id, sa.ForeignKey("runs.id"), primary_key=True),
    #: Place of the evaluator in the run, from 0.
    sa.Column("evaluator_no", sa.Integer, primary_key=True),
    #: Number of the item in its source, from 1.
    sa.Column("item_no", sa.Integer, primary_key=True),
    sa.Column("item_id", Text, nullable=False),
    sa.Column("status", sa.String(8), nullable=False),
    sa.Column("score", sa.Double),
    sa.Column("normalised_score", sa.Double),
    sa.Column("passed", sa.Boolean),
    #: A JSON object, byte for byte; null where there are none.
    sa.Column("metrics", sa.LargeBinary),
    sa.Column("explanation", Text),
    sa.Column("reason", Text),
    sa.Column("failure_code", sa.String(24)),
    sa.Column("failure_type", Text),
    sa.Column("failure_message", Text),
    sa.Column("failure_line", sa.Integer),
    sa.Column("failure_traceback", Text),
    sa.Column("output", Text, nullable=False),
    sa.Column("duration_us", sa.BigInteger, nullable=False),
    sa.Column("out_of_range", sa.Boolean, nullable=False),
    sa.Column("basis", Text, nullable=False),
    sa.Column("environment", Text),
    sa.Column("runner", Text, nullable=False),
    sa.Column("reused", sa.Boolean, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.Index("ix_results_status", "run_id", "status", "evaluator_no", "item_no"),
    sa.Index("ix_results_score", "run_id", "evaluator_no", "score"),
)
