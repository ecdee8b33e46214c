"""Read `evaluate` out of Python source without running it. Imported only where a source is parsed.

The text may be hostile: size and nesting are bounded before the parser sees it, whatever the parser
raises becomes a diagnostic, and the tree is never walked by recursion.
"""

from __future__ import annotations

import ast
import re
import warnings

from scorewright.domain.python_clock import reads_clock
from scorewright.domain.python_evaluate import find_evaluate
from scorewright.domain.python_imports import scan_imports
from scorewright.domain.python_parameters import read_parameters
from scorewright.domain.python_state import keeps_no_state
from scorewright.domain.signature import Diagnostic, ParsedSource, Signature
from scorewright.domain.source_limits import place_of, refuse_unreadable
from scorewright.domain.source_text import SourceText

MAX_BRACKET_DEPTH = 100
#: Nodes that the compiler may write out more than once.
_MAX_EXPANSION = 1_000_000

#: Words without which no stream of random numbers starts. `random` covers urandom and SystemRandom;
#: a normal distribution, temporary files and message ids draw numbers as well; the last four find
#: modules by name.
_ENTROPY_WORDS = (
    *("random", "uuid", "secrets", "NormalDist", "tempfile", "make_msgid"),
    *("import_module", "__import__", "eval(", "exec("),
)

#: Brackets, and the texts and comments in which a bracket is none. An unterminated text runs to its end,
#: so that the scan stays linear.
_BRACKETS = r"""
    (?P<open>[(\[{]) | (?P<close>[)\]}])
    | \#[^\n]*
    | \"{3}(?:\\.|[^\\])*?(?:\"{3}|\Z) | '{3}(?:\\.|[^\\])*?(?:'{3}|\Z)
    | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?
"""


def parse(source: str) -> ParsedSource:
    """Read the signature of `evaluate`; see `domain.signature.parse_python`."""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    refusal = _refuse_unparsable(source)
    if refusal is not None:
        return ParsedSource(signature=None, diagnostics=(refusal,))
    tree, diagnostics = _parse_tree(source)
    if tree is None:
        return ParsedSource(signature=None, diagnostics=tuple(diagnostics))
    text = SourceText(source)
    imports, import_problems = scan_imports(tree, text)
    found = find_evaluate(tree, text)
    diagnostics += import_problems + found.diagnostics
    signature = None
    if found.function is not None:
        parameters, problems = read_parameters(found.function, text)
        diagnostics += problems
        signature = Signature(
            parameters=parameters,
            is_async=isinstance(found.function, ast.AsyncFunctionDef),
            line=found.function.lineno,
            column=text.column(found.function),
            imports=imports,
            names_entropy=_names_entropy(source),
            reads_clock=reads_clock(tree),
            may_keep_state=not keeps_no_state(tree),
        )
    diagnostics.sort(key=lambda d: (d.line, d.column))
    return ParsedSource(signature=signature, diagnostics=tuple(diagnostics))


def _error(code: str, message: str, line: int = 1, column: int = 1) -> Diagnostic:
    return Diagnostic(severity="error", code=code, message=message, line=line, column=column)


def _refuse_unparsable(source: str) -> Diagnostic | None:
    """Return why the text is not given to the parser at all, or None."""
    refusal = refuse_unreadable(source)
    if refusal is not None:
        return refusal
    deep = _first_bracket_too_deep(source)
    if deep is not None:
        text = f"brackets are nested more than {MAX_BRACKET_DEPTH} deep; split the expression"
        return _error("too_complex", text, *place_of(source, deep))
    return None


def _first_bracket_too_deep(source: str) -> int | None:
    if sum(map(source.count, "([{")) <= MAX_BRACKET_DEPTH:
        return None
    depth = 0
    for match in re.finditer(_BRACKETS, source, re.VERBOSE | re.DOTALL):
        if match.lastgroup == "open":
            depth += 1
            if depth > MAX_BRACKET_DEPTH:
                return match.start()
        elif match.lastgroup == "close":
            depth -= 1
    return None


def _parse_tree(source: str) -> tuple[ast.Module | None, list[Diagnostic]]:
    """Parse and compile; the compiled code is thrown away, it only finds what the grammar allows."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            tree = ast.parse(source, "<evaluator>")
            if "finally" not in source or _expands_little(tree):
                compile(tree, "<evaluator>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return None, [_syntax_error(error)]
        except (RecursionError, MemoryError, OverflowError, ValueError):
            text = "the source is nested too deeply to be parsed; split its longest expression"
            return None, [_error("too_complex", text)]
    noted = [
        Diagnostic(severity="warning", code="python_warning", message=str(w.message), line=w.lineno)
        for w in caught
        if issubclass(w.category, SyntaxWarning | DeprecationWarning)
    ]
    return tree, noted


def _expands_little(tree: ast.Module) -> bool:
    """Whether compiling takes time in proportion to the source.

    The compiler writes a `finally` block out once for each way that leads into it, and doubles it for
    every one it stands in: a few hundred bytes can grow to gigabytes.
    """
    copies, exits, deepest = 0, 1, 0
    stack: list[tuple[ast.AST, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        copies += depth > 0
        exits += isinstance(node, ast.Return | ast.Break | ast.Continue)
        deepest = max(deepest, depth)
        final = node.finalbody if isinstance(node, ast.Try | ast.TryStar) else []
        finals = set(map(id, final))
        stack.extend((n, depth + (id(n) in finals)) for n in ast.iter_child_nodes(node))
    return deepest < 10 and copies * exits << deepest <= _MAX_EXPANSION


def _syntax_error(error: SyntaxError) -> Diagnostic:
    said = error.msg
    if isinstance(error, TabError):
        said = "the indentation mixes tabs and spaces inconsistently; indent with spaces only"
    elif said == "invalid syntax":
        said = "this is not valid Python"
    message = f"syntax error: {said}"
    return _error("syntax_error", message, max(error.lineno or 1, 1), max(error.offset or 1, 1))


def _names_entropy(source: str) -> bool:
    return any(word in source for word in _ENTROPY_WORDS)
