"""What is known of each trace: one row, made again whenever spans of it arrive."""

from __future__ import annotations

import hashlib
from typing import Final

import sqlalchemy as sa

from scorewright.storage.tables.metadata import METADATA, Id, Json, Moment, Text
from scorewright.storage.tables.projects import projects

#: Characters of questions and answers that are kept here; the spans have them whole.
EXCERPT_CHARS: Final = 512

_PENDING: Final = sa.text("pending_spans > 0")

traces: Final = sa.Table(
    "traces",
    METADATA,
    sa.Column("project_id", Id, sa.ForeignKey(projects.c.id), primary_key=True),
    sa.Column("trace_id", sa.String(32), primary_key=True),
    #: When its first span arrived, and when the row last changed.
    sa.Column("created_us", Moment, nullable=False),
    sa.Column("changed_us", Moment, nullable=False),
    #: Counts the changes, from 1.
    sa.Column("version", sa.Integer, nullable=False),
    #: Its place in lists: the start, or 0 where that is unknown.
    sa.Column("order_us", Moment, nullable=False),
    sa.Column("start_us", Moment),
    sa.Column("end_us", Moment),
    sa.Column("name", Text, nullable=False),
    sa.Column("status", sa.String(5), nullable=False),
    #: Excerpts: of a text the text itself, of another value its JSON. The form is null where the value is unknown.
    sa.Column("input", Text),
    sa.Column("input_form", sa.String(9)),
    sa.Column("output", Text),
    sa.Column("output_form", sa.String(9)),
    sa.Column("duration_ms", sa.Double),
    sa.Column("input_tokens", sa.BigInteger),
    sa.Column("output_tokens", sa.BigInteger),
    sa.Column("total_tokens", sa.BigInteger),
    sa.Column("cache_read_tokens", sa.BigInteger),
    sa.Column("cost_usd", sa.Double),
    sa.Column("error_count", sa.Integer, nullable=False),
    sa.Column("span_count", sa.Integer, nullable=False),
    sa.Column("llm_call_count", sa.Integer, nullable=False),
    sa.Column("tool_call_count", sa.Integer, nullable=False),
    sa.Column("models", Json, nullable=False),
    sa.Column("agents", Json, nullable=False),
    #: The spans that are items of evaluators of these levels, by start.
    sa.Column("agent_spans", Json, nullable=False),
    sa.Column("llm_spans", Json, nullable=False),
    #: Whether it does no more than set an agent up: there is nothing in it to judge.
    sa.Column("is_setup", sa.Boolean, nullable=False),
    sa.Column("session_id", Text),
    #: Of a fixed length, for the index.
    sa.Column("session_key", sa.String(32)),
    sa.Column("service", Text),
    sa.Column("environment", Text),
    #: Of the root's attributes, those that are short; and the names of the others.
    sa.Column("attributes", Json, nullable=False),
    sa.Column("long_attributes", Json, nullable=False),
    #: Spans that are stored and that the rest of the row does not tell of yet.
    sa.Column("pending_spans", sa.Integer, nullable=False, server_default="0"),
    sa.Index(None, "project_id", "order_us", "trace_id"),
    sa.Index(None, "project_id", "session_key", "order_us", "trace_id"),
    sa.Index("ix_traces_pending", "changed_us", sqlite_where=_PENDING, postgresql_where=_PENDING),
)


def session_key(session_id: str) -> str:
    """Return what a session is found by: an index cannot hold a text of any length."""
    return hashlib.sha256(session_id.encode()).hexdigest()[:32]
