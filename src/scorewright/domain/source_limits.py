"""What a source of any language must keep to before a parser sees it."""

from __future__ import annotations

from scorewright.domain.signature import Diagnostic

MAX_SOURCE_BYTES = 1 << 20
MAX_PARAMETERS = 100


def refuse_unreadable(source: str) -> Diagnostic | None:
    """Return why no parser is given the text, or None.

    Args:
        source: The file's text, its lines ended by a line feed.
    """
    if not source.strip():
        return _error("empty_source", "the source is empty; define evaluate(...)")
    try:
        size = len(source.encode())
    except UnicodeEncodeError as error:
        text = "the source holds half of a character (a lone surrogate); save it as UTF-8"
        return _error("bad_character", text, *place_of(source, error.start))
    if size > MAX_SOURCE_BYTES:
        limit = f"{MAX_SOURCE_BYTES >> 20} MiB"
        text = f"the source has {size} bytes; at most {limit} are taken: move data out of it"
        return _error("source_too_large", text)
    if "\0" in source:
        place = place_of(source, source.index("\0"))
        return _error("bad_character", "the source holds a NUL", *place)
    return None


def place_of(source: str, index: int) -> tuple[int, int]:
    """Return line and column, from 1, of a character's index."""
    return source.count("\n", 0, index) + 1, index - source.rfind("\n", 0, index)


def _error(code: str, message: str, line: int = 1, column: int = 1) -> Diagnostic:
    return Diagnostic(severity="error", code=code, message=message, line=line, column=column)
