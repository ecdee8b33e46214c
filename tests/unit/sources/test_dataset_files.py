"""Files as such: missing, packed, binary, in another encoding, changed, too long."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset import csv_records, csv_table, file, open_dataset

Write = Callable[[str, str | bytes], Path]

TEXTS = {
    "d.csv": 'q,a\n"x\ny",1\nz,2\n',
    "d.jsonl": '{"q":"x"}\n{"q":"\\ud83d"}\n',
    "d.json": '[{"q":"x"},\n{"q":"y"}]',
}

DAMAGES: list[tuple[Callable[[bytes], bytes], str]] = [
    (lambda data: data[:-20], "its gzip data ends too early"),
    (lambda data: data[:5], "its gzip data ends too early"),
    (lambda data: data[:-8] + bytes(8), "its gzip data is damaged"),
    (lambda data: data[:12] + b"\xff" * 20 + data[32:], "its gzip data is damaged"),
    (lambda data: data + b"more", "its gzip data is damaged"),
]


def limit_line_bytes(monkeypatch: pytest.MonkeyPatch, line_bytes: int) -> None:
    for module in (file, csv_records, csv_table):
        monkeypatch.setattr(module, "MAX_LINE_BYTES", line_bytes)


def open_files() -> int:
    place = Path("/proc/self/fd")
    if not place.is_dir():
        pytest.skip("needs /proc to count open files")
    return len(list(place.iterdir()))


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_packed_file_is_the_same_dataset_whatever_its_name(write: Write, name: str):
    plain = open_dataset(write(name, TEXTS[name]))
    packed = open_dataset(write(name + ".gz", TEXTS[name]))
    disguised = open_dataset(write("p" + name, gzip.compress(TEXTS[name].encode(), mtime=0)))

    for other in (packed, disguised):
        assert list(other.items()) == list(plain.items())
        assert (other.format, other.columns) == (plain.format, plain.columns)
        assert other.notices == plain.notices


def test_packed_members_one_after_another_are_one_file(write: Write):
    data = gzip.compress(b'{"a":1}\n', mtime=0) + gzip.compress(b'{"a":2}\n', mtime=0)

    assert open_dataset(write("d.jsonl", data)).sample(5) == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(("damage", "reason"), DAMAGES)
def test_damaged_packing_is_refused_with_the_path(
    write: Write, damage: Callable[[bytes], bytes], reason: str
):
    lines = "".join(f'{{"n":{number}}}\n' for number in range(2_000))
    packed = gzip.compress(lines.encode(), mtime=0)

    with pytest.raises(DatasetError, match=rf"d\.jsonl: {reason}"):
        open_dataset(write("d.jsonl", damage(packed)))


def test_a_missing_file_and_a_directory_are_told_apart(tmp_path: Path):
    with pytest.raises(DatasetError, match=r"none\.csv: no such file"):
        open_dataset(tmp_path / "none.csv")
    with pytest.raises(DatasetError, match="a directory, not a file"):
        open_dataset(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(DatasetError, match="a pipe or device cannot be read twice"):
        open_dataset(tmp_path / "pipe")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (PermissionError(13, "Permission denied"), "no permission to read it"),
        (OSError(5, "Input/output error"), "Input/output error"),
    ],
)
def test_what_the_system_refuses_is_told_with_the_path(
    write: Write, monkeypatch: pytest.MonkeyPatch, error: OSError, said: str
):
    path = write("d.csv", "a\n1\n")

    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(DatasetError, match=rf"d\.csv: {said}"):
        open_dataset(path)


@pytest.mark.parametrize("name", ["d.csv", "d.json", "d.jsonl", "d.parquet", "d.csv.gz"])
@pytest.mark.parametrize("content", ["", " \n\r\n\t", "\ufeff", "\ufeff\n"])
def test_an_empty_file_is_refused(write: Write, name: str, content: str):
    with pytest.raises(DatasetError, match="empty file"):
        open_dataset(write(name, content))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "an image"),
        (b"PK\x03\x04" + bytes(20), "Excel workbook"),
        (b"some text\x00\x01\x02", "a binary file"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16; convert it with: iconv -f UTF-16 -t UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-le"), "a binary file, or UTF-16"),
        ("a,b\n1,2\n".encode("utf-32"), "UTF-32"),
        (gzip.compress(gzip.compress(b"a,b\n", mtime=0), mtime=0), "gzip inside gzip"),
    ],
)
def test_what_is_no_text_is_named(write: Write, content: bytes, reason: str):
    with pytest.raises(DatasetError, match=reason):
        open_dataset(write("d.csv", content))


@pytest.mark.parametrize("name", ["d.csv", "d.jsonl"])
def test_another_encoding_is_refused_with_byte_line_and_column(write: Write, name: str):
    good = '{"a":"é"}\n' * 20_000
    bad = '{"a":"é'.encode() + b'\x93"}\n'
    csv = name == "d.csv"
    data = (good.replace('{"a":', "").replace("}", "") if csv else good).encode()
    data += bad.replace(b'{"a":', b"").replace(b"}", b"") if csv else bad
    column = 3 if csv else 8

    with pytest.raises(DatasetError) as caught:
        open_dataset(write(name, data))

    said = str(caught.value)
    assert f"not UTF-8: byte 0x93 at line 20001, column {column}" in said
    assert "iconv -f WINDOWS-1252 -t UTF-8" in said


@pytest.mark.parametrize("name", list(TEXTS))
def test_a_file_that_changed_since_is_not_streamed(write: Write, name: str):
    dataset = open_dataset(write(name, TEXTS[name]))
    write(name, TEXTS[name] + " ")

    with pytest.raises(DatasetError, match="changed while it was read"):
        next(dataset.items())


def test_a_stream_that_is_given_up_leaves_no_file_open(write: Write):
    rows = "".join(f'{{"n":{number}}}\n' for number in range(100_000))
    dataset = open_dataset(write("d.jsonl.gz", rows))
    before = open_files()

    items = dataset.items()
    next(items)
    items.close()
    dataset.sample(3)

    assert open_files() == before


def test_a_line_beyond_the_limit_is_refused_by_number(
    write: Write, monkeypatch: pytest.MonkeyPatch
):
    limit_line_bytes(monkeypatch, 1_000_000)
    text = '{"a":1}\n\n{"a":"' + "x" * 1_000_000 + '"}\n'

    with pytest.raises(DatasetError, match="line 3 is longer than"):
        open_dataset(write("d.jsonl", text))


def test_a_row_beyond_the_limit_is_refused_by_number(write: Write, monkeypatch: pytest.MonkeyPatch):
    limit_line_bytes(monkeypatch, 1_000_000)
    many_lines = "a,b\n1,2\n" + '"' + "x\n" * 600_000 + '",2\n'
    escaped = "a,b\n1,2\n" + "\x01" * 200_000 + ",2\n"

    with pytest.raises(DatasetError, match="line 3: the cell quoted from here is longer than"):
        open_dataset(write("d.csv", many_lines))
    with pytest.raises(DatasetError, match="the row at line 3 is longer than"):
        open_dataset(write("e.csv", escaped))


def test_a_cell_of_100_megabytes_is_read(write: Write):
    cell = "x" * 100_000_000

    lines = open_dataset(write("d.jsonl", f'{{"a":1}}\n{{"a":"{cell}"}}\n'))
    table = open_dataset(write("d.csv", f"a,b\n1,2\n{cell},3\n"))

    assert [len(item) for item in lines.items()] == [7, 100_000_008]
    assert [len(item) for item in table.items()] == [17, 100_000_016]


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv"])
def test_only_what_a_format_needs_is_imported(write: Write, name: str):
    path = write(name, TEXTS[name])
    program = (
        "import json, pathlib, sys\n"
        "from scorewright.sources.dataset import open_dataset\n"
        "list(open_dataset(pathlib.Path(sys.argv[1])).items())\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )

    heavy = {"polars", "pandas", "numpy", "gzip", "asyncio", "yaml", "rich"}
    heavy |= {"csv"} if name == "d.jsonl" else set()
    assert heavy & set(json.loads(done.stdout)) == set()
