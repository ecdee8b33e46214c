"""What an evaluator prints: kept up to a bound, never part of the result."""

from __future__ import annotations

import io


class Capture(io.TextIOBase):
    """A text stream that keeps the first characters and counts the rest."""

    def __init__(self, max_bytes: int) -> None:
        self._max = max_bytes
        self._kept: list[str] = []
        self._room = max_bytes
        #: Characters written since the last `take`.
        self.written = 0

    def writable(self) -> bool:  # noqa: D102 - as in io
        return True

    def write(self, text: str, /) -> int:  # noqa: D102 - as in io
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - authors write anything
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        length = len(text)
        self.written += length
        if self._room > 0 and length:
            part = text[: self._room]
            self._kept.append(part)
            self._room -= len(part)
        return length

    def take(self) -> str:
        """Return what was kept, with a note of what was not, and start anew."""
        kept = "".join(self._kept)
        dropped = self.written - len(kept)
        data = kept.encode("utf-8", "replace")
        if len(data) > self._max:
            kept = data[: self._max].decode("utf-8", "ignore")
            dropped = self.written - len(kept)
        elif not kept.isascii():
            kept = data.decode("utf-8")
        self._kept = []
        self._room = self._max
        self.written = 0
        return f"{kept}\n… {dropped:,} more characters cut" if dropped else kept
