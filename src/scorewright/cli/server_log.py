"""The server's log: a JSON object a line on stderr, whoever writes it."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import Final, TextIO, cast

import structlog
from structlog.typing import Processor

_SHARED: Final[tuple[Processor, ...]] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
    structlog.processors.format_exc_info,
)


class _Lines:
    """What structlog writes to: a log that cannot be written, as on a full disk, must not fail what it is about."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, line: str) -> None:
        """Write a line, if that can be done."""
        with suppress(OSError):
            self._file.write(line)

    def flush(self) -> None:
        """Have all of it written, if that can be done."""
        with suppress(OSError):
            self._file.flush()


def start_log() -> None:
    """Write what we and the libraries log."""
    structlog.configure(
        processors=[*_SHARED, structlog.processors.JSONRenderer()],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Lines(sys.stderr))),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *_SHARED],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
