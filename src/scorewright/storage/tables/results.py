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
)

#: Results as columns, so many at a time: what lists are filtered and put in order by. Written with the results.
result_blocks: Final = sa.Table(
    "result_blocks",
    METADATA,
    sa.Column("run_id", Id, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("evaluator_no", sa.Integer, primary_key=True),
    #: Number of the chunk that the results were made of.
    sa.Column("block_no", sa.Integer, primary_key=True),
    sa.Column("first_item", sa.Integer, nullable=False),
    sa.Column("last_item", sa.Integer, nullable=False),
    sa.Column("count", sa.Integer, nullable=False),
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("min_score", sa.Double),
    sa.Column("max_score", sa.Double),
    #: See `domain.result_block`.
    sa.Column("kinds", sa.LargeBinary, nullable=False),
    sa.Column("codes", sa.LargeBinary, nullable=False),
    sa.Column("items", sa.LargeBinary),
    sa.Column("scores", sa.LargeBinary),
    sa.Column("ranks", sa.LargeBinary),
)

#: Words in the texts of a block's results.
result_words: Final = sa.Table(
    "result_words",
    METADATA,
    sa.Column("run_id", Id, sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("evaluator_no", sa.Integer, primary_key=True),
    #: See `domain.word_index`.
    sa.Column("shelf", sa.Integer, primary_key=True),
    sa.Column("block_no", sa.Integer, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
)

#: What results amount to by hour and by day, over all runs of a task, and of a project. Written with the results.
result_times: Final = sa.Table(
    "result_times",
    METADATA,
    #: Id of the task, or of the project.
    sa.Column("scope_id", Id, primary_key=True),
    #: How long it is: an hour or a day.
    sa.Column("length_s", sa.Integer, primary_key=True),
    sa.Column("start_us", Moment, primary_key=True),
    #: What results call the evaluator.
    sa.Column("evaluator", Text, primary_key=True),
    sa.Column("evaluator_id", sa.String(64), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("low", sa.Double),
    sa.Column("high", sa.Double),
    #: A `domain.time_rollup.TimeRollup`.
    sa.Column("body", sa.LargeBinary, nullable=False),
)
