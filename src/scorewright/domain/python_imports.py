"""Find what a Python source imports, and say what of it cannot work in the sandbox.

Only statements are looked at: an import by computed name is found when it runs.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Literal, NamedTuple, cast

from scorewright.domain.refused_modules import REFUSAL_REASONS
from scorewright.domain.signature import Diagnostic, Import
from scorewright.domain.source_text import SourceText
from scorewright.domain.suggestion import quote

_OUR_MODULES = ("scorewright", "scorewright.authoring", "amp_evaluation")
_GUARDS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_NETWORK_MODULES = frozenset(
    "socket socketserver ssl urllib.request http.client http.server ftplib smtplib poplib imaplib "
    "nntplib telnetlib xmlrpc.client xmlrpc.server webbrowser".split()
)
_PROCESS_MODULES = frozenset(
    "subprocess multiprocessing pty threading _thread concurrent.futures".split()
)
#: Where statements hold statements, beside `body`.
_BLOCKS = ("handlers", "cases", "orelse", "finalbody")


class _Found(NamedTuple):
    module: str
    """Dotted; empty for a relative import."""
    names: tuple[str, ...]
    """What a `from` import takes out of the module; each may be a submodule."""
    node: ast.stmt
    guarded: bool
    """Whether an ImportError is caught around it."""


def scan_imports(tree: ast.Module, text: SourceText) -> tuple[tuple[Import, ...], list[Diagnostic]]:
    """Return the top-level modules that are imported anywhere, and what will not work of them."""
    first_lines: dict[str, int] = {}
    diagnostics: list[Diagnostic] = []
    for found in _imports(tree):
        top = found.module.partition(".")[0]
        first_lines[top] = min(found.node.lineno, first_lines.get(top, found.node.lineno))
        problem = _problem(found, text)
        if problem is not None:
            diagnostics.append(problem)
    first_lines.pop("", None)
    return tuple(Import(module, line) for module, line in first_lines.items()), diagnostics


def _imports(tree: ast.Module) -> Iterator[_Found]:
    stack: list[tuple[ast.AST, bool]] = [(tree, False)]
    while stack:
        node, guarded = stack.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield _Found(alias.name, (), node, guarded)
        elif isinstance(node, ast.ImportFrom):
            module = "" if node.level else node.module or ""
            yield _Found(module, tuple(alias.name for alias in node.names), node, guarded)
        for name in reversed(_BLOCKS):
            stack.extend((child, guarded) for child in reversed(_block(node, name)))
        if not _is_for_type_checkers(node):
            inside = guarded or _catches_import_errors(node)
            stack.extend((child, inside) for child in reversed(_block(node, "body")))


def _block(node: ast.AST, name: str) -> list[ast.AST]:
    return cast("list[ast.AST]", getattr(node, name, []))


def _is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"


def _catches_import_errors(node: ast.AST) -> bool:
    if isinstance(node, ast.Try | ast.TryStar):
        caught = [handler.type for handler in node.handlers]
    elif isinstance(node, ast.With):
        calls = [item.context_expr for item in node.items]
        caught = [
            argument
            for call in calls
            if isinstance(call, ast.Call) and _last_name(call.func) == "suppress"
            for argument in call.args
        ]
    else:
        return False
    return any(_is_guard(error) for error in caught)


def _is_guard(error: ast.expr | None) -> bool:
    if isinstance(error, ast.Tuple):
        return any(_last_name(each) in _GUARDS for each in error.elts)
    return error is None or _last_name(error) in _GUARDS


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _problem(found: _Found, text: SourceText) -> Diagnostic | None:
    finding = _unusable(found.module)
    severity: Literal["error", "warning"] = "warning" if found.guarded else "error"
    if finding is None:
        finding = _limited_use(found)
        severity = "warning"
    if finding is None:
        return None
    code, message = finding
    column = text.column(found.node)
    return Diagnostic(
        severity=severity, code=code, message=message, line=found.node.lineno, column=column
    )


def _unusable(module: str) -> tuple[str, str] | None:
    """Return code and message for a module that cannot be imported."""
    top = module.partition(".")[0]
    if not module:
        return "missing_module", "a relative import finds nothing, as an evaluator is one file"
    if top in REFUSAL_REASONS:
        reason = REFUSAL_REASONS[top]
        return "refused_module", f"module {quote(top)} is refused: {reason}; remove the import"
    if module in _OUR_MODULES or module.startswith("scorewright.authoring."):
        return None
    if top in sys.stdlib_module_names:
        return None
    message = (
        f"module {quote(module)} is not available: "
        "the sandbox has the standard library only; remove the import, or run code you trust with "
        "--runner local"
    )
    return "missing_module", message


def _limited_use(found: _Found) -> tuple[str, str] | None:
    """Return code and message for a module whose import works but whose use will not."""
    named = {found.module, *(f"{found.module}.{name}" for name in found.names)}
    named |= {module.rpartition(".")[0] for module in named}
    for code, modules, what in (
        ("no_network", _NETWORK_MODULES, "the network"),
        ("no_processes", _PROCESS_MODULES, "processes and threads"),
    ):
        hits = sorted(named & modules)
        if hits:
            message = (
                f"module {quote(hits[0])} can be imported, but the sandbox refuses {what}, so its calls "
                "will fail; do without them, or run code you trust with --runner local"
            )
            return code, message
    return None
