"""The errors this package raises, by whose fault they are.

    ScorewrightError
    ├── CallerError                    the caller's mistake: exit code 2
    │   ├── UsageError                 an option or argument that cannot be used
    │   ├── DatasetError               a data file that cannot be read as a dataset
    │   ├── TraceError                 trace data that cannot be read
    │   ├── EvaluatorError             a source or definition that is no evaluator
    │   ├── MappingError               a variable that finds no field
    │   ├── ParamError                 a config param's value that breaks its schema
    │   ├── NotFoundError              something that is named and not there
    │   ├── ConflictError              something that does not go with what is there
    │   ├── StaleError                 a change of something that changed meanwhile
    │   └── TooLargeError              a body that is larger than may be sent
    └── OurError                       ours: exit code 3
        ├── SandboxUnavailableError    the sandbox is missing, or lost, a mandatory layer
        └── StorageError               results could not be written

What an author's code does is never raised: it is a `Failed` value (`domain.result`).
"""

from __future__ import annotations

from typing import Self


class ScorewrightError(Exception):
    """Base of every error this package raises on purpose; its text is fit to show."""


class CallerError(ScorewrightError):
    """The caller asked for something that cannot be done; the text says what to change."""

    #: Which part of a request is meant, as a JSON pointer; None for all of it, and outside of requests.
    pointer: str | None = None

    def at(self, pointer: str) -> Self:
        """Say which part of a request is meant."""
        self.pointer = pointer
        return self


class UsageError(CallerError):
    """An option or argument cannot be used."""


class DatasetError(CallerError):
    """A data file cannot be read as a dataset."""


class TraceError(CallerError):
    """Trace data cannot be read as an OTLP export."""


class EvaluatorError(CallerError):
    """A source or a definition is no evaluator."""


class MappingError(CallerError):
    """A variable finds no field to read from."""


class ParamError(CallerError):
    """A config param's schema or value breaks a rule."""


class NotFoundError(CallerError):
    """Something that is named is not there."""


class ConflictError(CallerError):
    """Something cannot be done beside what is there."""


class StaleError(CallerError):
    """What is to be changed was changed meanwhile."""


class TooLargeError(CallerError):
    """A body is larger than may be sent."""


class OurError(ScorewrightError):
    """Something on our side failed; the caller may try again."""


class SandboxUnavailableError(OurError):
    """The sandbox cannot be had with the layers it must have."""


class StorageError(OurError):
    """Results could not be written."""
