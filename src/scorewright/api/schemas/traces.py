"""Traces as they travel."""

from __future__ import annotations

from typing import Any, Literal, cast

import sqlalchemy as sa
from pydantic import BaseModel, Field

from scorewright.api.moments import Moment, moment, moment_or_none
from scorewright.api.paging import Page
from scorewright.domain.json_value import JsonObject


class Excerpt(BaseModel):
    """The beginning of a question or an answer."""

    text: str = Field(description="at most 512 characters; of what is no text, its JSON")
    kind: Literal["text", "json"]
    is_cut: bool


class Tokens(BaseModel):
    """Tokens of all model calls; null is unknown."""

    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    cache_read_tokens: int | None


class TraceSummary(BaseModel):
    """What is known of a trace; null is unknown, never 0."""

    trace_id: str
    name: str = Field(description="of the root span")
    status: Literal["OK", "ERROR", "UNSET"] = Field(description="of the root span")
    start_time: Moment | None
    end_time: Moment | None
    duration_ms: float | None
    input: Excerpt | None
    output: Excerpt | None
    models: list[str]
    agents: list[str]
    session_id: str | None
    service: str | None
    environment: str | None
    tokens: Tokens | None
    cost_usd: float | None
    error_count: int
    span_count: int
    llm_call_count: int
    tool_call_count: int
    is_setup: bool = Field(description="whether it only sets an agent up: evaluators never see it")
    version: int = Field(description="counts the changes, from 1")
    first_seen_at: Moment
    changed_at: Moment


class TracePage(Page[TraceSummary]):
    """A part of the list of traces."""

    ended_early: bool = Field(
        description="whether the page is short since many traces had to be read whole for the filter; "
        "next_cursor goes on"
    )


class TraceDetail(BaseModel):
    """A trace with a part of its spans."""

    trace: TraceSummary
    notices: list[str] = Field(description="what was odd about it")
    spans: list[dict[str, Any]] = Field(
        description="in tree order: parents before their children, siblings by start. `parent` and `depth` place a "
        "span: the position of its parent in the whole trace, from 0 (-1: none), and the levels above it"
    )
    next_cursor: str | None = Field(description="where the next spans start; null at the end")


def summary_of(row: sa.Row[Any]) -> TraceSummary:
    """Write a row of the table."""
    tokens = Tokens(
        input_tokens=row.input_tokens,
        output_tokens=row.output_tokens,
        total_tokens=row.total_tokens,
        cache_read_tokens=row.cache_read_tokens,
    )
    return TraceSummary(
        trace_id=row.trace_id,
        name=row.name,
        status=row.status,
        start_time=moment_or_none(row.start_us),
        end_time=moment_or_none(row.end_us),
        duration_ms=row.duration_ms,
        input=_excerpt(row.input, row.input_form),
        output=_excerpt(row.output, row.output_form),
        models=row.models,
        agents=row.agents,
        session_id=row.session_id,
        service=row.service,
        environment=row.environment,
        tokens=tokens if any(one is not None for one in tokens.model_dump().values()) else None,
        cost_usd=row.cost_usd,
        error_count=row.error_count,
        span_count=row.span_count,
        llm_call_count=row.llm_call_count,
        tool_call_count=row.tool_call_count,
        is_setup=row.is_setup,
        version=row.version,
        first_seen_at=moment(row.created_us),
        changed_at=moment(row.changed_us),
    )


def _excerpt(text: str | None, form: str | None) -> Excerpt | None:
    if text is None or form is None:
        return None
    kind = cast("Literal['text', 'json']", form.removesuffix("_cut"))
    return Excerpt(text=text, kind=kind, is_cut=form.endswith("_cut"))


def span_of(body: JsonObject, depth: int) -> dict[str, Any]:
    """Write a span with its place."""
    return {"depth": depth, **body}
