"""Results as files: JSON Lines, CSV or Parquet, by the name's ending."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

import msgspec

from scorewright.domain.errors import StorageError, UsageError
from scorewright.domain.result_record import ResultRecord

if TYPE_CHECKING:
    import polars as pl

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(ResultRecord)
#: Columns of CSV and Parquet: the record's fields, with those of failure and judge laid flat.
_FLAT_COLUMNS = (
    "item_id evaluator version status score normalised_score passed metrics explanation reason "
    "failure_code failure_type failure_message failure_line output duration_ms out_of_range digest "
    "basis environment runner reused source "
    "judge_model judge_tokens_in judge_tokens_out judge_cost_usd judge_latency_ms judge_requests judge_prompt"
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
        UsageError: As for `check_target`.
    """
    kind = _WRITERS[path.suffix.lower()]
    try:
        return kind(path)
    except OSError as error:
        raise UsageError(f"--out {path}: cannot be written: {error.strerror}") from None


def check_target(path: Path) -> None:
    """Check, without touching it, that a file can be written as results.

    Raises:
        UsageError: The ending is none of ours, or the place cannot be written to: the caller's mistake.
    """
    if path.suffix.lower() not in _WRITERS:
        raise UsageError(f"--out {path}: the name must end in .jsonl, .csv or .parquet")
    if path.is_dir():
        raise UsageError(f"--out {path}: a directory; name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}; make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"--out {path}: you may not write there; choose another place")


class JsonlWriter:
    """One JSON object a line; what was written is in the file at once, should the process be killed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] = path.open("wb")

    def write(self, records: Sequence[ResultRecord]) -> None:  # noqa: D102 - as in ResultsWriter
        try:
            self._file.write(_encoder.encode_lines(records))
            self._file.flush()
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
        import csv

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
        # It has no name, so that no end of this process can leave it behind.
        self._rows: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`

    def write(self, records: Sequence[ResultRecord]) -> None:  # noqa: D102 - as in ResultsWriter
        try:
            self._rows.write(_encoder.encode_lines([flatten(record) for record in records]))
        except OSError as error:
            raise _cannot_write(self._path, error) from None

    def close(self) -> None:  # noqa: D102 - as in ResultsWriter
        import polars as pl

        try:
            self._rows.flush()
            if self._rows.tell():
                rows = pl.scan_ndjson(f"/dev/fd/{self._rows.fileno()}", schema=results_schema())
                rows.sink_parquet(self._path)
            else:
                pl.DataFrame(schema=results_schema()).write_parquet(self._path)
        except (OSError, pl.exceptions.ComputeError) as error:
            raise _cannot_write(self._path, error) from None
        finally:
            self._rows.close()


_WRITERS: dict[str, Callable[[Path], ResultsWriter]] = {
    ".jsonl": JsonlWriter,
    ".csv": CsvWriter,
    ".parquet": ParquetWriter,
}


class ResultsFile:
    """A results file; with `resume`, one that keeps what an earlier run left in it.

    What was there before is replaced when the first records come (Parquet: when the file is whole), and not by a
    run that never begins.

    Args:
        path: Its ending says the form; `resume` needs JSON Lines.
        resume: Read the file that is there with `previous` and write a new one beside it, which takes its
            place when it is whole.

    Raises:
        UsageError: The place cannot be written to, or not be gone on with: the caller's mistake.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        check_target(path)
        if resume and path.suffix.lower() != ".jsonl":
            raise UsageError(f"--resume: {path} is no .jsonl file; only these can be gone on with")
        self._path = path
        self._before = path if resume and path.exists() else None
        self._target = path
        self._writer: ResultsWriter | None = None
        #: The last item that is whole in a new file, and where it ends there.
        self._last_item: str | None = None
        self._end = 0

    def previous(self) -> Iterable[ResultRecord] | None:
        """Return the records of the earlier run, to iterate over any number of times; None when there was none."""
        return StoredResults(self._before) if self._before else None

    def write(self, records: Sequence[ResultRecord]) -> None:
        """Append all records of some items."""
        if self._writer is None:
            if self._before is not None:
                self._target = _make_beside(self._before)
            self._writer = open_results(self._target)
        self._writer.write(records)
        if self._before is not None and records:
            self._last_item, self._end = records[-1].item_id, self._target.stat().st_size

    def close(self) -> None:
        """Finish: the file is whole, or as far as a stop let it come."""
        self.write(())
        assert self._writer is not None  # noqa: S101 - made by write
        self._writer.close()
        if self._before is not None:
            self._target.replace(self._path)

    def abandon(self, number_of: Callable[[str], int | None]) -> None:
        """Leave after an error: what was written is kept, and what was there before of all items behind it.

        Args:
            number_of: The place of an item in the data, by its id.
        """
        if self._writer is None:
            return
        if self._before is None:
            self._writer.close()
            return
        try:
            self._writer.close()
            self._append_rest(self._before, number_of)
        except (OSError, StorageError):  # a full disk, most likely: what was there before stays
            self._target.unlink(missing_ok=True)
        else:
            self._target.replace(self._path)

    def _append_rest(self, before: Path, number_of: Callable[[str], int | None]) -> None:
        last = 0 if self._last_item is None else number_of(self._last_item) or 0
        with self._target.open("r+b") as file:
            file.truncate(self._end)  # the error may have come in the middle of a line
            file.seek(self._end)
            for record in read_results(before):
                number = number_of(record.item_id)
                if number is None or number > last:
                    file.write(_encoder.encode(record) + b"\n")


class StoredResults:
    """The results in a JSON Lines file, read anew whenever they are iterated over."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[ResultRecord]:
        return read_results(self._path)


def flatten(record: ResultRecord) -> dict[str, object]:
    """Return a record as one flat row: the fields of failure and judge laid out, metrics as JSON text."""
    row: dict[str, object] = msgspec.structs.asdict(record)
    failure = row.pop("failure")
    row["metrics"] = _encoder.encode(record.metrics).decode()
    for name in ("code", "type", "message", "line"):
        row[f"failure_{name}"] = getattr(failure, name, None)
    judge = row.pop("judge")
    for name in "model tokens_in tokens_out cost_usd latency_ms requests prompt".split():
        row[f"judge_{name}"] = getattr(judge, name, None)
    return {name: row[name] for name in _FLAT_COLUMNS}


def read_results(path: Path) -> Iterator[ResultRecord]:
    """Read a JSON Lines results file back; a last line that a killed run has not finished counts as missing.

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
                if number > 1 and not line.endswith(b"\n"):
                    return
                raise UsageError(f"{path}, line {number}: not a result: {error}") from None


def _make_beside(path: Path) -> Path:
    """Make an empty file that nobody else has, in the folder of another one and with its permissions."""
    try:
        descriptor, name = tempfile.mkstemp(
            prefix=f"{path.stem}.part-", suffix=path.suffix, dir=path.parent
        )
        os.fchmod(descriptor, path.stat().st_mode & 0o777)
        os.close(descriptor)
    except OSError as error:
        raise UsageError(f"--out {path}: no file can be made beside it: {error.strerror}") from None
    return Path(name)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _cannot_write(path: Path, error: Exception) -> StorageError:
    reason = error.strerror if isinstance(error, OSError) else _reason_of_disk(path) or str(error)
    return StorageError(f"{path}: results cannot be written: {reason}")


def results_schema() -> dict[str, pl.DataType | type[pl.DataType]]:
    """Return the columns of a flat record as polars types."""
    import polars as pl

    kinds: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(_FLAT_COLUMNS, pl.String)
    numbers = "score normalised_score duration_ms judge_cost_usd judge_latency_ms".split()
    counts = "version failure_line judge_tokens_in judge_tokens_out judge_requests".split()
    kinds |= dict.fromkeys(numbers, pl.Float64) | dict.fromkeys(
        ("passed", "out_of_range", "reused"), pl.Boolean
    )
    return kinds | dict.fromkeys(counts, pl.Int64)


def _reason_of_disk(path: Path) -> str | None:
    """Ask the disk why a library could not write, which may say it in words of its own; the file stays as it is."""
    try:
        with path.open("ab", buffering=0) as file:
            size = file.tell()
            file.write(b"\0")
            file.truncate(size)
    except OSError as error:
        return error.strerror
    return None
