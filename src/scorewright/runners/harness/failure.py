"""From an exception in the author's code to a `Failed` that names the author's line."""

from __future__ import annotations

import contextlib
import errno
from types import TracebackType

from scorewright.domain.excerpt import type_name
from scorewright.domain.result import Failed, FailureCode

_MAX_MESSAGE = 500
_MAX_FRAMES = 12
_MAX_LINE = 160
_REFUSED = {errno.EPERM, errno.EACCES}
_NO_SYSTEM = (
    "the sandbox has no network, files, processes or threads; put what the code needs into the item, "
    "or run trusted code with --runner local"
)
_OUT_OF_MEMORY = "the code needed more memory than it may have; use less or raise --memory-mb"
_STANDARD_LIBRARY_ONLY = "only the standard library can be imported in the sandbox"


class TimeLimitError(BaseException):
    """An item took longer than its limit. Not an Exception, so that `except Exception` lets it pass."""


def well_formed(text: str) -> str:
    """Return `text` with half surrogate pairs replaced, so that it can be stored as UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text`, saying so when some were cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def describe(error: BaseException, *, filename: str, source: str, jailed: bool) -> Failed:
    """Turn what the author's code raised into a failure.

    Args:
        error: Anything that came out of loading or calling it.
        filename: The author's file, as its code object names it: only its frames are shown.
        source: For the text of the lines shown.
        jailed: Whether refusals may come from the sandbox and deserve a hint.
    """
    name = type_name(error).rpartition(".")[2]
    text = _text_of(error)
    line, trace = _author_frames(error.__traceback__, filename, source.split("\n"))
    if isinstance(error, SyntaxError) and error.filename == filename and type(error.lineno) is int:
        line = error.lineno
    out_of_memory = isinstance(error, MemoryError)
    message = _OUT_OF_MEMORY if out_of_memory else text or name
    if jailed and (hint := _hint(error, text)):
        message = f"{message}; {hint}"
    return Failed(
        code=FailureCode.OUT_OF_MEMORY if out_of_memory else FailureCode.AUTHOR_ERROR,
        message=well_formed(cut(message, _MAX_MESSAGE)),
        type=name,
        line=line,
        traceback=well_formed(f"{trace}\n{name}: {cut(text, _MAX_MESSAGE)}") if trace else None,
    )


def _text_of(error: BaseException) -> str:
    try:
        if isinstance(error, SystemExit):
            return f"the code called sys.exit({error.code!r:.60})"
        if isinstance(error, KeyboardInterrupt):
            return "the code raised KeyboardInterrupt"
        return str(error)
    except BaseException:  # noqa: BLE001 - __str__ and __repr__ are the author's code too
        return "(its text could not be made)"


def _author_frames(
    traceback: TracebackType | None, filename: str, lines: list[str]
) -> tuple[int | None, str]:
    """Return the innermost line in the author's file, and its frames as text, outermost first."""
    frames: list[tuple[int, str]] = []
    seen = 0
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == filename:
            seen += 1
            frames.append((traceback.tb_lineno, code.co_name))
            if len(frames) > _MAX_FRAMES:
                del frames[_MAX_FRAMES // 2]
        traceback = traceback.tb_next
    if not frames:
        return None, ""
    shown: list[str] = []
    for position, (number, name) in enumerate(frames):
        if seen > len(frames) and position == _MAX_FRAMES // 2:
            shown.append(f"  … {seen - len(frames)} more frames")
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        shown.append(f"  line {number}, in {cut(name, _MAX_LINE)}\n    {cut(text, _MAX_LINE)}")
    return frames[-1][0], "\n".join(shown)


def _hint(error: BaseException, text: str) -> str:
    if isinstance(error, ModuleNotFoundError):
        return _STANDARD_LIBRARY_ONLY
    links: list[object] = [error, error.__cause__, error.__context__]
    with contextlib.suppress(BaseException):  # a property may be the author's code
        links.append(getattr(error, "reason", None))
    for link in links:
        if isinstance(link, OSError) and link.errno in _REFUSED:
            return _NO_SYSTEM
        if type(link).__name__ == "gaierror":  # a name could not be looked up
            return _NO_SYSTEM
    if isinstance(error, RuntimeError) and "start new thread" in text:
        return _NO_SYSTEM
    return ""
