"""Read `evaluate` out of JavaScript and TypeScript without running it. Imported only where a script is parsed."""

from __future__ import annotations

import re

from scorewright.domain.script_entry import find_evaluate
from scorewright.domain.script_parameters import read_parameters
from scorewright.domain.script_rules import scan_rules
from scorewright.domain.script_syntax import syntax_problems
from scorewright.domain.script_tree import ScriptTree, has_token, parse_tree
from scorewright.domain.signature import Diagnostic, ParsedSource, Signature
from scorewright.domain.source_language import ScriptLanguage
from scorewright.domain.source_limits import refuse_unreadable

#: Words without which no stream of random numbers starts, or by which any other name can be reached; `Math`
#: counts wherever it is not simply followed by the name of another function.
_ENTROPY = re.compile(
    r"[Rr]andom|[Cc]rypto|\beval\b|\bFunction\b|\bconstructor\b|\bglobalThis\b|\\u|\bMath\b(?!\.\w)"
)
#: A date made of a value, or read from a text, is the same every time.
_TIMELESS = re.compile(r"\bnew\s+Date\s*\(\s*[^)\s/]|\bDate\.(?:parse|UTC)\b")
#: What tells the time, or reaches any other name; `this` may be the global object.
_CLOCK = re.compile(
    r"\bDate\b|\bTemporal\b|\bIntl\b|\bperformance\b"
    r"|\beval\b|\bFunction\b|\bconstructor\b|\bglobalThis\b|\\u|\bthis\b(?!\s*\.\s*[\w#$])"
)


def parse_script(source: str, *, language: ScriptLanguage) -> ParsedSource:
    """Read the signature of `evaluate` from JavaScript or TypeScript, without running it.

    Args:
        source: The file's text; hostile text is fine.
        language: Which of the two it is.

    Returns:
        The signature (None when no `evaluate` could be read) and the diagnostics in order of their place.
    """
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    refusal = refuse_unreadable(source)
    if refusal is not None:
        return ParsedSource(signature=None, diagnostics=(refusal,))
    tree = parse_tree(source, language)
    if tree is None:
        text = "the source takes too long to parse; simplify it"
        stopped = Diagnostic(severity="error", code="too_complex", message=text)
        return ParsedSource(signature=None, diagnostics=(stopped,))
    problems = syntax_problems(tree)
    if problems:
        return ParsedSource(signature=None, diagnostics=tuple(problems))
    return _read_tree(tree)


def _read_tree(tree: ScriptTree) -> ParsedSource:
    rules = scan_rules(tree)
    found = find_evaluate(tree)
    diagnostics = [*rules.diagnostics, *found.diagnostics]
    signature = None
    if found.function is not None:
        parameters, problems = read_parameters(tree, found.function)
        diagnostics += problems
        line, column = tree.place(found.function)
        text = tree.raw.decode()
        signature = Signature(
            parameters=parameters,
            language=tree.language,
            is_async=has_token(found.function, "async"),
            line=line,
            column=column,
            imports=rules.imports,
            names_entropy=_ENTROPY.search(text) is not None,
            reads_clock=_CLOCK.search(_TIMELESS.sub("", text)) is not None,
        )
    diagnostics.sort(key=lambda d: (d.line, d.column))
    return ParsedSource(signature=signature, diagnostics=tuple(diagnostics))
