"""Evaluators from Python functions: a function goes to the sandbox as its source.

What it refers to outside itself cannot go along, but for what the standard library and `scorewright.authoring`
hold, which is imported there again. A function that needs more says so, and runs only where it is: with the `local` runner.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import msgspec

from scorewright import authoring
from scorewright.domain.convention import Convention
from scorewright.domain.definition import Definition
from scorewright.domain.errors import EvaluatorError
from scorewright.domain.evaluator import Evaluator, build_evaluator
from scorewright.domain.evaluator_name import slug


class FunctionEvaluator(msgspec.Struct, frozen=True):
    """A function as an evaluator, and what it holds on to."""

    evaluator: Evaluator
    function: Callable[..., Any]
    #: Names it refers to that its source alone does not bring along.
    state: tuple[str, ...]

    def require_no_state(self) -> None:
        """Refuse a function that cannot leave this process.

        Raises:
            EvaluatorError: The caller's, naming what it refers to.
        """
        if self.state:
            names = ", ".join(self.state)
            raise EvaluatorError(
                f"{self.function.__name__}: the function refers to {names} outside itself, which cannot go "
                'to the sandbox; move it inside the function, or use runner="local" for code you trust'
            )


def evaluator_from_function(
    function: Callable[..., Any],
    *,
    convention: Convention | None = None,
    any_import: bool = False,
) -> FunctionEvaluator:
    """Make an evaluator of a function defined with `def`.

    Args:
        function: Its name becomes the evaluator's.
        convention: How to call it; detected when None.
        any_import: Accept imports from outside the standard library: the function will run where it is.

    Raises:
        EvaluatorError: The caller's: it has no source of its own (a lambda, a built-in, a method).
    """
    name = getattr(function, "__name__", type(function).__name__)
    if not isinstance(function, FunctionType) or name == "<lambda>":
        raise EvaluatorError(
            f"{name}: only functions written with def can be evaluators; wrap it in one"
        )
    try:
        lines, first_line = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise EvaluatorError(f"{name}: its source cannot be found; put it into a file") from None
    body = textwrap.dedent("".join(lines))
    imports, state = _references(function, ast.parse(body))
    # On one line, with blank ones behind, so that a failure names the line the author knows.
    heading = f"from __future__ import annotations{''.join(f'; {one}' for one in imports)}"
    padding = "\n" * max(first_line - 1, 1)
    definition = Definition(name=slug(name), convention=convention)
    evaluator = build_evaluator(
        f"{heading}{padding}{body}\nevaluate = {name}\n",
        definition,
        origin=inspect.getsourcefile(function) or name,
        any_import=any_import,
    )
    return FunctionEvaluator(evaluator, function, state)


def _references(function: FunctionType, tree: ast.Module) -> tuple[list[str], tuple[str, ...]]:
    """Return the imports that a function's source needs, and the names that no import can bring."""
    imports: list[str] = []
    state = list(function.__code__.co_freevars)
    for name in sorted(_names_in_body(function) | _names_in_heading(tree)):
        value = function.__globals__.get(name, _ABSENT)
        if name == function.__name__ or value is _ABSENT or _is_provided(name, value):
            continue
        if statement := _import_statement(name, value):
            imports.append(statement)
            imports += [f"import {module}" for module in _modules_below(name, value, tree)]
        else:
            state.append(name)
    return imports, tuple(state)


_ABSENT = object()


def _names_in_body(function: FunctionType) -> set[str]:
    """Names that the function, and the functions inside it, look up outside themselves."""
    names: set[str] = set()
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        loads = [one for one in dis.get_instructions(code) if one.opname in _GLOBAL_LOADS]
        names.update(str(one.argval) for one in loads)
        codes.extend(constant for constant in code.co_consts if inspect.iscode(constant))
    return names


_GLOBAL_LOADS = ("LOAD_GLOBAL", "LOAD_NAME")


def _names_in_heading(tree: ast.Module) -> set[str]:
    """Names that decorators and defaults look up when the function is defined."""
    statement = tree.body[0]
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return set()
    given = statement.args
    defaults = [one for one in (*given.defaults, *given.kw_defaults) if one is not None]
    return {
        node.id
        for part in (*statement.decorator_list, *defaults)
        for node in ast.walk(part)
        if isinstance(node, ast.Name)
    }


def _is_provided(name: str, value: object) -> bool:
    return hasattr(builtins, name) or value is getattr(authoring, name, _ABSENT)


def _import_statement(name: str, value: object) -> str | None:
    """Return what imports `value` under `name` in the sandbox; None where none of its modules has it."""
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}" if _is_importable(value.__name__) else None
    original = str(getattr(value, "__name__", ""))
    if value is getattr(authoring, original, _ABSENT):
        return f"from scorewright.authoring import {original} as {name}"
    home = str(getattr(value, "__module__", ""))
    is_there = value is getattr(sys.modules.get(home), original, _ABSENT)
    is_found = is_there and _is_importable(home)
    return f"from {home} import {original} as {name}" if is_found else None


def _modules_below(name: str, value: object, tree: ast.Module) -> list[str]:
    """Return the modules inside a package that are used by their full name, as `urllib.parse` is."""
    if not isinstance(value, ModuleType) or value.__name__ != name:
        return []
    dotted = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return sorted(one for one in dotted if one.startswith(f"{name}.") and one in sys.modules)


def _is_importable(module: str) -> bool:
    is_own = module in ("scorewright", "scorewright.authoring")
    return is_own or module.partition(".")[0] in sys.stdlib_module_names
