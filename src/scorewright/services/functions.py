"""Evaluators from Python functions: a function goes to the sandbox as its source.

What it refers to outside itself cannot go along, but for what the standard library and `scorewright.authoring`
hold, which is imported there again. A function that needs more says so, and runs only where it is: with the `local` runner.
So does a callable without a source of its own: a lambda, a `functools.partial`, a method, an object with `__call__`.
"""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import sys
from collections.abc import Callable
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, TypeGuard, cast

import msgspec

from scorewright import authoring
from scorewright.authoring.value import field_names
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
    in_place: bool = False,
) -> FunctionEvaluator:
    """Make an evaluator of a function, or of another callable that stays where it is.

    Args:
        function: Its name, or its type's, becomes the evaluator's.
        convention: How to call it; detected when None.
        in_place: It will run in this process's own forks, without a sandbox: any import is accepted, and any
            callable whose parameters can be told. The digest of one without a source covers its name and parameters.

    Raises:
        EvaluatorError: The caller's: it has no source of its own (a lambda, a built-in, a method), or, in place,
            parameters that cannot be told.
    """
    state: tuple[str, ...] = ()
    if _is_defined(function):
        name = function.__name__
        source, state = _defined_source(function)
        origin = inspect.getsourcefile(function) or name
    elif in_place:
        function = _called(function)
        name = origin = _name_of(function)
        source = _stub_source(function)
    else:
        raise EvaluatorError(
            f"{_name_of(function)}: only a function written with def, in a file, can go to the sandbox; wrap it in "
            'one, or use runner="local" for code you trust'
        )
    definition = Definition(name=slug(name), convention=convention)
    evaluator = build_evaluator(source, definition, origin=origin, any_import=in_place)
    return FunctionEvaluator(evaluator, function, state)


def _is_defined(function: Callable[..., Any]) -> TypeGuard[FunctionType]:
    """Whether it was written with `def` where its source can be read."""
    if not isinstance(function, FunctionType) or function.__name__ == "<lambda>":
        return False
    try:
        _parse_lines(inspect.getsourcelines(function)[0])
    except (OSError, TypeError, ValueError, SyntaxError):  # the file may have changed since
        return False
    return True


def _defined_source(function: FunctionType) -> tuple[str, tuple[str, ...]]:
    """Return a source that defines the function as `evaluate`, and the names that it cannot bring along."""
    lines, first_line = inspect.getsourcelines(function)
    imports, state = _references(function, _parse_lines(lines))
    # On one line, with blank ones behind, so that a failure names the line the author knows.
    heading = f"from __future__ import annotations{''.join(f'; {one}' for one in imports)}"
    opening = _opening(lines)
    padding = "\n" * max(first_line - 1 - len(opening.splitlines()), 1)
    ending = f"\nevaluate = {function.__name__}\n"
    return f"{heading}{padding}{opening}{''.join(lines)}{ending}", state


def _parse_lines(lines: list[str]) -> ast.stmt:
    """Parse the lines of one function, indented or not."""
    (statement,) = ast.parse(_opening(lines) + "".join(lines)).body
    return statement.body[0] if isinstance(statement, ast.If) else statement


def _opening(lines: list[str]) -> str:
    """Return what makes an indented function a statement: taking the indent away would reach into its texts."""
    return "if True:\n" if lines[0][:1].isspace() else ""


def _references(function: FunctionType, tree: ast.stmt) -> tuple[list[str], tuple[str, ...]]:
    """Return the imports that a function's source needs, and the names that no import can bring."""
    imports: list[str] = []
    state = list(function.__code__.co_freevars)
    for name in sorted(_names_in_body(function) | _names_in_heading(tree)):
        value = function.__globals__.get(name, _ABSENT)
        if name == function.__name__ or value is _ABSENT or _is_provided(name, value):
            continue
        if statement := _import_statement(name, value) or _own_import(function, name, value):
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


