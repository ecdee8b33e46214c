"""An evaluator: source, how it is called, what may be set on it, and how its score is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from scorewright.domain.convention import Convention, Level
from scorewright.domain.definition import Definition, EvaluatorType, parse_definition
from scorewright.domain.detection import choose_convention, choose_level
from scorewright.domain.errors import EvaluatorError, MappingError, ParamError
from scorewright.domain.evaluator_name import check_name, slug
from scorewright.domain.json_value import JsonValue
from scorewright.domain.param import ConfigParam
from scorewright.domain.score_range import settle_range, settle_threshold
from scorewright.domain.signature import Diagnostic, ParsedSource, Signature, parse_python
from scorewright.domain.source_file import DEFINITION_SUFFIXES, SOURCE_SUFFIXES, one_of, read_text
from scorewright.domain.source_language import LANGUAGE_OF_SUFFIX, LANGUAGE_TITLES, Language
from scorewright.domain.suggestion import did_you_mean, name_list, quote
from scorewright.domain.variable import Variable, assign_roles

if TYPE_CHECKING:  # pathlib costs 4 ms, and is only named here
    from pathlib import Path


class Evaluator(msgspec.Struct, frozen=True, kw_only=True):
    """One version of an evaluator, complete and checked. Source: contracts §1."""

    name: str
    #: The file it came from, or its name; shown in messages and tracebacks.
    origin: str
    source: str
    signature: Signature
    convention: Convention
    level: Level
    variables: tuple[Variable, ...]
    params: tuple[ConfigParam, ...]
    #: Lowest and highest score; None where any finite score counts.
    score_range: tuple[float, float] | None
    #: The score from which an item passes; None gives no verdict.
    threshold: float | None
    #: sha256, in hex, of all its author decides about results.
    digest: str
    display_name: str | None = None
    description: str = ""
    tags: tuple[str, ...] = ()
    type: EvaluatorType = "code"
    language: Language = "python"
    version: int = 1
    #: Variable to field or constant, as its definition says; a run may say otherwise.
    mapping: dict[str, JsonValue] = {}
    #: `legacy_correct_answer` only: the column that holds the right answer.
    correct_answer_key: str = "correct_answer"
    #: What its author should know; none of it is an error.
    warnings: tuple[Diagnostic, ...] = ()


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What is found in a source: all of an evaluator that takes a parser to know."""

    signature: Signature
    convention: Convention
    level: Level
    variables: tuple[Variable, ...]
    params: tuple[ConfigParam, ...]
    #: What its author should know; none of it is an error.
    warnings: tuple[Diagnostic, ...]


#: Reads a source, as `read_source` does; some do so elsewhere.
ReadSource: TypeAlias = Callable[[str, Definition], Reading]


