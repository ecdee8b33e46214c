"""Trace exports as files: their form is known by their content, whatever their name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from scorewright.domain.errors import CallerError
from scorewright.sources.trace_files import read_traces


def message(*, name_length: int) -> bytes:
    sent = ExportTraceServiceRequest()
    span = sent.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id = b"t" * 16, b"s" * 8
    span.name = "n" * name_length
    return sent.SerializeToString()


LINE = '{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"n"}]}]}]}'


@pytest.mark.parametrize("name_length", range(140))
def test_a_message_is_protobuf_whatever_its_length_looks_like(name_length: int, tmp_path: Path):
    path = tmp_path / "traces.bin"
    path.write_bytes(message(name_length=name_length))

    (span,) = read_traces(path).spans

    assert span.name == "n" * name_length


@pytest.mark.parametrize("before", ["", "\n", " \n\t", "\ufeff", "\r\n"])
@pytest.mark.parametrize("after", ["", "\n", "\n\n", "\r\n"])
@pytest.mark.parametrize("packed", [False, True])
def test_json_is_json_with_white_space_around_it(
    before: str, after: str, tmp_path: Path, *, packed: bool
):
    path = tmp_path / "traces"
    data = (before + LINE % (1, 1) + after).encode()
    path.write_bytes(gzip.compress(data) if packed else data)

    assert [span.span_id for span in read_traces(path).spans] == [f"{1:016x}"]


def test_lines_longer_than_what_is_sniffed_are_lines(tmp_path: Path):
    path = tmp_path / "traces.jsonl"
    wide = (LINE % (1, 1)).replace('"n"', f'"{"n" * 100_000}"')
    path.write_text(f"{wide}\n{LINE % (1, 2)}\n{wide.replace('01', '03')}", encoding="utf-8")

    assert len(read_traces(path).spans) == 3


def test_a_document_over_several_lines_is_one_request(tmp_path: Path):
    path = tmp_path / "traces.json"
    path.write_text((LINE % (1, 1)).replace(",", ",\n").replace("[", "[\n"), encoding="utf-8")

    assert len(read_traces(path).spans) == 1


def test_a_document_whose_first_line_ends_with_a_brace_is_one_request(tmp_path: Path):
    path = tmp_path / "traces.json"
    path.write_text('{"resourceSpans": [{"resource": {}\n, "scopeSpans": []}]}', encoding="utf-8")

    assert read_traces(path).notices == []


def test_a_damaged_first_line_costs_no_other_one(tmp_path: Path):
    path = tmp_path / "traces.jsonl"
    path.write_text(f'{{"resource\n{{cut\n{LINE % (1, 1)}', encoding="utf-8")

    read = read_traces(path)

    assert len(read.spans) == 1
    assert ["line 1" in read.notices[0], "line 2" in read.notices[1]] == [True, True]


def test_bad_lines_are_named_up_to_a_bound(tmp_path: Path):
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join([LINE % (1, 1), *["{broken}"] * 100]), encoding="utf-8")

    read = read_traces(path)

    assert len(read.spans) == 1
    assert len(read.notices) == 21
    assert "80 more lines cannot be read" in read.notices[-1]


def test_a_folder_without_any_trace_is_refused_with_the_first_reason(tmp_path: Path):
    (tmp_path / "a.json").write_text("{}x", encoding="utf-8")

    with pytest.raises(CallerError, match=r"none of its files holds traces; .*a\.json"):
        read_traces(tmp_path)
