"""Results as files: JSON Lines, CSV or Parquet, by the name's ending."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Protocol

import msgspec

from scorewright.domain.errors import StorageError, UsageError
from scorewright.domain.result_record import ResultRecord

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ResultRecord)
#: Columns of CSV and Parquet: the record's fields, with the failure's laid flat.
_FLAT_COLUMNS = (
    "item_id evaluator version status score normalised_score passed metrics explanation reason "
    "failure_code failure_type failure_message failure_line output duration_ms out_of_range digest runner"
).split()


class ResultsWriter(Protocol):
    """Takes records as they come, in order."""

    def write(self, records: Sequence[ResultRecord]) -> None:
        """Append records.

        Raises:
            StorageError: The file could not be written.
        """
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


def open_results(path: Path) -> ResultsWriter:
    """Open a file for results, replacing what is there.

    Raises:
        UsageError: The ending is none of ours, or the folder cannot be written to: the caller's mistake.
    """
    kinds = {".jsonl": JsonlWriter, ".csv": CsvWriter, ".parquet": ParquetWriter}
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        raise UsageError(f"--out {path}: the name must end in .jsonl, .csv or .parquet")
    try:
        return kind(path)
    except OSError as error:
        raise UsageError(f"--out {path}: cannot be written: {error.strerror}") from None


class JsonlWriter:
    """One JSON object a line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = path.open("wb")

    def write(self, records: Sequence[ResultRecord]) -> None:  # noqa: D102 - as in ResultsWriter
        try:
            self._file.write(_encoder.encode_lines(records))
        except OSError as error:
            raise _cannot_write(self._path, error) from None

    def close(self) -> None:  # noqa: D102 - as in ResultsWriter
        try:
            self._file.close()
        except OSError as error:
            raise _cannot_write(self._path, error) from None


class CsvWriter:
    """Comma-separated values, UTF-8; metrics as JSON text, unknown values empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] = path.open("w", encoding="utf-8", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow(_FLAT_COLUMNS)

    def write(self, records: Sequence[ResultRecord]) -> None:  # noqa: D102 - as in ResultsWriter
        try:
            self._rows.writerows([_cell(value) for value in flatten(r).values()] for r in records)
        except OSError as error:
            raise _cannot_write(self._path, error) from None

    def close(self) -> None:  # noqa: D102 - as in ResultsWriter
        try:
            self._file.close()
        except OSError as error:
            raise _cannot_write(self._path, error) from None


class ParquetWriter:
    """A Parquet file; written from a temporary JSON Lines file at the end, so that memory stays flat."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.touch()
        handle, name = tempfile.mkstemp(suffix=".jsonl", prefix="scorewright-")
        self._rows = Path(name)
        self._file = os.fdopen(handle, "wb")

    def write(self, records: Sequence[ResultRecord]) -> None:  # noqa: D102 - as in ResultsWriter
        try:
            self._file.write(_encoder.encode_lines([flatten(record) for record in records]))
        except OSError as error:
            raise _cannot_write(self._path, error) from None

    def close(self) -> None:  # noqa: D102 - as in ResultsWriter
        import polars as pl

        try:
            self._file.close()
            if self._rows.stat().st_size:
                pl.scan_ndjson(self._rows, schema=results_schema()).sink_parquet(self._path)
            else:
                pl.DataFrame(schema=results_schema()).write_parquet(self._path)
        except OSError as error:
            raise _cannot_write(self._path, error) from None
        finally:
            self._rows.unlink(missing_ok=True)


class ResultsFile:
    """A results file being written; with `resume`, one that keeps what an earlier run left in it.

    Args:
        path: Its ending says the form; `resume` needs JSON Lines.
        resume: Read the file that is there with `previous` and write a new one beside it, which takes its
            place when it is whole.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        self._path = path
        self._target = path
        self._before = path if resume and path.exists() else None
        if resume and path.suffix.lower() != ".jsonl":
            raise UsageError(f"--resume: {path} is no .jsonl file; only these can be gone on with")
        if self._before is not None:
            self._target = path.with_name(f"{path.stem}.part.jsonl")
        self._writer = open_results(self._target)

    def previous(self) -> Iterator[ResultRecord] | None:
        """Yield the records of the earlier run; None when there was none."""
        return read_results(self._before) if self._before else None

    def write(self, records: Sequence[ResultRecord]) -> None:
        """Append records."""
        self._writer.write(records)

    def close(self) -> None:
        """Finish: the file is whole, or as far as a stop let it come."""
        self._writer.close()
        if self._before is not None:
            self._target.replace(self._path)

    def abandon(self) -> None:
        """Leave after an error: keep what was there before, or else what was written."""
        self._writer.close()
        if self._before is not None:
            self._target.unlink()


def flatten(record: ResultRecord) -> dict[str, object]:
    """Return a record as one flat row: the failure's fields laid out, metrics as JSON text."""
    row: dict[str, object] = msgspec.structs.asdict(record)
    failure = row.pop("failure")
    row["metrics"] = _encoder.encode(record.metrics).decode()
    for name in ("code", "type", "message", "line"):
        row[f"failure_{name}"] = getattr(failure, name, None)
    return {name: row[name] for name in _FLAT_COLUMNS}


def read_results(path: Path) -> Iterator[ResultRecord]:
    """Read a JSON Lines results file back.

    Raises:
        UsageError: A line is no result: the caller named another file.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield _decoder.decode(line)
            except msgspec.DecodeError as error:
                raise UsageError(f"{path}, line {number}: not a result: {error}") from None


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _cannot_write(path: Path, error: OSError) -> StorageError:
    return StorageError(f"{path}: results cannot be written: {error.strerror}")


def results_schema() -> dict[str, object]:
    """Return the columns of a flat record as polars types."""
    import polars as pl

    kinds: dict[str, object] = dict.fromkeys(_FLAT_COLUMNS, pl.String)
    numbers = ("score", "normalised_score", "duration_ms")
    kinds |= dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(("passed", "out_of_range"), pl.Boolean)
    return kinds | {"version": pl.Int64, "failure_line": pl.Int64}
