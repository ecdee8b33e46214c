"""The body of `scorewright datasets inspect`."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from scorewright.cli.figures import counted
from scorewright.cli.speech import visible
from scorewright.sources.dataset import Dataset, inspect, open_dataset

_MAX_CELL = 60


def inspect_command(path: Path, *, as_json: bool) -> None:
    """Print what a data file holds."""
    dataset = open_dataset(path)
    if as_json:
        sys.stdout.buffer.write(msgspec.json.encode(inspect(dataset)) + b"\n")
        sys.stdout.buffer.flush()
    else:
        _print(dataset)


def _print(dataset: Dataset) -> None:
    from rich.table import Table
    from rich.text import Text

    from scorewright.cli.console import open_console

    console = open_console()
    console.print(
        f"{dataset.path}: {counted(dataset.rows, 'row')}, "
        f"{counted(len(dataset.columns), 'column')}, {dataset.format}",
        markup=False,
    )
    first = dataset.sample(1)
    table = Table(box=None, pad_edge=False)
    for heading in ("column", "type", "empty", "first row"):
        table.add_column(heading, justify="right" if heading == "empty" else "left")
    for column in dataset.columns:
        value = first[0].get(column.name) if first else None
        text = "" if value is None else msgspec.json.encode(value).decode()
        shown = text if len(text) <= _MAX_CELL else f"{text[: _MAX_CELL - 1]}…"
        table.add_row(Text(visible(column.name)), column.type, f"{column.nulls:,}", Text(shown))
    console.print(table)
    for notice in dataset.notices:
        where = "" if notice.line is None else f"line {notice.line}: "
        console.print(visible(f"note: {where}{notice.message}"), markup=False)
