"""Evaluators to start from: what `scorewright new` writes, and the server offers. They lie in `templates/`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from scorewright.domain.convention import Convention
from scorewright.domain.errors import UsageError
from scorewright.domain.source_language import (
    LANGUAGE_OF_SUFFIX,
    LANGUAGE_TITLES,
    LANGUAGES,
    Language,
)

_FOLDER = Path(__file__).with_name("templates")


class EvaluatorTemplate(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluator that works, to be changed into another one."""

    convention: Convention
    language: Language
    source: str


def template(convention: Convention, language: Language) -> EvaluatorTemplate:
    """Return the template of a convention in a language.

    Raises:
        UsageError: The caller's: the language has no such convention.
    """
    if not has_convention(language, convention):
        raise UsageError(
            f"--convention trace_object is for Python only, and this is {LANGUAGE_TITLES[language]}; "
            "use --convention inputs_outputs_trace: the trace arrives as an object"
        )
    path = _FOLDER / f"{convention}{file_suffix(language)}"
    return EvaluatorTemplate(
        convention=convention, language=language, source=path.read_text(encoding="utf-8")
    )


def templates() -> Iterator[EvaluatorTemplate]:
    """Return all templates, by convention and then language."""
    for convention in Convention:
        for language in LANGUAGES:
            if has_convention(language, convention):
                yield template(convention, language)


def has_convention(language: Language, convention: Convention) -> bool:
    """Whether evaluators of a language can be called by a convention."""
    return language == "python" or convention is not Convention.TRACE_OBJECT


def file_suffix(language: Language) -> str:
    """Return the usual ending of a source file."""
    return next(suffix for suffix, of in LANGUAGE_OF_SUFFIX.items() if of == language)
