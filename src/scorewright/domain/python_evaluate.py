"""Find the function that a Python module binds to the name `evaluate`, without running it."""

from __future__ import annotations

import ast
from typing import NamedTuple, TypeAlias

from scorewright.domain.signature import Diagnostic
from scorewright.domain.source_text import SourceText
from scorewright.domain.suggestion import name_list, nearest_name, quote

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class _Binding(NamedTuple):
    """A name bound at module level, and to what."""

    name: str
    node: ast.AST
    """A function, a class, another name (an alias), or whatever else."""
    statement: ast.stmt


class Found(NamedTuple):
    """The function that the name `evaluate` ends up with."""

    function: _Function | None
    diagnostics: list[Diagnostic]


def find_evaluate(tree: ast.Module, text: SourceText) -> Found:
    """Find the function that the name `evaluate` is bound to when the module has run."""
    bindings = _module_bindings(tree)
    found = [index for index, binding in enumerate(bindings) if binding.name == "evaluate"]
    if not found:
        return Found(None, [_no_evaluate(bindings, text)])
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
    return Found(function, diagnostics)


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
        return Diagnostic(severity="error", code="no_evaluate", message=message)
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
