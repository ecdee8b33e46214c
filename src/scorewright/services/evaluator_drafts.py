"""What is sent of an evaluator, made into one: for saving, and for telling what is wrong before that.

What reads the sources is handed in: a server has it done in processes of their own (`services.source_reader`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from scorewright.domain.check import check_document, diagnostic_document, refusal_document
from scorewright.domain.definition import Definition, read_definition
from scorewright.domain.errors import CallerError, EvaluatorError
from scorewright.domain.evaluator import Evaluator, ReadSource, SourceError, build_evaluator
from scorewright.domain.evaluator_name import slug
from scorewright.domain.json_literal import json_literal
from scorewright.domain.json_value import JsonObject
from scorewright.domain.signature import Diagnostic
from scorewright.storage.tables.metadata import without_nul

#: Stands for the name of a draft that has none yet.
DRAFT_NAME: Final = "draft"
#: Keys that are stored as text, where U+0000 cannot be.
_SHOWN: Final = ("display_name", "description", "tags")


class ParsedDraft(msgspec.Struct, frozen=True, kw_only=True):
    """What a source that need not be complete is: an evaluator, or diagnostics that say why not."""

    evaluator: Evaluator | None
    #: Errors and warnings, as `check --format json` has them.
    diagnostics: list[JsonObject]


def settle_definition(fields: JsonObject) -> Definition:
    """Make a definition of what was sent; an empty value counts as absent.

    Raises:
        EvaluatorError: The caller's: a value does not fit; it points at it.
        ParamError: The caller's: a config param contradicts itself; likewise.
    """
    document: JsonObject = {}
    for key, value in fields.items():
        if value in (None, "", [], {}):
            continue
        try:
            settled = json_literal(value)
        except ValueError as error:
            raise EvaluatorError(f"{key}: {error}; change the value").at(f"/{key}") from None
        document[key] = without_nul(settled) if key in _SHOWN else settled
    try:
        return read_definition(document)
    except CallerError as error:
        said = str(error).removeprefix("definition: ")
        raise type(error)(said).at(error.pointer or "") from None


def definition_fields(definition: Definition, *keys: str) -> JsonObject:
    """Return what a definition says under these keys, as it can be sent."""
    said = msgspec.to_builtins(definition)
    return {key: said[key] for key in keys}


def build_draft(source: str, definition: Definition, read: ReadSource) -> Evaluator:
    """Make an evaluator of a source and a definition that has a name; what would run without a sandbox is refused.

    Args:
        source: Code that defines `evaluate`.
        definition: What is settled beside it.
        read: Reads the source.

    Raises:
        CallerError: The author's: it is no evaluator; the error points at the part, a source's names line and column.
    """
    return build_evaluator(source, definition, origin=definition.name or DRAFT_NAME, read=read)


def parse_draft(source: str, fields: JsonObject, read: ReadSource) -> ParsedDraft:
    """Say how a source is called and what it takes.

    Args:
        source: Code that defines `evaluate`.
        fields: What is settled beside it.
        read: Reads the source.

    Raises:
        CallerError: The caller's: the fields make no definition. What is wrong with the source is a diagnostic.
    """
    definition = _named(settle_definition(fields))
    try:
        evaluator = build_draft(source, definition, read)
    except SourceError as error:
        return ParsedDraft(evaluator=None, diagnostics=_documents(error.diagnostics))
    return ParsedDraft(evaluator=evaluator, diagnostics=_documents(evaluator.warnings))


def check_draft(source: str, fields: JsonObject, read: ReadSource) -> JsonObject:
    """Say what is found in an evaluator that is not saved, in the form of `check --format json`.

    Args:
        source: Code that defines `evaluate`.
        fields: What is declared beside it; what is wrong there is a diagnostic as well.
        read: Reads the source.
    """
    name = str(fields.get("name") or DRAFT_NAME)
    language = str(fields.get("language") or "python")
    try:
        definition = _named(settle_definition(fields))
        name = definition.name or slug(definition.display_name or "")
        evaluator = build_evaluator(source, definition, origin=name, read=read)
    except CallerError as error:
        return refusal_document(name, error, language=language)
    return check_document(name, evaluator)


def _named(definition: Definition) -> Definition:
    if definition.name or definition.display_name:
        return definition
    return msgspec.structs.replace(definition, name=DRAFT_NAME)


def _documents(diagnostics: Iterable[Diagnostic]) -> list[JsonObject]:
    return [diagnostic_document(found) for found in diagnostics]