class UnreadableSourceError(Exception):
    """A source is no evaluator, whatever it is called; caught in `build_evaluator`, which knows its name."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__(f"{len(diagnostics)} diagnostics")


class SourceError(EvaluatorError):
    """A source is no evaluator; its text has one line for each error: `path:line:column: message`."""

    def __init__(
        self, origin: str, diagnostics: tuple[Diagnostic, ...], *, language: Language = "python"
    ) -> None:
        self.diagnostics = diagnostics
        self.language: Language = language
        self.pointer = "/source"
        super().__init__(
            "\n".join(
                f"{origin}:{d.line}:{d.column}: {d.message}"
                for d in diagnostics
                if d.severity == "error"
            )
        )


def load_evaluator(
    path: Path,
    *,
    convention: Convention | None = None,
    level: Level | None = None,
    any_import: bool = False,
) -> Evaluator:
    """Read an evaluator from a source file or a YAML definition, without running it.

    Args:
        path: A file of Python (`.py`), JavaScript (`.js`, `.mjs`, `.cjs`) or TypeScript (`.ts`, `.mts`), or a
            definition (`.yaml`, `.yml`).
        convention: How to call it, whatever the definition says; detected when neither says.
        level: What one call sees, likewise.
        any_import: Accept imports from outside Python's standard library: the code will run without a sandbox.

    Raises:
        EvaluatorError: The caller's: the file cannot be read, or is no evaluator.
    """
    text = read_text(path)
    return evaluator_from_text(
        path, text, convention=convention, level=level, any_import=any_import
    )


def evaluator_from_text(
    path: Path,
    text: str,
    *,
    convention: Convention | None = None,
    level: Level | None = None,
    any_import: bool = False,
) -> Evaluator:
    """Make an evaluator of the text of a file, and of the source file that a definition names.

    Args:
        path: The file; its ending says what the text is, its stem gives the name where nothing else does.
        text: What it holds.
        convention: As for `load_evaluator`.
        level: As for `load_evaluator`.
        any_import: As for `load_evaluator`.

    Raises:
        EvaluatorError: The author's: it is no evaluator.
    """
    definition, origin, source = Definition(), path, text
    if path.suffix.lower() in DEFINITION_SUFFIXES:
        definition = _located(path, text)
        origin = path.parent / (definition.source or "")
        source = read_text(origin)
    definition = msgspec.structs.replace(
        definition,
        language=LANGUAGE_OF_SUFFIX[origin.suffix.lower()],
        name=definition.name or slug(definition.display_name or path.stem),
        convention=convention or definition.convention,
        level=level or definition.level,
    )
    try:
        return build_evaluator(source, definition, origin=str(origin), any_import=any_import)
    except SourceError:
        raise
    except (EvaluatorError, ParamError, MappingError) as error:
        raise type(error)(f"{path}: {error}") from None


def _located(path: Path, text: str) -> Definition:
    try:
        definition = parse_definition(text)
    except (EvaluatorError, ParamError) as error:
        raise type(error)(f"{path}: {error}") from None
    if definition.source is None:
        raise EvaluatorError(f"{path}: definition: no source; name its file, as in source: x.py")
    language = LANGUAGE_OF_SUFFIX.get("." + definition.source.lower().rpartition(".")[2])
    named = f"{path}: definition: source {quote(definition.source)}"
    if language is None:
        raise EvaluatorError(f"{named} must end in {one_of(SOURCE_SUFFIXES)}")
    if definition.language not in (None, language):
        raise EvaluatorError(
            f"{named} is {LANGUAGE_TITLES[language]}, not {definition.language}; "
            "change the language, or leave it out"
        )
    return definition


def evaluator_from_source(  # noqa: PLR0913 - what decides about a source, each by name
    source: str,
    *,
    name: str,
    language: Language = "python",
    convention: Convention | None = None,
    level: Level | None = None,
    any_import: bool = False,
) -> Evaluator:
    """Make an evaluator of a source, without running it.

    Args:
        source: Code that defines `evaluate`.
        name: Its identifier.
        language: What it is written in.
        convention: How to call it; detected when None.
        level: What one call sees; detected when None.
        any_import: Accept imports from outside the standard library: the code will run without a sandbox.

    Raises:
        EvaluatorError: The author's: the source is no evaluator, or the name none.
    """
    definition = Definition(name=name, language=language, convention=convention, level=level)
    return build_evaluator(source, definition, origin=name, any_import=any_import)


def build_evaluator(
    source: str,
    definition: Definition,
    *,
    origin: str,
    any_import: bool = False,
    read: ReadSource | None = None,
) -> Evaluator:
    """Make an evaluator of a source and what its definition says.

    Args:
        source: Code that defines `evaluate`.
        definition: What the author decides beside it; Python where it names no language.
        origin: Where the source comes from, for messages.
        any_import: Accept imports from outside the standard library: the code will run without a sandbox.
        read: Reads the source; in this process unless given.

    Raises:
        EvaluatorError: The author's: something in the source or the definition does not fit.
    """
    if definition.type != "code":
        raise EvaluatorError(f"definition: type {definition.type} has no source that could be read")
    name = definition.name or slug(definition.display_name or "")
    check_name(name)
    source = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    try:
        if read is None:
            reading = read_source(source, definition, any_import=any_import)
        else:
            reading = read(source, definition)
    except UnreadableSourceError as error:
        language = definition.language or "python"
        raise SourceError(origin, error.diagnostics, language=language) from None
    return _evaluator_of(reading, source, definition, name=name, origin=origin)


def read_source(source: str, definition: Definition, *, any_import: bool = False) -> Reading:
    """Parse a source and say what its parameters are for.

    Args:
        source: Code that defines `evaluate`, its lines ended by a line feed; hostile text is fine.
        definition: What the author decides beside it; Python where it names no language.
        any_import: Accept imports from outside the standard library.

    Raises:
        UnreadableSourceError: The author's: the source is no evaluator, for these reasons.
    """
    parsed = _parse(source, definition.language or "python", any_import=any_import)
    signature = parsed.signature
    if signature is None or parsed.errors:
        raise UnreadableSourceError(parsed.diagnostics)
    declared = {param.key: param for param in definition.params}
    try:
        convention = choose_convention(signature, definition.convention, declared=declared)
        level = choose_level(signature, convention, definition.level)
        roles = assign_roles(signature, convention, declared)
    except EvaluatorError as error:
        misfit = Diagnostic(
            severity="error",
            code="bad_signature",
            message=str(error),
            line=signature.line,
            column=signature.column,
        )
        raise UnreadableSourceError((*parsed.diagnostics, misfit)) from None
    found = [*parsed.diagnostics, *roles.diagnostics]
    diagnostics = tuple(sorted(found, key=lambda d: (d.line, d.column)))
    if any(d.severity == "error" for d in roles.diagnostics):
        raise UnreadableSourceError(diagnostics)
    return Reading(
        signature=signature,
        convention=convention,
        level=level,
        variables=roles.variables,
        params=roles.params,
        warnings=diagnostics,
    )


def _evaluator_of(
    reading: Reading, source: str, definition: Definition, *, name: str, origin: str
) -> Evaluator:
    _check_mapping(definition, reading.variables)
    score_range = settle_range(definition.score_range, reading.convention)
    threshold = settle_threshold(definition.threshold, score_range)
    evaluator = Evaluator(
        name=name,
        origin=origin,
        source=source,
        signature=reading.signature,
        convention=reading.convention,
        level=reading.level,
        variables=reading.variables,
        params=reading.params,
        score_range=score_range,
        threshold=threshold,
        digest="",
        display_name=definition.display_name,
        description=definition.description,
        tags=definition.tags,
        language=reading.signature.language,
        mapping=definition.mapping,
        correct_answer_key=definition.correct_answer_key,
        warnings=reading.warnings,
    )
    return with_digest(evaluator)


#: Diagnostics about imports that only the sandbox refuses.
_IMPORT_CODES = ("missing_module", "refused_module")


def _parse(source: str, language: Language, *, any_import: bool) -> ParsedSource:
    if language != "python":
        from scorewright.domain.script_parser import parse_script

        return parse_script(source, language=language)
    parsed = parse_python(source)
    if any_import:
        others = tuple(d for d in parsed.diagnostics if d.code not in _IMPORT_CODES)
        parsed = msgspec.structs.replace(parsed, diagnostics=others)
    return parsed


def _check_mapping(definition: Definition, variables: tuple[Variable, ...]) -> None:
    names = [variable.name for variable in variables]
    for name in definition.mapping:
        if name not in names:
            near = did_you_mean(name, names)
            raise MappingError(
                f"mapping: there is no variable {quote(name)}{near}; there are: {name_list(names)}"
            ).at("/mapping")


def with_digest(evaluator: Evaluator) -> Evaluator:
    """Return an evaluator that is complete, with the digest of all its author decides about results."""
    import hashlib

    params = [msgspec.structs.replace(param, description="") for param in evaluator.params]
    decided = {
        "source": evaluator.source,
        "language": evaluator.language,
        "convention": evaluator.convention,
        "params": params,
        "score_range": evaluator.score_range,
        "threshold": evaluator.threshold,
    }
    if evaluator.type != "code":  # which came first, and whose digests stand in results
        decided |= {"type": evaluator.type, "level": evaluator.level}
    digest = hashlib.sha256(msgspec.json.encode(decided, order="sorted")).hexdigest()
    return msgspec.structs.replace(evaluator, digest=digest)
