"""Logs as files: their form is known by their content, whatever their name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

from scorewright.domain.errors import CallerError
from scorewright.sources.log_files import read_logs

REQUEST = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"%s"}}]}]}]}'
TRACES = '{"resourceSpans":[]}'


def bodies(path: Path) -> list[object]:
    return [record.body for record in read_logs(path).records]


def written(folder: Path, text: str | bytes, name: str = "app.log") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def message(body: str) -> bytes:
    sent = ExportLogsServiceRequest()
    record = sent.resource_logs.add().scope_logs.add().log_records.add()
    record.body.string_value = body
    return sent.SerializeToString()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "data",
    [
        (REQUEST % "a" + "\n" + REQUEST % "b").encode(),
        b'{"msg": "a"}\n\n{"message": "b"}\r\n',
        (REQUEST % "a" + '\n{"msg": "b"}\n').encode(),
        b'\xef\xbb\xbf{"msg": "a"}\n{"msg": "b"}',
    ],
)
def test_lines_of_either_form_are_read_in_order(data: bytes, tmp_path: Path, *, packed: bool):
    path = written(tmp_path, gzip.compress(data) if packed else data)

    assert bodies(path) == ["a", "b"]


@pytest.mark.parametrize("length", range(140))
def test_a_message_is_protobuf_whatever_its_length_looks_like(length: int, tmp_path: Path):
    assert bodies(written(tmp_path, message("n" * length))) == ["n" * length]


def test_a_document_over_several_lines_is_one_request(tmp_path: Path):
    path = written(tmp_path, (REQUEST % "a").replace("[", "[\n"), "logs.json")

    assert bodies(path) == ["a"]


@pytest.mark.parametrize(
    "text",
    ['starting up\n{"msg": "a"}\n{"cut', '{"cut\n[1]\n{"msg": "a"}', '[2026] up\n{"msg":"a"}\nx'],
)
def test_lines_that_are_no_json_are_named_and_cost_no_other(text: str, tmp_path: Path):
    read = read_logs(written(tmp_path, text))

    assert [record.body for record in read.records] == ["a"]
    assert read.rejected_records == 2
    assert all("app.log: line " in notice for notice in read.notices)


@pytest.mark.parametrize(
    "text", ["starting up\nstopping\n", "\x00\x01\x02", "[INFO] up\n[WARN] down"]
)
def test_a_file_without_any_json_line_is_refused_with_advice(text: str, tmp_path: Path):
    with pytest.raises(CallerError, match=r"no line of it can be read; .*one JSON object a line"):
        read_logs(written(tmp_path, text))


@pytest.mark.parametrize("text", ["[]", '[{"msg": "a"}]', '[\n{"msg": "a"},\n{"msg": "b"}\n]'])
def test_a_list_is_refused_rather_than_read_in_pieces(text: str, tmp_path: Path):
    with pytest.raises(
        CallerError, match=r"app\.log: a JSON list of records; write one JSON object"
    ):
        read_logs(written(tmp_path, text))


def test_a_file_of_traces_is_refused_saying_so(tmp_path: Path):
    with pytest.raises(CallerError, match=r"app\.log: .*holds traces, no logs"):
        read_logs(written(tmp_path, TRACES))


def test_a_folder_gives_what_its_log_files_hold(tmp_path: Path):
    written(tmp_path, '{"msg": "b"}', "b.jsonl")
    written(tmp_path, gzip.compress(message("a")), "a.pb.gz")
    written(tmp_path, TRACES, "traces.json")
    written(tmp_path, '{"name": "package",\n "version": 1}', "package.json")
    written(tmp_path, "no log", "notes.md")

    read = read_logs(tmp_path)

    assert [record.body for record in read.records] == ["a", "b"]
    assert ["package.json" in read.notices[0], "traces.json" in read.notices[1]] == [True, True]


def test_an_empty_file_holds_no_logs(tmp_path: Path):
    read = read_logs(written(tmp_path, ""))

    assert (read.records, read.rejected_records) == ([], 0)
    assert "an empty file: no logs" in read.notices[0]
