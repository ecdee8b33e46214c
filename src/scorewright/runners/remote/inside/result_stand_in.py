"""Stands in the sandbox for `domain.result`: a failure there, as far as the harness tells of one."""

from __future__ import annotations


class FailureCode:
    """The codes that the harness itself gives."""

    AUTHOR_ERROR = "author_error"
    OUT_OF_MEMORY = "out_of_memory"


class Failed:
    """Why an item has no result."""

    def __init__(
        self,
        code: str,
        message: str,
        type: str | None = None,  # noqa: A002 - the field's name
        line: int | None = None,
        traceback: str | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.type = type
        self.line = line
        self.traceback = traceback