def _names_in_heading(statement: ast.stmt) -> set[str]:
    """Names that decorators and defaults look up when the function is defined."""
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
    # Every module has a name and a loader of its own, and that of the sandbox will do.
    is_of_any_module = name.startswith("__") and hasattr(builtins, name)
    is_there = any(value is getattr(one, name, _ABSENT) for one in (builtins, authoring))
    return is_of_any_module or is_there


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


def _own_import(function: FunctionType, name: str, value: object) -> str | None:
    """Return the statement of the function's own file that imports a value which does not know its home, as `pi`.

    Only from the standard library, and only while the name still holds what was imported.
    """
    try:
        tree = ast.parse("".join(inspect.findsource(function)[0]))
    except SyntaxError:  # a notebook's cell may hold more than Python
        return None
    for node in ast.walk(tree):
        if (
            not isinstance(node, ast.ImportFrom)
            or node.level
            or not _is_importable(str(node.module))
        ):
            continue
        for alias in node.names:
            is_same = value is getattr(sys.modules.get(str(node.module)), alias.name, _ABSENT)
            if is_same and name == (alias.asname or alias.name):
                return f"from {node.module} import {alias.name} as {name}"
    return None


def _modules_below(name: str, value: object, tree: ast.stmt) -> list[str]:
    """Return the modules inside a package that are used by their full name, as `urllib.parse` is."""
    if not isinstance(value, ModuleType) or value.__name__ != name:
        return []
    dotted = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return sorted(one for one in dotted if one.startswith(f"{name}.") and one in sys.modules)


def _is_importable(module: str) -> bool:
    is_own = module in ("scorewright", "scorewright.authoring")
    return is_own or module.partition(".")[0] in sys.stdlib_module_names


def _called(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method behind an object with `__call__`, which tells whether it is async."""
    if inspect.isroutine(function) or isinstance(function, (type, partial)):
        return cast("Callable[..., Any]", function)
    return function.__call__


def _origin_of(function: Callable[..., Any]) -> object:
    """Return what a callable is named after: a partial's function, the class of an object with `__call__`."""
    if isinstance(function, partial):
        return _origin_of(cast("partial[Any]", function).func)
    if hasattr(function, "__name__") and function.__name__ != "__call__":
        return function
    return cast("object", type(getattr(function, "__self__", function)))


def _name_of(function: Callable[..., Any]) -> str:
    return str(getattr(_origin_of(function), "__name__", "callable"))


def _stub_source(function: Callable[..., Any]) -> str:
    """Return a source with the callable's parameters and nothing else, to be read but never run.

    Raises:
        EvaluatorError: The caller's: Python cannot tell its parameters.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        raise EvaluatorError(
            f"{_name_of(function)}: its parameters cannot be told; wrap it in a function written with def"
        ) from None
    parameters = [_as_written(one) for one in signature.parameters.values()]
    shown = signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    keyword = "async def" if inspect.iscoroutinefunction(function) else "def"
    origin = _origin_of(function)
    home = f"{getattr(origin, '__module__', None)}.{getattr(origin, '__qualname__', None)}"
    return f"# stands for {home!r}\n{keyword} evaluate{shown}: ...\n"


class _Written(str):
    """Code whose repr, which a signature shows, is the code."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _as_written(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter with its default and annotation as code; `...` is a default that no code stands for."""
    default, annotation = parameter.default, parameter.annotation
    if default is not inspect.Parameter.empty:
        default = _Written(_default_code(default))
    if isinstance(annotation, str):
        annotation = _Written(annotation)
    elif annotation is not inspect.Parameter.empty:
        is_class = isinstance(annotation, type)
        annotation = _Written(annotation.__name__) if is_class else inspect.Parameter.empty
    return parameter.replace(default=default, annotation=annotation)


def _default_code(default: object) -> str:
    if isinstance(default, authoring.Param):
        given = {name: getattr(default, name) for name in field_names(authoring.Param)}
        said = [
            f"{name}={value!r}"
            for name, value in given.items()
            if value is not None and value is not authoring.UNSET
        ]
        return f"Param({', '.join(said)})"
    code = repr(default)
    try:
        return code if ast.literal_eval(code) == default else "..."
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return "..."
