"""A data file on disk: opened twice, unpacked when gzipped, refused when it changed in between."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias, cast

import msgspec

from scorewright.domain.errors import DatasetError
from scorewright.sources.dataset.refusal import refuse

BOM = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"

HEAD_BYTES = 64 << 10
CHUNK_BYTES = 256 << 10
MAX_LINE_BYTES = 256 << 20
"""Of one line, and of one row as JSON."""
MAX_ESCAPED_BYTES = 6
"""What one byte of a text may become in JSON."""
MAX_DOCUMENT_BYTES = 256 << 20
"""Of a file that has to be in memory as a whole: a JSON document, a gzipped Parquet file."""

_Stamp: TypeAlias = tuple[int, int, int]


class DataFile(msgspec.Struct, frozen=True):
    """A regular, readable, non-empty file and what tells whether it is still the same one."""

    path: Path
    gzipped: bool
    stamp: _Stamp

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """Open the unpacked bytes, behind a UTF-8 byte order mark if there is one.

        Raises:
            DatasetError: The file changed since it was first seen, or cannot be read or unpacked.
        """
        with _readable(self.path), self.path.open("rb") as raw:
            if _stamp_of(raw) != self.stamp:
                raise refuse(self.path, "changed while it was read; run again when it is complete")
            stream = _unpacked(raw) if self.gzipped else raw
            if stream.read(len(BOM)) != BOM:
                stream.seek(0)
            yield stream

    def head(self) -> bytes:
        """Read the beginning, at most `HEAD_BYTES`."""
        with self.open() as stream:
            return stream.read(HEAD_BYTES)

    def document(self) -> bytes:
        """Read all of it, for the formats that cannot be cut into lines.

        Raises:
            DatasetError: It is larger than `MAX_DOCUMENT_BYTES`.
        """
        with self.open() as stream:
            data = stream.read(MAX_DOCUMENT_BYTES + 1)
        if len(data) > MAX_DOCUMENT_BYTES:
            limit = f"{MAX_DOCUMENT_BYTES >> 20} MiB"
            raise refuse(self.path, f"larger than {limit} as one document; use JSON Lines")
        return data


def find_file(path: Path) -> DataFile:
    """Look at a path before anything is read from it.

    Raises:
        DatasetError: There is no such file, it is no regular file, it is empty or not readable.
    """
    with _readable(path):
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise refuse(path, "a directory, not a file; name one file in it")
        if not stat.S_ISREG(status.st_mode):
            raise refuse(path, "a pipe or device cannot be read twice; write it to a file first")
        with path.open("rb") as raw:
            gzipped = raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            return DataFile(path, gzipped, _stamp_of(raw))


def line_batches(file: DataFile) -> Iterator[tuple[int, list[bytes]]]:
    r"""Cut a file into lines at `\n` and nowhere else, some hundred KiB at a time.

    Returns:
        Pairs of the first line's number, from 1, and whole lines without their `\n`.

    Raises:
        DatasetError: A line is longer than `MAX_LINE_BYTES`, or the file cannot be read.
    """
    with file.open() as stream:
        number = 1
        held: list[bytes] = []
        held_bytes = 0
        while chunk := stream.read(CHUNK_BYTES):
            lines = chunk.split(b"\n")
            held.append(lines[0])
            held_bytes += len(lines[0])
            if held_bytes > MAX_LINE_BYTES:
                raise too_long(file.path, number)
            if len(lines) == 1:
                continue
            lines[0] = b"".join(held)
            held = [lines.pop()]
            held_bytes = len(held[0])
            yield number, lines
            number += len(lines)
        if held_bytes:
            yield number, [b"".join(held)]


def too_long(path: Path | None, number: int, place: str = "line") -> DatasetError:
    """Make the error for a row that no sandbox could be given."""
    limit = f"{MAX_LINE_BYTES >> 20} MiB"
    return refuse(path, f"{place} {number} is longer than {limit}; cut or remove it")


def not_utf8(path: Path, number: int, line: bytes) -> DatasetError | None:
    """Make the error for a line in another encoding; None when it is UTF-8."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        place = f"byte 0x{line[error.start]:02x} at line {number}, column {column}"
        how = "iconv -f WINDOWS-1252 -t UTF-8 (or from what it really is)"
        return refuse(path, f"not UTF-8: {place}; convert it with: {how}")
    return None


def _stamp_of(raw: BinaryIO) -> _Stamp:
    status = os.fstat(raw.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns


def _unpacked(raw: BinaryIO) -> BinaryIO:
    from gzip import GzipFile

    return cast("BinaryIO", GzipFile(fileobj=raw, mode="rb"))


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """Turn what the system says about a file into what its owner can do about it."""
    try:
        yield
    except FileNotFoundError:
        raise refuse(path, "no such file; check the path") from None
    except PermissionError:
        raise refuse(path, "no permission to read it") from None
    except EOFError:
        raise refuse(path, "its gzip data ends too early; copy or pack it again") from None
    except zlib.error as error:
        raise refuse(path, f"its gzip data is damaged ({error}); pack it again") from None
    except OSError as error:
        # gzip says by this, without an errno, that a checksum or header is wrong.
        said = error.strerror or f"its gzip data is damaged ({error}); pack it again"
        raise refuse(path, said) from None
