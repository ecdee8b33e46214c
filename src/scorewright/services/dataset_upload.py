"""An uploaded file: unpacked within bounds, put on disk, and read as a dataset."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from gzip import BadGzipFile, GzipFile
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Final, cast

from scorewright.domain.errors import DatasetError, TooLargeError
from scorewright.services.dataset_loading import DatasetLimits
from scorewright.sources.dataset import Dataset, open_dataset
from scorewright.sources.dataset.file import GZIP_MAGIC

_CHUNK_BYTES: Final = 1 << 20
_MAX_NAME_CHARS: Final = 100
_PARQUET_MAGIC: Final = b"PAR1"


@contextmanager
def opened_upload(
    stream: BinaryIO,
    filename: str,
    *,
    limits: DatasetLimits,
    text_columns: frozenset[str] = frozenset(),
) -> Generator[Dataset]:
    """Read an uploaded file as a dataset, which is good for the length of the block.

    Args:
        stream: The file, as it was sent.
        filename: As its sender calls it; its ending counts where the content fits two formats.
        limits: How much it may be.
        text_columns: Columns of a CSV file that stay text even where every cell is JSON.

    Raises:
        DatasetError: The caller's: it is no dataset; the text names the places.
        TooLargeError: The caller's: it is too large when unpacked, or has too many rows.
    """
    shown = _shown_name(filename)
    with tempfile.TemporaryDirectory(prefix="scorewright-upload-") as folder:
        path = Path(folder) / f"upload{_suffix(shown)}"
        try:
            _put(stream, path, limits)
            _check_parquet_rows(path, limits)
            dataset = open_dataset(path, text_columns=text_columns)
            if dataset.rows > limits.rows:
                raise _too_many_rows(limits)
            yield dataset
        except DatasetError as error:
            # Its sender knows nothing of the path that it was read from.
            raise DatasetError(str(error).replace(str(path), shown)).at("/file") from None


def stem_of(filename: str) -> str:
    """Return what a file is called, without its folder and ending."""
    return _shown_name(filename).partition(".")[0]


def _shown_name(filename: str) -> str:
    name = PurePosixPath(filename.replace("\\", "/")).name
    printable = "".join(c for c in name if c.isprintable())
    return printable[-_MAX_NAME_CHARS:] or "file"


def _suffix(name: str) -> str:
    """Return the ending that says the format; it is unpacked already."""
    suffix = PurePosixPath(name.lower().removesuffix(".gz")).suffix
    return suffix if suffix.removeprefix(".").isalnum() and suffix.isascii() else ""


def _put(stream: BinaryIO, path: Path, limits: DatasetLimits) -> None:
    head = stream.read(len(GZIP_MAGIC))
    stream.seek(0)
    if head != GZIP_MAGIC:
        _copy(stream, path, limits)
        return
    try:
        with GzipFile(fileobj=stream, mode="rb") as unpacked:
            _copy(cast("BinaryIO", unpacked), path, limits)
    except EOFError:
        raise DatasetError(f"{path}: its gzip data ends too early; copy or pack it again") from None
    except (BadGzipFile, zlib.error) as error:
        raise DatasetError(f"{path}: its gzip data is damaged ({error}); pack it again") from None
    with path.open("rb") as file:
        if file.read(len(GZIP_MAGIC)) == GZIP_MAGIC:
            raise DatasetError(f"{path}: not a dataset but gzip inside gzip; unpack it once")


def _copy(stream: BinaryIO, path: Path, limits: DatasetLimits) -> None:
    size = 0
    with path.open("wb") as file:
        while chunk := stream.read(_CHUNK_BYTES):
            size += len(chunk)
            if size > limits.unpacked_bytes:
                raise TooLargeError(
                    f"more than {limits.unpacked_bytes >> 20:,} MiB when unpacked; make several files of it"
                ).at("/file")
            file.write(chunk)


def _check_parquet_rows(path: Path, limits: DatasetLimits) -> None:
    """Ask a Parquet file how many rows it has before they are read: a small one can claim any number."""
    with path.open("rb") as file:
        if file.read(len(_PARQUET_MAGIC)) != _PARQUET_MAGIC:
            return
    import polars as pl

    try:
        rows = pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return  # reading it says what is wrong
    if rows > limits.rows:
        raise _too_many_rows(limits)


def _too_many_rows(limits: DatasetLimits) -> TooLargeError:
    return TooLargeError(f"more than {limits.rows:,} rows; make several files of them").at("/file")
