"""Memory is the same for few rows and for many."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset import file, open_dataset

Write = Callable[[str, str | bytes], Path]

FEW = 2_000
MANY = 40_000


def content(name: str, rows: int) -> bytes:
    records = ({"q": f"question {n}", "meta": f'{{"n": {n}}}', "a": "x" * 200} for n in range(rows))
    if name.startswith("d.jsonl"):
        return "".join(json.dumps(record) + "\n" for record in records).encode()
    text = io.StringIO()
    writer = csv.DictWriter(text, ["q", "meta", "a"])
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def peak_of_both_passes(path: Path) -> int:
    tracemalloc.start()
    try:
        dataset = open_dataset(path)
        assert sum(1 for _ in dataset.items()) == dataset.rows
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv", "d.jsonl.gz"])
def test_memory_does_not_grow_with_the_rows(write: Write, name: str):
    few = peak_of_both_passes(write(name, content(name, FEW)))
    many = peak_of_both_passes(write(name, content(name, MANY)))

    assert many < few + 500_000


def test_memory_does_not_grow_with_bad_rows(write: Write):
    def peak(rows: int) -> int:
        path = write("d.jsonl", ("not json at all " * 20 + "\n") * rows)
        tracemalloc.start()
        try:
            with pytest.raises(DatasetError):
                open_dataset(path)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(20_000) < peak(4_000) + 500_000


def test_a_packed_bomb_is_refused_within_the_limit_of_a_line(
    write: Write, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file, "MAX_LINE_BYTES", 1 << 20)
    path = write("d.jsonl", gzip.compress(b'{"a":"' + b"x" * 100_000_000, 1))

    tracemalloc.start()
    try:
        with pytest.raises(DatasetError, match="line 1 is longer than 1 MiB"):
            open_dataset(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert peak < 8 << 20


def test_parquet_is_read_slice_by_slice(tmp_path: Path):
    def peak_mib(rows: int) -> int:
        path = tmp_path / f"{rows}.parquet"
        text = pl.Series(["x" * 1_000]).new_from_index(0, rows)
        pl.DataFrame({"n": range(rows), "t": text}).write_parquet(path, row_group_size=5_000)
        program = (
            "import pathlib, resource, sys\n"
            "from scorewright.sources.dataset import open_dataset\n"
            "dataset = open_dataset(pathlib.Path(sys.argv[1]))\n"
            "assert sum(1 for _ in dataset.items()) == dataset.rows\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
        )
        return int(done.stdout)

    assert peak_mib(200_000) < peak_mib(20_000) + 60
