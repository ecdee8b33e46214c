"""Stored traces and logs are the same items as in files, and as many of them in memory as are needed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sent_spans import a_span, recordings, request

from scorewright.domain.convention import Level
from scorewright.domain.errors import DatasetError, UsageError
from scorewright.services.ingest import KnownNames, take_records, take_spans
from scorewright.services.trace_search import remove_trace
from scorewright.sources import stored_spans
from scorewright.sources.conversations import Conversations
from scorewright.sources.logs import Logs
from scorewright.sources.source import Source
from scorewright.sources.stored_traces import Selected, open_stored
from scorewright.sources.traces import Traces
from scorewright.sources.trajectories import TracedTrajectories
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project, project_id
from scorewright.storage.tables.metadata import now_us
from scorewright.telemetry.assembly import Trace, assemble, is_setup
from scorewright.telemetry.findings import Findings
from scorewright.telemetry.json_logs import decode_logs
from scorewright.telemetry.json_request import decode_json
from scorewright.telemetry.raw_span import RawSpan

LEVELS = (Level.RECORD, Level.AGENT, Level.LLM)


class Stored:
    """The first project of a database."""

    def __init__(self, database: Database) -> None:
        ensure_default_project(database)
        self.database = database
        self.project_id = project_id(database, "default")
        self.names = KnownNames()

    def put(self, sent: Any) -> None:
        body = msgspec.json.encode(sent)
        take_spans(self.database, self.project_id, body, "json", self.names)

    def open(self, kind: Any, levels: Any = (Level.RECORD,), **selected: Any) -> Source:
        wanted = Selected(project_id=self.project_id, **selected)
        return open_stored(self.database, kind, wanted, levels=levels)


@pytest.fixture
def stored(database: Database) -> Stored:
    return Stored(database)


@pytest.fixture
def traces(stored: Stored) -> list[Trace]:
    """What real instrumentations sent, stored and in memory."""
    spans: list[RawSpan] = []
    for sent in recordings():
        stored.put(msgspec.json.decode(sent))
        spans += decode_json(sent, Findings())
    # The database orders by microseconds.
    found = sorted(
        assemble(spans), key=lambda one: ((one.root.start_ns or 0) // 1_000, one.root.trace_id)
    )
    return [trace for trace in found if not is_setup(trace)]


def assert_same(found: Source, expected: Source, levels: Any = ()) -> None:
    assert (found.kind, found.noun, found.size) == (expected.kind, expected.noun, expected.size)
    assert list(found.items()) == list(expected.items())
    for number in range(1, found.size + 1):
        assert found.item_id(number) == expected.item_id(number)
        assert found.sample_key(number) == expected.sample_key(number)
        assert found.number_of(found.item_id(number)) == number
        for level in (Level.TRACE, Level.AGENT, Level.LLM, Level.RECORD):
            assert found.has_level(number, level) == expected.has_level(number, level)
    for level in levels:
        known = {field.name for field in expected.fields(level)}
        assert known <= {field.name for field in found.fields(level)}
        assert found.shape(level).objects == expected.shape(level).objects
    assert set(expected.notices) <= set(found.notices)


def test_traces_are_the_items_that_files_have(stored: Stored, traces: list[Trace]):
    expected = Traces(traces, path=None, notices=[], levels=LEVELS)
    found = stored.open("traces", LEVELS)

    assert found.size > len(traces)
    assert_same(found, expected, (Level.TRACE, Level.AGENT, Level.LLM))
    assert found.sample(2) == expected.sample(2)
    for level in LEVELS:
        assert_same(
            stored.open("traces", [level]), Traces(traces, path=None, notices=[], levels=[level])
        )


def test_trajectories_and_conversations_as_well(stored: Stored, traces: list[Trace]):
    trajectories = TracedTrajectories(traces, path=None, notices=[])
    assert_same(stored.open("trajectories"), trajectories, [Level.AGENT])
    for with_previous in (False, True):
        expected = Conversations(traces, path=None, notices=[], with_previous=with_previous)
        wanted = Selected(project_id=stored.project_id)
        found = open_stored(
            stored.database, "conversations", wanted, with_previous_turns=with_previous
        )
        assert found.size < len(traces)
        assert_same(found, expected, [Level.TRACE])


def test_logs_are_the_items_that_files_have(stored: Stored):
    records = [
        {"timeUnixNano": str(10**18 + n), "body": {"stringValue": f"{n}"}, "attributes": [{"key": "a.b", "value": {"intValue": n}}]}
        for n in range(1_000, 1_200_000, 1_000)
    ]  # fmt: skip
    sent = msgspec.json.encode({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]})
    take_records(stored.database, stored.project_id, sent, "json", stored.names)
    expected = Logs(decode_logs(sent, Findings()), path=None, notices=[])

    found = stored.open("logs")
    assert list(found.items()) == list(expected.items())
    assert [field.name for field in found.fields(Level.RECORD)] == [
        field.name for field in expected.fields(Level.RECORD)
    ]
    assert found.number_of(found.item_id(700)) == 700
    few = stored.open("logs", from_us=10**15 + 5, to_us=10**15 + 8)
    assert [msgspec.json.decode(item)["log"]["body"] for item in few.items()] == [
        "5000",
        "6000",
        "7000",
    ]
    with pytest.raises(UsageError, match="filter"):
        stored.open("logs", filter="trace.name = 1")


def test_a_selection_takes_the_window_the_filter_and_what_had_arrived(stored: Stored):
    stored.put(request(*(a_span(n, n) for n in range(1, 6))))
    until = now_us()
    stored.put(request(*(a_span(n, n) for n in range(6, 9))))

    def numbers(**selected: Any) -> list[int]:
        found = stored.open("traces", **selected)
        return [int(found.item_id(n), 16) for n in range(1, found.size + 1)]

    start_us = 1_780_000_000_000_000
    assert numbers() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert numbers(arrived_us=until) == [1, 2, 3, 4, 5]
    assert numbers(from_us=start_us + 3_000, to_us=start_us + 7_000) == [3, 4, 5, 6]
    assert numbers(filter='trace.name in ("span 2", "span 7")') == [2, 7]
    assert numbers(filter='trace.tool_context[0] exists or traceId matches "*4"') == [4]


def test_spans_are_read_in_groups_and_not_all_at_once(
    stored: Stored, monkeypatch: pytest.MonkeyPatch
):
    stored.put(request(*(a_span(n, m) for n in range(1, 8) for m in range(1, 4))))
    source = stored.open("traces")
    monkeypatch.setattr(stored_spans, "_GROUP_SPANS", 6)
    sizes = [("a", 3), ("b", 3), ("c", 100), ("d", 1), ("e", 6)]

    assert list(stored_spans.groups(sizes)) == [["a", "b"], ["c"], ["d"], ["e"]]
    assert len(list(source.items())) == 7


def test_items_stay_the_same_while_more_of_a_trace_arrives_and_one_that_is_gone_is_told_of(
    stored: Stored,
):
    agent = {"gen_ai.operation.name": "invoke_agent"}
    stored.put(request(a_span(1, 1, attributes=agent), a_span(2, 1, attributes=agent)))
    source = stored.open("traces", [Level.AGENT])
    stored.put(request(a_span(1, 2, 1, attributes=agent)))

    assert len(list(source.items())) == source.size == 2
    remove_trace(stored.database, stored.project_id, f"{2:032x}")
    with pytest.raises(DatasetError, match="deleted"):
        list(source.items())


def test_a_data_set_is_no_trace(stored: Stored):
    with pytest.raises(UsageError, match="traces"):
        stored.open("dataset")
