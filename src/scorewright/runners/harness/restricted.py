"""A language policy for authors who come from RestrictedPython, inside the jail's walls and no wall itself.

RestrictedPython walks over the parsed source and refuses what it holds for dangerous. It would also rewrite
iteration, unpacking, indexing, calls and prints into hooks for the host to fill. The jail contains all of those,
so they stay as written here: ordinary code works, at its own speed, and its lines are the author's.
What remains refused, and why, is listed in docs/reference/restricted.md.

Imported by a zygote that was started for this policy, and by nobody else.
"""

from __future__ import annotations

import ast
import builtins
import re
import string
from collections.abc import Mapping, Sequence
from functools import partial
from operator import itemgetter
from types import CodeType
from typing import Any

from RestrictedPython.transformer import INSPECT_ATTRIBUTES, RestrictingNodeTransformer

#: What may be imported. Source: agenta's setting, with the three that it once had (facts §2.3).
LIBRARY = (
    *("collections", "functools", "itertools", "json", "math", "random", "re", "string"),
    *("datetime", "statistics", "typing"),
)
#: Importable as well, but nothing that an author looks for in a list.
_BESIDE = (
    "__future__",
    "amp_evaluation",
    "collections.abc",
    "scorewright",
    "scorewright.authoring",
)
#: Builtins beside the exceptions. Source: agenta's setting (facts §2.3); in the last line what classes and
#: ordinary loops need as well.
BUILTINS = frozenset(
    (
        "abs all any bool bytes callable chr complex dict divmod enumerate filter float frozenset hash hex id int "
        "isinstance issubclass len list map max min oct ord pow print range repr reversed round set slice sorted str "
        "sum tuple zip delattr setattr Ellipsis NotImplemented None True False "
        "ascii bin classmethod format getattr hasattr iter next object property staticmethod super"
    ).split()
)
_EXCEPTIONS: dict[str, Any] = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
_REFUSED_BUILTINS = (
    frozenset(name for name in dir(builtins) if not name.startswith("_"))
    - BUILTINS
    - {*_EXCEPTIONS}
)
#: Methods that look attributes up by a text that is no part of the source.
_FORMATTING = frozenset({"format", "format_map", "vformat"})
_IN_BRACKETS, _ATTRIBUTE = re.compile(r"\[[^\]]*\]"), re.compile(r"\.([^.]*)")
_WAY_OUT = "--runner jail runs it without this policy, in the same sandbox"


class PolicyError(SyntaxError):
    """The source holds what the policy refuses: it has a line, and comes before anything runs, as a SyntaxError does."""

    def __str__(self) -> str:
        return self.msg


def compile_source(source: str, filename: str) -> CodeType:
    """Compile a source that the policy has nothing against.

    Raises:
        PolicyError: The author's: something is refused; it carries the line.
        SyntaxError, ValueError, RecursionError, MemoryError: The author's; it does not compile.
    """
    tree = ast.parse(source, filename)
    policy = _Policy(_bound_names(tree))
    policy.visit(tree)
    if policy.refusals:
        line, what = min(policy.refusals, key=itemgetter(0))
        more = len(policy.refusals) - 1
        message = _refused(f"this: {what} (and {more} more)" if more else f"this: {what}")
        raise PolicyError(message, (filename, line, None, None))
    return compile(tree, filename, "exec", dont_inherit=True)


def make_namespace() -> dict[str, Any]:
    """Return what the author's module starts with: the builtins of the policy, and the hooks of its rewriting."""
    allowed = _EXCEPTIONS | {name: getattr(builtins, name) for name in BUILTINS}
    allowed.update(
        __build_class__=builtins.__build_class__,
        __import__=_import,
        delattr=_delattr,
        getattr=_getattr,
        hasattr=_hasattr,
        setattr=_setattr,
    )
    return {"__builtins__": allowed, "_getattr_": _getattr, "_write_": _as_it_is}


def _refused(what: str) -> str:
    return f"the restricted policy refuses {what}; {_WAY_OUT}"


