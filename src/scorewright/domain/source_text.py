"""Find a parsed node's place and text in the source it came from."""

from __future__ import annotations

import ast
from typing import TypeAlias

Node: TypeAlias = ast.stmt | ast.expr | ast.arg


class SourceText:
    """A source by lines; the parser counts columns in bytes, people count characters."""

    def __init__(self, source: str) -> None:
        self._lines = source.split("\n")

    def column(self, node: Node) -> int:
        """Return the node's column in characters, from 1."""
        return self._characters(node.lineno, node.col_offset) + 1

    def segment(self, node: ast.expr) -> str:
        """Return the node's source text."""
        first, last = node.lineno, node.end_lineno or node.lineno
        start = self._characters(first, node.col_offset)
        end = self._characters(last, node.end_col_offset or 0)
        if first == last:
            return self._lines[first - 1][start:end]
        between = self._lines[first : last - 1]
        return "\n".join([self._lines[first - 1][start:], *between, self._lines[last - 1][:end]])

    def _characters(self, line: int, offset_bytes: int) -> int:
        text = self._lines[line - 1]
        if text.isascii():
            return offset_bytes
        return len(text.encode()[:offset_bytes].decode(errors="replace"))
