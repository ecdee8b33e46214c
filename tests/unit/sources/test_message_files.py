"""Trajectories as files: document or lines, each row by itself."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from scorewright.domain.errors import CallerError
from scorewright.sources.message_files import read_trajectories


def talk(answer: str) -> list[object]:
    return [{"role": "user", "content": "q"}, {"role": "assistant", "content": answer}]


def row(answer: str) -> dict[str, object]:
    return {"messages": talk(answer), "expected": answer}


def written(folder: Path, text: str | bytes, name: str = "talks.json") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def answers(path: Path) -> list[str | None]:
    return [one.turns[-1].message.text for one in read_trajectories(path).trajectories]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        json.dumps([row("a"), row("b")]),
        json.dumps([row("a"), talk("b")], indent=1),
        json.dumps(row("a")) + "\n" + json.dumps(row("b")) + "\n",
        json.dumps(talk("a")) + "\n\n" + json.dumps(row("b")),
        json.dumps(talk("a")) + "\n" + json.dumps([row("b")]),
    ],
)
def test_rows_are_read_in_order_from_lines_and_documents(
    text: str, tmp_path: Path, *, packed: bool
):
    data = text.encode()

    assert answers(written(tmp_path, gzip.compress(data) if packed else data)) == ["a", "b"]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("value", [row("a"), talk("a"), [talk("a")]])
def test_a_document_may_be_a_single_row(value: object, indent: int | None, tmp_path: Path):
    assert answers(written(tmp_path, json.dumps(value, indent=indent))) == ["a"]


def test_a_bad_line_is_named_and_costs_no_other(tmp_path: Path):
    lines = [json.dumps(row("a")), '{"question": 1}', "{cut", json.dumps(row("b"))]

    read = read_trajectories(written(tmp_path, "\n".join(lines), "talks.jsonl"))

    assert len(read.trajectories) == 2
    assert read.rejected_rows == 2
    assert [
        "talks.jsonl: line 2: no trajectory" in read.notices[0],
        "line 3: not JSON" in read.notices[1],
    ] == [
        True,
        True,
    ]


def test_a_bad_item_is_named_and_costs_no_other(tmp_path: Path):
    text = json.dumps([row("a"), {"messages": []}, *[7] * 30], indent=1)

    read = read_trajectories(written(tmp_path, text))

    assert len(read.trajectories) == 1
    assert read.rejected_rows == 31
    assert "talks.json: item 2: its list of messages holds no message" in read.notices[0]
    assert read.notices[-1].endswith("11 more items cannot be read")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("question,answer\n1,2\n", "no JSON; .* needed is an ATIF trajectory"),
        ('{"question": 1}', "line 1: no trajectory: needed is .* or a list of messages"),
        ('{"question": 1,\n"answer": 2}', "no trajectory: needed is"),
        ("[1,\n2]", "no item of it can be read; item 1"),
        ("[\n]", "an empty list"),
        ('[{"role": "user"\n', "not JSON"),
    ],
)
def test_a_file_of_none_is_refused_with_what_was_expected(text: str, reason: str, tmp_path: Path):
    with pytest.raises(CallerError, match=rf"talks\.json: .*{reason}"):
        read_trajectories(written(tmp_path, text))


def test_a_folder_gives_what_its_files_hold(tmp_path: Path):
    written(tmp_path, json.dumps(row("a")), "a.json")
    written(tmp_path, json.dumps({"config": 1}), "config.json")
    (tmp_path / "trial").mkdir()
    written(tmp_path / "trial", gzip.compress(json.dumps(row("b")).encode()), "trajectory.json.gz")

    assert answers(tmp_path) == ["a", "b"]
    assert "config.json" in read_trajectories(tmp_path).notices[0]


def test_an_empty_file_holds_no_trajectories(tmp_path: Path):
    read = read_trajectories(written(tmp_path, ""))

    assert (read.trajectories, read.rejected_rows) == ([], 0)
    assert "an empty file: no trajectories" in read.notices[0]


def test_half_of_a_surrogate_pair_is_mended_with_a_notice(tmp_path: Path):
    text = json.dumps(row("X")).replace('"X"', '"\\ud83d"')

    read = read_trajectories(written(tmp_path, text))

    assert read.trajectories[0].turns[-1].message.text == "\ufffd"
    assert "U+FFFD" in read.notices[0]