def _bound_names(tree: ast.AST) -> frozenset[str]:
    """Return every name that the source gives a meaning of its own somewhere: `input` is a usual parameter."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=str(name), ctx=ast.Store())
                | ast.arg(arg=str(name))
                | ast.FunctionDef(name=str(name))
                | ast.ClassDef(name=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.alias(asname=str(name))
                | ast.alias(name=str(name))
            ):
                found.add(name)
            case _:
                pass
    return frozenset(found)


class _Policy(RestrictingNodeTransformer):
    """RestrictedPython's refusals with their lines, without the rewriting that would hook nothing."""

    def __init__(self, bound: frozenset[str]) -> None:
        super().__init__()
        self._refused_names = _REFUSED_BUILTINS - bound
        #: Line, and what is refused there.
        self.refusals: list[tuple[int, str]] = []

    def error(self, node: ast.AST, info: str) -> None:
        self.refusals.append((getattr(node, "lineno", 1), info.removesuffix(".")))

    def check_name(self, node: Any, name: str | None, allow_magic_methods: bool = False) -> None:  # noqa: FBT001, FBT002 - as in RestrictedPython
        if name not in ("print", "printed"):  # reserved for its own way of printing
            super().check_name(node, name, allow_magic_methods)

    def visit_Name(self, node: ast.Name) -> ast.AST:  # noqa: N802 - as in ast
        self.check_name(node, node.id)
        if node.id in self._refused_names:
            self.error(node, f"the builtin {node.id}")
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802 - as in ast
        rewritten = super().visit_Attribute(node)
        is_plain = isinstance(node.ctx, ast.Load) and node.attr not in _FORMATTING
        return node if is_plain else rewritten

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802 - as in ast
        return self.node_contents_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:  # noqa: N802 - as in ast
        return self.node_contents_visit(node)

    def guard_iter(self, node: ast.For | ast.comprehension) -> ast.AST:
        return self.node_contents_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:  # noqa: N802 - as in ast
        return self.node_contents_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:  # noqa: N802 - as in ast
        return self.node_contents_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:  # noqa: N802 - as in ast
        return self.node_contents_visit(node)

    def visit_With(self, node: ast.With) -> ast.AST:  # noqa: N802 - as in ast
        return self.node_contents_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:  # noqa: N802 - as in ast
        self.check_name(node, node.name)
        if any(keyword.arg == "metaclass" for keyword in node.keywords):
            self.error(node, "a metaclass")
        return self.node_contents_visit(node)


def _import(
    name: str,
    globals: Mapping[str, object] | None = None,  # noqa: A002 - as in the builtin
    locals: Mapping[str, object] | None = None,  # noqa: A002 - as in the builtin
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    if level or name not in (*LIBRARY, *_BESIDE):
        what = f"the import of {'.' * level}{name} (it allows {', '.join(LIBRARY)})"
        raise ImportError(_refused(what))
    return __import__(name, globals, locals, fromlist or ())


def _check_attribute(name: str) -> None:
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")
    if name.startswith("_") or name in INSPECT_ATTRIBUTES:
        raise AttributeError(_refused(f'the attribute "{name}"'))


def _getattr(value: Any, name: str, *default: Any) -> Any:
    _check_attribute(name)
    found = getattr(value, name, *default)
    if name not in _FORMATTING:
        return found
    if isinstance(value, str):
        return partial(_format, value, found)
    kind = value if isinstance(value, type) else type(value)
    if issubclass(kind, (str, string.Formatter)):
        raise AttributeError(  # noqa: TRY004 - as for any other refused attribute
            _refused(f"{kind.__name__}.{name}; call format on a text")
        )
    return found


def _format(text: str, method: Any, /, *arguments: Any, **named: Any) -> str:
    _check_format(text)
    return method(*arguments, **named)


def _check_format(text: str) -> None:
    for _, field, form, _ in string.Formatter().parse(text):
        for name in _ATTRIBUTE.findall(_IN_BRACKETS.sub("", field or "")):
            _check_attribute(name)
        if form:
            _check_format(form)


def _hasattr(value: Any, name: str) -> bool:
    try:
        _getattr(value, name)
    except AttributeError:
        return False
    return True


def _setattr(value: Any, name: str, new: Any) -> None:
    _check_attribute(name)
    setattr(value, name, new)


def _delattr(value: Any, name: str) -> None:
    _check_attribute(name)
    delattr(value, name)


def _as_it_is(value: Any) -> Any:
    return value
