"""Evaluators of a run: from files, sources and functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from scorewright.domain.convention import Convention
from scorewright.domain.definition import Definition, parse_definition
from scorewright.domain.errors import EvaluatorError, ParamError
from scorewright.domain.evaluator import Evaluator, SourceError, evaluator_from_text
from scorewright.domain.evaluator_name import slug, unique_names
from scorewright.domain.source_file import DEFINITION_SUFFIXES, read_text

#: How a command names an evaluator that comes along.
_CATALOG_FOLDER: Final = Path("builtin")


def load_evaluators(
    paths: Sequence[Path], *, convention: Convention | None, any_import: bool = False
) -> list[Evaluator]:
    """Read evaluators from files; names that are alike get a number.

    Args:
        paths: Files of sources or `.yaml` definitions; `builtin/NAME` is one that comes along.
        convention: How to call them; detected for each when None.
        any_import: Accept imports from outside the standard library: the code will run without a sandbox.

    Raises:
        EvaluatorError: The caller's: a file cannot be read, or is no evaluator.
    """
    return name_apart(
        [load_one(path, convention=convention, any_import=any_import) for path in paths]
    )


def load_one(path: Path, *, convention: Convention | None, any_import: bool) -> Evaluator:
    """Read one evaluator, code or judge; as `load_evaluators`."""
    if path.parent == _CATALOG_FOLDER and not path.exists():
        from scorewright.judges._catalog import catalog_definition

        return _judge(catalog_definition(path.name), path, convention)
    text = read_text(path)
    if path.suffix.lower() in DEFINITION_SUFFIXES:
        try:
            definition = parse_definition(text)
            if definition.type == "llm_judge":
                return _judge(definition, path, convention)
        except SourceError:
            raise
        except (EvaluatorError, ParamError) as error:
            raise type(error)(f"{path}: {error}") from None
    return evaluator_from_text(path, text, convention=convention, any_import=any_import)


def _judge(definition: Definition, path: Path, convention: Convention | None) -> Evaluator:
    if convention is not None:
        raise EvaluatorError("--convention is about code, and this is a judge; leave it out")
    from scorewright.judges.definition import build_judge

    name = definition.name or slug(definition.display_name or path.stem)
    return build_judge(msgspec.structs.replace(definition, name=name), origin=str(path))


def name_apart(evaluators: Sequence[Evaluator]) -> list[Evaluator]:
    """Return the evaluators of a run under names that differ: the second `exact` becomes `exact-2`."""
    names = unique_names(evaluator.name for evaluator in evaluators)
    return [
        evaluator if evaluator.name == name else msgspec.structs.replace(evaluator, name=name)
        for evaluator, name in zip(evaluators, names, strict=True)
    ]
