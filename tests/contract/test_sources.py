"""What all sources promise, whatever they read: numbers and ids, fields that are there, the same items every time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scorewright.domain.convention import Level
from scorewright.domain.errors import CallerError
from scorewright.domain.item_fields import MISSING, resolve
from scorewright.services.dataset_loading import DatasetLimits
from scorewright.services.datasets import DatasetFields, create_dataset, open_version
from scorewright.services.source_items import numbered_items
from scorewright.sources.dataset import from_rows
from scorewright.sources.opening import open_source
from scorewright.sources.source import Source
from scorewright.storage.database import Database, sqlite_url
from scorewright.storage.repositories.projects import ensure_default_project, project_id
from scorewright.storage.tables import METADATA
from scorewright.storage.tables.metadata import new_id
from scorewright.storage.tables.projects import DEFAULT_PROJECT
from traced import agent_trace, export

SESSION = "gen_ai.conversation.id"
TRACES = [
    agent_trace(n, asked=f"Boots {n}?", answered=f"Yes {n}.", **{SESSION: f"s-{n // 2}"})
    for n in range(1, 8)
]
MESSAGES = [
    {
        "messages": [
            {"role": "user", "content": f"Boots {n}?"},
            {"role": "assistant", "content": f"Yes {n}."},
        ],
        "expected": f"Yes {n}.",
    }
    for n in range(1, 8)
]
LOGS = [{"message": f"sold {n}", "level": "INFO", "shop.name": "north"} for n in range(1, 8)]


def lines(rows: Sequence[Mapping[str, object]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def traces(folder: Path, *levels: Level) -> Source:
    (folder / "traces.jsonl").write_text(export(*TRACES))
    return open_source(folder / "traces.jsonl", levels=levels)


def named(folder: Path, kind: str, text: str) -> Source:
    path = folder / f"{kind}.jsonl"
    path.write_text(text)
    return open_source(path, kind)  # type: ignore[arg-type]


def stored(folder: Path) -> Source:
    database = Database(sqlite_url(folder / "scorewright.db"))
    METADATA.create_all(database.engine)
    ensure_default_project(database)
    made = create_dataset(
        database,
        project_id(database, DEFAULT_PROJECT),
        DatasetFields(name=f"rows-{new_id()}"),
        from_rows([{"output": n, "unit price": None} for n in range(1, 8)]),
        note="",
        limits=DatasetLimits(),
    )
    return open_version(database, made.latest)


def picked(folder: Path) -> Source:
    rows = named(folder, "dataset", lines([{"output": n} for n in range(1, 12)]))
    return numbered_items(rows, [9, 2, 4, 11, 1, 3, 7])


#: Makes the source, with the levels of evaluators that it takes.
SOURCES: dict[str, tuple[Callable[[Path], Source], tuple[Level, ...]]] = {
    "rows in memory": (
        lambda _: from_rows([{"output": f"Yes {n}.", "unit price": n} for n in range(1, 8)]),
        (Level.RECORD, Level.TRACE),
    ),
    "dataset": (
        lambda folder: named(folder, "dataset", lines([{"output": n} for n in range(1, 8)])),
        (Level.RECORD, Level.TRACE),
    ),
    "dataset in the database": (stored, (Level.RECORD, Level.TRACE)),
    "picked rows": (picked, (Level.RECORD, Level.TRACE)),
    "traces": (lambda folder: traces(folder, Level.RECORD), (Level.RECORD, Level.TRACE)),
    "agents": (lambda folder: traces(folder, Level.AGENT), (Level.AGENT,)),
    "model calls": (lambda folder: traces(folder, Level.LLM), (Level.LLM,)),
    "all levels": (lambda folder: traces(folder, Level.LLM, Level.TRACE, Level.AGENT), ()),
    "conversations": (
        lambda folder: named(folder, "conversations", export(*TRACES)),
        (Level.RECORD, Level.TRACE),
    ),
    "trajectories of traces": (
        lambda folder: named(folder, "trajectories", export(*TRACES)),
        (Level.RECORD, Level.AGENT, Level.TRACE),
    ),
    "trajectories of messages": (
        lambda folder: named(folder, "trajectories", lines(MESSAGES)),
        (Level.RECORD, Level.AGENT, Level.TRACE),
    ),
    "logs": (lambda folder: named(folder, "logs", lines(LOGS)), (Level.RECORD,)),
}

#: Where an item says which span it is about.
ID_MEMBERS = (("agent", "agent_id"), ("llm", "span_id"))

each = pytest.mark.parametrize("name", SOURCES)


def opened(name: str, folder: Path) -> Source:
    return SOURCES[name][0](folder)


@each
def test_items_are_json_objects_as_many_as_said_and_the_same_every_time(name: str, tmp_path: Path):
    source = opened(name, tmp_path)

    first = list(source.items())

    assert list(source.items()) == first
    assert len(first) == source.size > 0
    assert all(isinstance(msgspec.json.decode(item), dict) for item in first)
    assert source.sample(2) == [msgspec.json.decode(item) for item in first[:2]]
    assert len(source.sample(1_000)) == source.size


@each
@pytest.mark.parametrize("wanted", [[0], [1], [0, 1], [1, 0, 0, 0, 0]])
def test_only_the_items_that_are_wanted_are_given(wanted: list[int], name: str, tmp_path: Path):
    source = opened(name, tmp_path)
    marks = bytearray(islice(cycle(wanted), source.size))

    given = list(source.items(marks))

    assert given == [item for item, mark in zip(source.items(), marks, strict=True) if mark]


@each
def test_numbers_and_ids_lead_to_each_other(name: str, tmp_path: Path):
    source = opened(name, tmp_path)

    ids = [source.item_id(number) for number in range(1, source.size + 1)]

    assert len(set(ids)) == source.size
    assert [source.number_of(item_id) for item_id in ids] == list(range(1, source.size + 1))
    strange = ("", "0", "-1", "x", str(source.size + 1), "9" * 40, "\u0663")
    assert all(source.number_of(text) is None for text in strange if text not in ids)


@each
def test_a_sample_key_depends_on_the_item_alone(name: str, tmp_path: Path):
    source = opened(name, tmp_path)
    numbers = range(1, source.size + 1)

    keys = [source.sample_key(number) for number in numbers]

    assert keys == [opened(name, tmp_path).sample_key(number) for number in numbers]
    assert len(set(keys)) == 7 or name == "conversations"


@each
def test_every_field_that_is_named_leads_to_something_in_some_item(name: str, tmp_path: Path):
    source = opened(name, tmp_path)
    for level in SOURCES[name][1]:
        seen = source.item_level(level)
        shape, items = source.shape(seen), source.sample(source.size)

        assert [field.name for field in source.fields(seen)] == shape.names
        assert all(field.description for field in source.fields(seen))
        assert shape.fields
        for field, path in shape.fields.items():
            assert shape.read_path(field) == path
            assert shape.reason_against(path) is None
            # Parts of what is unknown, such as the counts of tokens that nobody counted, cannot be there.
            holders = [resolve(item, path[:-1]) for item in items]
            found = [resolve(item, path) for item in items]
            assert any(value is not MISSING for value in found) or None in holders, field


@each
def test_a_name_that_is_no_field_is_refused(name: str, tmp_path: Path):
    source = opened(name, tmp_path)
    for level in SOURCES[name][1]:
        shape = source.shape(source.item_level(level))
        for text in ("nothing", "trace.nothing", "agent.nothing.at.all", "log.bod", "spans"):
            assert shape.reason_against(shape.read_path(text)) is not None


@each
def test_each_level_is_taken_or_refused_in_words(name: str, tmp_path: Path):
    source, taken = opened(name, tmp_path), SOURCES[name][1]
    for level in Level:
        if level in taken:
            seen = source.item_level(level)
            assert all(source.has_level(number, seen) for number in range(1, source.size + 1))
        elif name not in ("traces", "agents", "model calls", "all levels"):
            with pytest.raises(CallerError, match=f"its level is {level}, "):
                source.item_level(level)


def test_items_of_several_levels_stand_trace_by_trace(tmp_path: Path):
    source = opened("all levels", tmp_path)

    counts = {
        level: sum(source.has_level(number, level) for number in range(1, source.size + 1))
        for level in (Level.TRACE, Level.AGENT, Level.LLM)
    }

    assert counts == {Level.TRACE: 7, Level.AGENT: 7, Level.LLM: 14}
    keys = [source.sample_key(number) for number in range(1, source.size + 1)]
    assert all(before <= after for before, after in pairwise(keys))


@pytest.mark.parametrize("name", ["traces", "agents", "model calls", "all levels"])
def test_an_id_says_which_span_an_item_is_of(name: str, tmp_path: Path):
    source = opened(name, tmp_path)

    items: list[Any] = list(source.sample(source.size))
    for number, item in enumerate(items, 1):
        spans = [item[part][name] for part, name in ID_MEMBERS if part in item]
        assert source.item_id(number) == "/".join([item["traceId"], *spans])


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", ""),
        ("{}\n", ""),
        ("\ufeff", ""),
        ('{"resourceMetrics": []}\n', ""),
        ("\n ", '{"resourceLogs": []}\n'),
    ],
)
def test_an_export_of_traces_is_told_by_what_it_starts_with(
    before: str, behind: str, tmp_path: Path
):
    (tmp_path / "export").write_text(f"{before}{export(*TRACES)}{behind}")

    source = open_source(tmp_path / "export")

    assert (source.kind, source.size) == ("traces", 7)


def test_a_list_of_requests_is_refused_instead_of_read_as_rows(tmp_path: Path):
    (tmp_path / "export.json").write_text(f"[{export(TRACES[0])}]")

    with pytest.raises(CallerError, match="not an object but a list"):
        open_source(tmp_path / "export.json")


def test_picked_items_of_several_levels_are_told_apart(tmp_path: Path):
    source = opened("all levels", tmp_path)
    some = numbered_items(source, list(range(source.size, 0, -1)))

    for level, count in {Level.TRACE: 7, Level.AGENT: 7, Level.LLM: 14}.items():
        seen = some.of_level(level)
        ids = [seen.item_id(number) for number in range(1, seen.size + 1)]
        assert len(ids) == count
        assert [source.number_of(item_id) for item_id in ids] == list(seen.numbers)
