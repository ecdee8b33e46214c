"""The file of a source, or of a definition: its text, and what its ending says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorewright.domain.errors import EvaluatorError
from scorewright.domain.source_language import LANGUAGE_OF_SUFFIX

if TYPE_CHECKING:  # pathlib costs 4 ms, and is only named here
    from pathlib import Path

MAX_FILE_BYTES = 1 << 20
DEFINITION_SUFFIXES = (".yaml", ".yml")
SOURCE_SUFFIXES = tuple(LANGUAGE_OF_SUFFIX)
_JSX_SUFFIXES = (".jsx", ".tsx")


def read_text(path: Path) -> str:
    """Return a file's text: UTF-8, without byte order mark.

    Raises:
        EvaluatorError: The caller's: there is no such file, or it is no text of at most 1 MiB.
    """
    _check_suffix(path)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise EvaluatorError(f"{path}: cannot be read ({reason}); check the path") from None
    if len(raw) > MAX_FILE_BYTES:
        limit = f"{MAX_FILE_BYTES >> 20} MiB"
        raise EvaluatorError(f"{path}: larger than {limit}; move data out of it")
    try:
        return raw.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise EvaluatorError(f"{path}:{line}: not UTF-8 text; save it as UTF-8") from None


def one_of(suffixes: tuple[str, ...]) -> str:
    """List file endings for a message: `.a, .b or .c`."""
    return f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"


def _check_suffix(path: Path) -> None:
    suffix = path.suffix.lower()
    if suffix in _JSX_SUFFIXES:
        raise EvaluatorError(f"{path}: JSX is not supported; write plain JavaScript or TypeScript")
    if suffix not in (*SOURCE_SUFFIXES, *DEFINITION_SUFFIXES):
        endings = one_of((*SOURCE_SUFFIXES, *DEFINITION_SUFFIXES))
        raise EvaluatorError(f"{path}: no evaluator file; give one that ends in {endings}")
