"""What `check` says of an evaluator, in the form that `--format json` prints. Source: cli design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from scorewright.domain.convention import Convention, Level
from scorewright.domain.errors import CallerError, MappingError, ParamError
from scorewright.domain.evaluator import (
    Evaluator,
    SourceError,
    evaluator_from_text,
)
from scorewright.domain.json_value import JsonObject
from scorewright.domain.param import ConfigParam
from scorewright.domain.signature import Diagnostic
from scorewright.domain.source_file import read_text
from scorewright.domain.source_language import LANGUAGE_OF_SUFFIX
from scorewright.domain.variable import Variable

if TYPE_CHECKING:  # pathlib costs 4 ms, and is only named here
    from pathlib import Path


def check_evaluator(
    path: Path, *, convention: Convention | None = None, level: Level | None = None
) -> JsonObject:
    """Read an evaluator's file and say what is found, errors included.

    Args:
        path: A source file or a definition.
        convention: How to call it; detected when None.
        level: What one call sees; detected when None.

    Returns:
        `path`, `language`, `convention` (null where an error keeps it unknown), `variables`, `params`
        and `diagnostics`.

    Raises:
        EvaluatorError: The caller's: the file cannot be read. What is wrong inside it is a diagnostic.
    """
    text = read_text(path)
    try:
        evaluator = evaluator_from_text(path, text, convention=convention, level=level)
    except CallerError as error:
        # What a definition that cannot be read would be written in is not known.
        return refusal_document(path, error, language=LANGUAGE_OF_SUFFIX.get(path.suffix.lower()))
    return check_document(path, evaluator)


def refusal_document(path: Path | str, error: CallerError, *, language: str | None) -> JsonObject:
    """Return the entry of what is no evaluator, by the error that said so.

    Args:
        path: As the caller wrote it.
        error: What was raised.
        language: What the source is written in, where that is known.
    """
    if isinstance(error, SourceError):
        return check_document(path, error.diagnostics, language=error.language)
    said = str(error).removeprefix(f"{path}: ")
    problem = Diagnostic(severity="error", code=_code(error), message=said)
    return check_document(path, (problem,), language=language)


def check_document(
    path: Path | str, found: Evaluator | tuple[Diagnostic, ...], *, language: str | None = "python"
) -> JsonObject:
    """Return one entry of `check --format json`.

    Args:
        path: As the caller wrote it.
        found: The evaluator, or the diagnostics that keep it from being one.
        language: What its source is written in, where that is known.
    """
    if isinstance(found, Evaluator):
        return {
            "path": str(path),
            "language": found.language,
            "convention": found.convention.value,
            "variables": [variable_document(v) for v in found.variables],
            "params": [param_document(p) for p in found.params],
            "diagnostics": [diagnostic_document(d) for d in found.warnings],
        }
    return {
        "path": str(path),
        "language": language,
        "convention": None,
        "variables": [],
        "params": [],
        "diagnostics": [diagnostic_document(d) for d in found],
    }


def _code(error: CallerError) -> str:
    if isinstance(error, ParamError):
        return "bad_param"
    return "bad_mapping" if isinstance(error, MappingError) else "bad_definition"


def variable_document(variable: Variable) -> JsonObject:
    """Return a variable as `check --format json` prints it."""
    return {
        "name": variable.name,
        "required": variable.required,
        "default": variable.default,
        "annotation": variable.annotation,
    }


def param_document(param: ConfigParam) -> JsonObject:
    """Return a config param likewise; a default that is not known is null."""
    return {
        "key": param.key,
        "type": param.type,
        "description": param.description,
        "default": None if param.default is msgspec.UNSET else param.default,
        "required": param.required,
        "min": param.min,
        "max": param.max,
        "values": list(param.values),
    }


def diagnostic_document(diagnostic: Diagnostic) -> JsonObject:
    """Return a diagnostic likewise."""
    return {
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "line": diagnostic.line,
        "column": diagnostic.column,
    }
