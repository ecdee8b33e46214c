"""Read `evaluate` out of Python source without running it. Imported only where a source is parsed.

The text may be hostile: size and nesting are bounded before the parser sees it, whatever the parser
raises becomes a diagnostic, and the tree is never walked by recursion.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import NamedTuple, TypeAlias

from scorewright.domain.python_imports import scan_imports
from scorewright.domain.python_parameters import read_parameters
from scorewright.domain.signature import Diagnostic, ParsedSource, Signature
from scorewright.domain.source_text import SourceText
from scorewright.domain.suggestion import name_list, nearest_name, quote

MAX_SOURCE_BYTES = 1 << 20
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

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class _Binding(NamedTuple):
    """A name bound at module level, and to what."""

    name: str
    node: ast.AST
    """A function, a class, another name (an alias), or whatever else."""
    statement: ast.stmt


class _Evaluate(NamedTuple):
    """The function that the name `evaluate` ends up with."""

    function: _Function | None
    diagnostics: list[Diagnostic]


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
    found = _find_evaluate(tree, text)
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
        )
    diagnostics.sort(key=lambda d: (d.line, d.column))
    return ParsedSource(signature=signature, diagnostics=tuple(diagnostics))


def _error(code: str, message: str, line: int = 1, column: int = 1) -> Diagnostic:
    return Diagnostic(severity="error", code=code, message=message, line=line, column=column)


def _refuse_unparsable(source: str) -> Diagnostic | None:
    """Return why the text is not given to the parser at all, or None."""
    if not source.strip():
        return _error("empty_source", "the source is empty; define evaluate(...)")
    try:
        size = len(source.encode())
    except UnicodeEncodeError as error:
        text = "the source holds half of a character (a lone surrogate); save it as UTF-8"
        return _error("bad_character", text, *_place(source, error.start))
    if size > MAX_SOURCE_BYTES:
        limit = f"{MAX_SOURCE_BYTES >> 20} MiB"
        text = f"the source has {size} bytes; at most {limit} are taken: move data out of it"
        return _error("source_too_large", text)
    if "\0" in source:
        return _error(
            "bad_character", "the source holds a NUL", *_place(source, source.index("\0"))
        )
    deep = _first_bracket_too_deep(source)
    if deep is not None:
        text = f"brackets are nested more than {MAX_BRACKET_DEPTH} deep; split the expression"
        return _error("too_complex", text, *_place(source, deep))
    return None


def _place(source: str, index: int) -> tuple[int, int]:
    """Line and column, from 1, of a character's index."""
    return source.count("\n", 0, index) + 1, index - source.rfind("\n", 0, index)


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


def _find_evaluate(tree: ast.Module, text: SourceText) -> _Evaluate:
    bindings = _module_bindings(tree)
    found = [index for index, binding in enumerate(bindings) if binding.name == "evaluate"]
    if not found:
        return _Evaluate(None, [_no_evaluate(bindings, text)])
    diagnostics: list[Diagnostic] = []
    last = bindings[found[-1]]
    alias = last.node.id if isinstance(last.node, ast.Name) else None
    if len(found) > 1 and alias != "evaluate":
        before = bindings[found[-2]].statement.lineno
        message = f"evaluate is defined again here; the one in line {before} is not used"
        diagnostics.append(_at(last.statement, text, "defined_twice", message, severity="warning"))
    function = _resolve(bindings, found[-1])
    if function is None:
        diagnostics.append(_at(last.statement, text, *_not_a_function(last)))
    elif _is_generator(function):
        message = "evaluate is a generator (it has a yield); return one value instead"
        diagnostics.append(_at(function, text, "generator", message))
    return _Evaluate(function, diagnostics)


def _at(
    node: ast.stmt | ast.expr, text: SourceText, code: str, message: str, *, severity: str = "error"
) -> Diagnostic:
    return Diagnostic(
        severity="error" if severity == "error" else "warning",
        code=code,
        message=message,
        line=node.lineno,
        column=text.column(node),
    )


def _module_bindings(tree: ast.Module) -> list[_Binding]:
    """Return what the module level binds, in order, inside `if`, `try` and `with` blocks too."""
    bindings: list[_Binding] = []
    stack: list[ast.AST] = list(reversed(tree.body))
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                bindings.append(_Binding(node.name, node, node))
            case ast.Assign():
                for target in node.targets:
                    bindings.extend(_targets(target, node.value, node))
            case ast.AnnAssign(value=ast.expr() as value):
                bindings.extend(_targets(node.target, value, node))
            case ast.Import() | ast.ImportFrom():
                names = [(a.asname or a.name).partition(".")[0] for a in node.names]
                bindings.extend(_Binding(name, node, node) for name in names)
            case ast.If():
                stack.extend(reversed(node.body + node.orelse))
            case ast.Try() | ast.TryStar():
                blocks = [node.body, *(h.body for h in node.handlers), node.orelse, node.finalbody]
                stack.extend(
                    statement for block in reversed(blocks) for statement in reversed(block)
                )
            case ast.With():
                stack.extend(reversed(node.body))
            case _:
                pass
    return bindings


def _targets(target: ast.expr, value: ast.expr, statement: ast.stmt) -> list[_Binding]:
    if isinstance(target, ast.Name):
        return [_Binding(target.id, value, statement)]
    if isinstance(target, ast.Tuple | ast.List):
        names = [each.id for each in target.elts if isinstance(each, ast.Name)]
        return [_Binding(name, statement, statement) for name in names]
    return []


def _resolve(bindings: list[_Binding], index: int) -> _Function | None:
    """Follow `evaluate = other_name` to the function that name had at that point."""
    node = bindings[index].node
    while isinstance(node, ast.Name):
        wanted = node.id
        index = max((i for i in range(index) if bindings[i].name == wanted), default=-1)
        if index < 0:
            return None
        node = bindings[index].node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return node
    return None


def _not_a_function(binding: _Binding) -> tuple[str, str]:
    if isinstance(binding.node, ast.ClassDef):
        return "evaluate_is_class", "evaluate is a class; define a function of that name"
    if isinstance(binding.node, ast.Import | ast.ImportFrom):
        return "evaluate_not_function", "evaluate is imported; define it in this file"
    text = "evaluate is no function whose parameters can be read; write def evaluate(...)"
    return "evaluate_not_function", text


def _no_evaluate(bindings: list[_Binding], text: SourceText) -> Diagnostic:
    functions = [b for b in bindings if isinstance(b.node, _Function)]
    methods = [b for b in bindings if isinstance(b.node, ast.ClassDef) and _has_evaluate(b.node)]
    names = [b.name for b in functions]
    near = nearest_name("evaluate", names)
    hint = ""
    if near is not None:
        hint = f" (did you mean {quote(near)}?)"
    elif methods:
        hint = f" (found: a method of class {quote(methods[0].name)}; move it out of the class)"
    elif names:
        hint = f" (found: {name_list(names)})".replace('"', "")
    shown = [b for b in functions if b.name == near] if near is not None else methods or functions
    message = f'no function named "evaluate"{hint}; define evaluate(...) at the top level'
    if not shown:
        return _error("no_evaluate", message)
    return _at(shown[0].statement, text, "no_evaluate", message)


def _has_evaluate(node: ast.ClassDef) -> bool:
    return any(
        isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) and each.name == "evaluate"
        for each in node.body
    )


def _is_generator(function: _Function) -> bool:
    """Whether there is a yield in the function's own body, not in one nested inside it."""
    body = function.body
    stack: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, _Function | ast.ClassDef):
            stack.extend(ast.iter_child_nodes(node))
    return False
