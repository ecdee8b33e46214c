"""Evaluators of a run: from files, sources and functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from scorewright.domain.convention import Convention
from scorewright.domain.evaluator import Evaluator, load_evaluator
from scorewright.domain.evaluator_name import unique_names


def load_evaluators(
    paths: Sequence[Path], *, convention: Convention | None, any_import: bool = False
) -> list[Evaluator]:
    """Read evaluators from files; names that are alike get a number.

    Args:
        paths: `.py` files or `.yaml` definitions.
        convention: How to call them; detected for each when None.
        any_import: Accept imports from outside the standard library: the code will run without a sandbox.

    Raises:
        EvaluatorError: The caller's: a file cannot be read, or is no evaluator.
    """
    return name_apart(
        [load_evaluator(path, convention=convention, any_import=any_import) for path in paths]
    )


def name_apart(evaluators: Sequence[Evaluator]) -> list[Evaluator]:
    """Return the evaluators of a run under names that differ: the second `exact` becomes `exact-2`."""
    names = unique_names(evaluator.name for evaluator in evaluators)
    return [
        evaluator if evaluator.name == name else msgspec.structs.replace(evaluator, name=name)
        for evaluator, name in zip(evaluators, names, strict=True)
    ]
