"""A filter finds in the database what it matches in memory."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from otlp_requests import REQUESTS
from sent_spans import a_span, ids, recordings, send
from starlette.testclient import TestClient

from scorewright.domain.binding import Path
from scorewright.domain.errors import UsageError
from scorewright.domain.filter import Filter, compile_filter, parse_filter, print_filter
from scorewright.domain.filter.tree import (
    And,
    Compare,
    Constant,
    Contains,
    Duration,
    Exists,
    IsIn,
    Matches,
    Not,
    Operator,
    Or,
    Time,
)
from scorewright.domain.json_text import decode_object
from scorewright.services import trace_search
from scorewright.services.ingest import KnownNames, take_spans
from scorewright.services.trace_search import Key, Wanted, find_traces
from scorewright.sources.stored_spans import trace_by_id
from scorewright.storage.database import Database
from scorewright.storage.filter_sql import compile_to_sql
from scorewright.storage.repositories.traces import all_traces
from scorewright.storage.tables import projects, traces
from scorewright.storage.tables.metadata import new_id, now_us
from scorewright.telemetry.items import trace_item

_METRICS = (
    "total_duration_ms cost_usd error_count has_errors span_count llm_call_count tool_call_count"
).split()
_LIGHT: list[Path] = [
    ("traceId",),
    ("session", "id"),
    *(("trace", n) for n in "name start_time end_time input output status models agents".split()),
    *(("trace", n) for n in ("service", "environment")),
    *(("trace", "metrics", n) for n in _METRICS),
    *(("trace", "metrics", "token_usage", n) for n in ("input_tokens", "total_tokens")),
]
_HEAVY: list[Path] = [
    ("trace", "tool_context"),
    ("trace", "tool_context", 0, "name"),
    ("trace", "rag_context"),
    ("trace", "input", "question"),
    ("trace", "models", 0),
]
_OPERATORS: tuple[Operator, ...] = ("=", "!=", "<", "<=", ">", ">=")
_TEXTS = st.text(max_size=4) | st.sampled_from(
    ["a", "gpt-4o", "true", "5", "\0", "a\0", "%", "_", "[", "\\"]
)
_NUMBERS = (
    st.integers(-(2**63) + 1, 2**63 - 1)
    | st.integers(0, 20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.5, 2.0**53, 2**53 + 1, 1e300])
)
_TIMES = st.builds(Time, ns=st.integers(0, 2**64)) | st.just(Time(1_780_000_000_001_000_000))


def new_project(database: Database) -> str:
    project_id = new_id()
    with database.write() as connection:
        row = {"id": project_id, "name": project_id, "created_us": now_us()}
        connection.execute(projects.insert().values(row))
    return project_id


def items_of(database: Database, project_id: str) -> dict[str, dict[str, Any]]:
    with database.read() as connection:
        condition = traces.c.project_id == project_id
        found = [row.trace_id for row in all_traces(connection, condition, [traces.c.trace_id])]
        made = [(one, trace_by_id(connection, project_id, one)) for one in found]
    return {one: decode_object(trace_item(trace)) for one, trace in made if trace is not None}


def found_by(database: Database, project_id: str, expression: str, limit: int = 2) -> list[str]:
    """Page through all that is found."""
    wanted = Wanted(filter=expression)
    after: Key | None = None
    found: list[str] = []
    while True:
        page = find_traces(database, project_id, wanted, after=after, limit=limit)
        found += [row.trace_id for row in page.rows]
        if page.next_key is None:
            return found
        assert after is None or page.next_key < after
        after = page.next_key


class Known:
    """Items to ask for; hypothesis would write lists of them into its messages."""

    def __init__(self, items: dict[str, dict[str, Any]]) -> None:
        self._items = list(items.values())
        names = {name for item in self._items for name in item["trace"]["attributes"]}
        self.attributes: list[Path] = [("trace", "attributes", name) for name in sorted(names)]

    def values_at(self, path: Path) -> list[Any]:
        values: list[Any] = []
        for item in self._items:
            value: Any = item
            for step in path:
                try:
                    value = value[step]
                except (KeyError, IndexError, TypeError):
                    value = None
            values += cast("list[Any]", value) if isinstance(value, list) else [value]
        return values


@st.composite
def constants(draw: st.DrawFn, known: Known, path: Path) -> Constant:
    """Draw a constant; often one that is a value, or part of one."""
    values = known.values_at(path)
    value = (
        values[draw(st.integers(0, len(values) - 1))] if values and draw(st.booleans()) else None
    )
    if isinstance(value, str):
        value = "".join(c for c in value if not "\ud800" <= c <= "\udfff")
        return value if draw(st.booleans()) else value[: draw(st.integers(0, 600))]
    if isinstance(value, bool | int | float):
        return value
    kinds: tuple[st.SearchStrategy[Constant], ...] = (
        _TEXTS, _NUMBERS, _TIMES, st.booleans(), st.none(),
    )  # fmt: skip
    return draw(st.one_of(kinds))


@st.composite
def conditions(draw: st.DrawFn, known: Known) -> Filter:
    path = draw(st.sampled_from(_LIGHT) | st.sampled_from([*_LIGHT, *_HEAVY, *known.attributes]))
    kind = draw(st.integers(0, 6))
    if kind == 0:
        return Exists(path)
    if kind == 1:
        part = draw(st.text(max_size=3) | st.sampled_from(["*", "*a*", "?*", "*:*Z", r"\**"]))
        return Matches(path, part)
    value = draw(constants(known, path))
    if kind == 2:
        return Contains(path, value)
    if kind == 3:
        return IsIn(path, (value, draw(constants(known, path))))
    if kind == 4 and str(path[-1]).endswith("_ms"):
        return Compare(
            path, draw(st.sampled_from(_OPERATORS)), Duration(draw(st.integers(0, 10**10)))
        )
    plain = value is None or isinstance(value, bool)
    return Compare(path, draw(st.sampled_from(_OPERATORS[: 2 if plain else None])), value)


def expressions(known: Known) -> st.SearchStrategy[Filter]:
    def joined(inner: st.SearchStrategy[Filter]) -> st.SearchStrategy[Filter]:
        parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.builds(Not, inner) | st.builds(And, parts) | st.builds(Or, parts)

    return st.recursive(conditions(known), joined, max_leaves=5)


def check(
    database: Database, project_id: str, tree: Filter, items: dict[str, dict[str, Any]]
) -> None:
    expression = print_filter(tree)
    matches = compile_filter(parse_filter(expression))
    expected = {one for one, item in items.items() if matches(item)}
    try:
        found = found_by(database, project_id, expression)
    except UsageError as error:  # the shape refuses it: no item has such a field
        event("refused")
        assert "there is no field" in str(error)  # noqa: PT017 - most are not refused
        return
    event("finds some" if 0 < len(expected) < len(items) else "finds all or none")
    assert len(found) == len(set(found))
    assert set(found) == expected, expression


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(request=REQUESTS, data=st.data())
def test_what_is_found_is_what_matches_in_memory(
    request: Any, data: st.DataObject, database: Database
):
    project_id = new_project(database)
    take_spans(database, project_id, request.SerializeToString(), "protobuf", KnownNames())
    items = items_of(database, project_id)
    for _ in range(6):
        check(database, project_id, data.draw(expressions(Known(items))), items)


class Recordings:
    """What real instrumentations sent, in a project."""

    def __init__(self, database: Database) -> None:
        self.project_id = new_project(database)
        names = KnownNames()
        for sent in recordings():
            take_spans(database, self.project_id, sent, "json", names)
        self.items = items_of(database, self.project_id)


@pytest.fixture
def stored(database: Database) -> Recordings:
    return Recordings(database)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_of_recorded_traces_as_well(data: st.DataObject, database: Database, stored: Recordings):
    check(database, stored.project_id, data.draw(expressions(Known(stored.items))), stored.items)


@pytest.mark.parametrize(
    "expression",
    [
        'trace.name = "a" or trace.name < "b" and not trace.name matches "*x?"',
        'trace.models contains "gpt-4o" and trace.agents not contains "a"',
        "trace.metrics.total_duration_ms > 2s or trace.metrics.cost_usd <= 0.01",
        "trace.metrics.token_usage.total_tokens >= 4000.5 and trace.metrics.has_errors = true",
        "trace.start_time >= 2026-01-01 and trace.end_time != null",
        'session.id = "x" or trace.service in ("a", null) and trace.environment != null',
        'trace.status = "ERROR" and traceId matches "00*"',
        "trace.input = null or trace.output != null",
        "trace.metrics.token_usage.input_tokens exists",
    ],
)
def test_what_a_row_can_tell_the_database_decides_alone(expression: str, database: Database):
    condition = compile_to_sql(parse_filter(expression), is_sqlite=database.is_sqlite)
    dialect = database.engine.dialect
    possible, sure = (
        str(one.compile(dialect=dialect)) for one in (condition.possible, condition.sure)
    )
    assert possible == sure


def test_a_filter_with_more_conditions_than_a_database_takes_is_answered_all_the_same(
    client: TestClient,
):
    send(client, a_span(1, 1), a_span(2, 2))
    every = " or ".join(f'trace.name = "{n}"' for n in range(300))
    listed = ", ".join(f'"{n}"' for n in range(999))

    assert ids(client, filter=f'not ({every}) and trace.name = "span 1"') == [1]
    assert ids(client, filter=f'trace.name in ({listed}, "span 2")') == [2]


def test_a_question_longer_than_its_excerpt_is_looked_at_whole(client: TestClient):
    for number, end in ((1, "needle"), (2, "straw")):
        said = [{"role": "user", "parts": [{"type": "text", "content": "x" * 5_000 + end}]}]
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(said)}
        send(client, a_span(number, 1, attributes=attributes))

    assert ids(client, filter='trace.input contains "needle"') == [1]
    assert ids(client, filter='trace.input matches "x*straw"') == [2]
    assert ids(client, filter='trace.input not contains "needle"') == [2]
    whole = "x" * 5_000 + "straw"
    assert ids(client, filter=f'trace.input = "{whole}"') == [2]
    assert ids(client, filter=f'trace.input != "{whole}"') == [1]


def test_a_page_ends_early_where_too_much_had_to_be_looked_at(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(trace_search, "MAX_SPANS_READ", 3)
    send(client, *(a_span(number, number) for number in range(1, 11)))
    path = "/api/v1/projects/default/traces"
    asked: dict[str, Any] = {"filter": "trace.tool_context[0] exists", "limit": 5}

    pages = 0
    while True:
        page = client.get(path, params=asked).json()
        pages += 1
        assert page["items"] == []
        assert page["ended_early"] == (page["next_cursor"] is not None)
        if page["next_cursor"] is None:
            break
        asked["cursor"] = page["next_cursor"]
    assert pages == 4


def test_a_wrong_filter_is_shown_with_its_place(client: TestClient):
    send(client, a_span(1, 1))
    for wrong, said in (
        ("trace.nam = 1", "trace.name"),
        ("trace.name adn", "column"),
        ("", "field"),
    ):
        answer = client.get("/api/v1/projects/default/traces", params={"filter": wrong})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == "filter"
        assert said in answer.json()["detail"]
