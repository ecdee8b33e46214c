"""Whether a source can leave anything behind between two calls of `evaluate`.

Every item gets a fresh namespace, so that no item sees what another one left. Making one costs as much as judging a
simple item. Where the source has nothing that could keep state, a shared namespace cannot be told from a fresh
one, and is used instead. The check is conservative: what it does not know counts as state.
"""

from __future__ import annotations

import ast
from typing import Final

#: Ways to reach the namespace, or a function's own attributes, that the syntax does not show.
_REACHES_ROUND: Final = frozenset(
    "globals locals vars getattr exec eval compile setattr delattr breakpoint __import__ __builtins__".split()
)
_HARMLESS_ATTRIBUTES: Final = frozenset({"__name__", "__doc__"})
#: Modules without a way to another module's namespace.
_HARMLESS_MODULES: Final = frozenset(
    "__future__ abc base64 binascii bisect calendar cmath collections colorsys csv datetime decimal "
    "difflib enum fnmatch fractions functools hashlib heapq hmac html io itertools json math numbers "
    "random re scorewright secrets statistics string struct textwrap time typing unicodedata urllib uuid "
    "xml zlib zoneinfo".split()
)


def keeps_no_state(tree: ast.Module) -> bool:
    """Whether nothing of one call can be seen by the next one through the module.

    Args:
        tree: The parsed source.
    """
    constants: set[str] = set()
    return all(_adds_no_state(one, constants) for one in tree.body) and not any(
        map(_may_write_round, ast.walk(tree))
    )


def _adds_no_state(statement: ast.stmt, constants: set[str]) -> bool:
    """Whether a statement at module level binds only what cannot be changed."""
    match statement:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.Pass():
            return True
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return (
                not statement.decorator_list
                and _has_fixed_defaults(statement.args, constants)
                and _has_quiet_annotations(statement)
            )
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value)
            | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
        ) if _is_fixed(value, constants):
            constants.add(name)
            return True
        case _:
            return False


def _has_fixed_defaults(arguments: ast.arguments, constants: set[str]) -> bool:
    defaults = [*arguments.defaults, *arguments.kw_defaults]
    return all(one is None or _is_fixed(one, constants) for one in defaults)


def _has_quiet_annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether defining a function again would do nothing that can be seen, such as printing."""
    given = function.args
    parameters = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    annotations = [one.annotation for one in parameters if one is not None] + [function.returns]
    return not any(
        isinstance(node, ast.Call)
        for annotation in annotations
        if annotation is not None
        for node in ast.walk(annotation)
    )


def _is_fixed(value: ast.expr, constants: set[str]) -> bool:
    """Whether an expression gives the same unchangeable object each time."""
    match value:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in constants
        case ast.Tuple(elts=parts):
            return all(_is_fixed(part, constants) for part in parts)
        case ast.UnaryOp(operand=operand):
            return _is_fixed(operand, constants)
        case ast.BinOp(left=left, right=right):
            return _is_fixed(left, constants) and _is_fixed(right, constants)
        case ast.Attribute(value=ast.Name(id="re"), attr=flag):
            return flag.isupper()
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile"), keywords=[]):
            return all(_is_fixed(one, constants) for one in value.args)
        case ast.Call(
            func=ast.Name(id="frozenset"),
            args=[ast.Set(elts=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts)],
            keywords=[],
        ):
            return all(_is_fixed(part, constants) for part in parts)
        case ast.Lambda():
            return _has_fixed_defaults(value.args, constants)
        case _:
            return False


def _may_write_round(node: ast.AST) -> bool:
    """Whether a node, anywhere, may change the module's names or a function's attributes."""
    match node:
        case ast.Global():
            return True
        case ast.Name(id=name):
            return name in _REACHES_ROUND
        case ast.Attribute(attr=name):
            return isinstance(node.ctx, (ast.Store, ast.Del)) or (
                name.startswith("__") and name not in _HARMLESS_ATTRIBUTES
            )
        case ast.Import(names=names):
            return not all(name.name.split(".")[0] in _HARMLESS_MODULES for name in names)
        case ast.ImportFrom(module=module):
            return (module or "").split(".")[0] not in _HARMLESS_MODULES
        case ast.ClassDef():
            return True
        case _:
            return False
