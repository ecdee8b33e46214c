"""What is read from an author's source before it ever runs: the parameters of `evaluate`, and problems.

The source is parsed once, when it is saved or loaded, and never executed here.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from scorewright.domain.json_value import JsonValue
from scorewright.domain.source_language import Language

Severity: TypeAlias = Literal["error", "warning"]
#: `destructured` is a pattern such as `{a, b} = {}`: it has a place, but no name to be mapped by.
Kind: TypeAlias = Literal[
    "positional_only", "positional_or_keyword", "keyword_only", "destructured"
]


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """One problem of a source, at a place; the form that `check --format json` prints."""

    severity: Severity
    #: Stable name of the kind of problem, such as `no_evaluate`.
    code: str
    message: str
    #: From 1.
    line: int = 1
    #: In characters, from 1.
    column: int = 1


class ParamCall(msgspec.Struct, frozen=True, kw_only=True):
    """The literals of a `Param(...)` call that stands as a parameter's default."""

    default: JsonValue | msgspec.UnsetType = msgspec.UNSET
    description: str = ""
    required: bool | None = None
    min: int | float | None = None
    max: int | float | None = None
    enum: tuple[str | int | float, ...] = ()


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of `evaluate`, as written."""

    #: Of a destructured one the source text, cut at a bound.
    name: str
    kind: Kind
    #: Whether it has no default; TypeScript's `name?: type` is as good as one.
    required: bool
    #: The default where it is a literal that JSON can hold (a tuple becomes a list), else UNSET.
    default: JsonValue | msgspec.UnsetType = msgspec.UNSET
    #: The default's source text.
    default_text: str | None = None
    #: The annotation's source text.
    annotation: str | None = None
    #: Set when the default is a `Param(...)` call: the parameter is a config param.
    param: ParamCall | None = None
    #: From 1.
    line: int = 1
    #: In characters, from 1.
    column: int = 1


class Import(msgspec.Struct, frozen=True):
    """A top-level module that the source imports somewhere."""

    module: str
    #: Of its first import, from 1.
    line: int


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """How `evaluate` can be called."""

    parameters: tuple[Parameter, ...]
    language: Language = "python"
    is_async: bool = False
    #: Where `evaluate` is defined, from 1.
    line: int = 1
    #: In characters, from 1.
    column: int = 1
    #: In order of their first appearance, each module once.
    imports: tuple[Import, ...] = ()
    #: Whether the source names a source of randomness; too many rather than too few.
    names_entropy: bool = False
    #: Whether the source may ask what time it is; rather yes than no.
    reads_clock: bool = True
    #: Whether one call could leave something behind for the next; rather yes than no.
    may_keep_state: bool = True


class ParsedSource(msgspec.Struct, frozen=True, kw_only=True):
    """A signature where one could be read, and every problem found."""

    signature: Signature | None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The problems that keep the source from being an evaluator."""
        return tuple(d for d in self.diagnostics if d.severity == "error")


def parse_python(source: str) -> ParsedSource:
    """Read the signature of `evaluate` from Python source, without running it.

    Args:
        source: The file's text; hostile text is fine.

    Returns:
        The signature (None when no `evaluate` could be read) and the diagnostics in order of their place.
    """
    from scorewright.domain.python_parser import parse

    return parse(source)
