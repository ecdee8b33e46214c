"""Find what a script cannot do where it runs: modules, and `await` or `return` outside of functions.

An evaluator is one text, run as the body of a function. There are no modules at all, those of Node included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import tree_sitter

from scorewright.domain.script_tree import FUNCTIONS, ScriptTree, has_token, parts, walk
from scorewright.domain.signature import Diagnostic, Import
from scorewright.domain.suggestion import quote

#: A bundle may hold thousands; its author needs the first ones.
_MAX_PROBLEMS = 20
#: Where `import('x')` only names a type.
_TYPES = frozenset(
    "type_annotation type_arguments type_parameters type_alias_declaration interface_declaration "
    "ambient_declaration".split()
)


class _Function(NamedTuple):
    end_byte: int
    is_async: bool


class Findings(NamedTuple):
    """What a script asks for."""

    imports: tuple[Import, ...]
    """Modules, in order of their first appearance, each once."""
    diagnostics: list[Diagnostic]


def scan_rules(tree: ScriptTree) -> Findings:
    """Return the modules a script asks for, and everything that cannot work where it runs."""
    scan = _Scan(tree)
    for node in walk(tree.root):
        scan.visit(node)
    return scan.findings()


class _Request(NamedTuple):
    """One wish for a module."""

    node: tree_sitter.Node
    module: str | None
    """None where its name is computed."""
    is_guarded: bool
    """Whether what `require` throws is caught around it."""
    by_require: bool


class _Scan:
    """The state of one walk, from the start of a source to its end."""

    def __init__(self, tree: ScriptTree) -> None:
        self._tree = tree
        self._requests: list[_Request] = []
        self._problems: list[Diagnostic] = []
        self._own_require = False
        #: Those the walk is inside of.
        self._functions: list[_Function] = []
        #: Where the outermost type ends, and the outermost `try` that has a `catch`.
        self._types_end = self._guard_end = 0
        #: Nodes that are types by their place alone.
        self._types: set[int] = set()
        self._visits: dict[str, Callable[[tree_sitter.Node], None]] = {
            "import_statement": self._statement,
            "export_statement": self._statement,
            "call_expression": self._call,
            "meta_property": self._meta,
            "await_expression": self._await,
            "for_in_statement": self._for_await,
            "return_statement": self._return,
            "try_statement": self._try,
            "as_expression": self._cast,
            "satisfies_expression": self._cast,
            "variable_declarator": self._declaration,
            "function_declaration": self._declaration,
            "formal_parameters": self._declaration,
            "decorator": self._decorator,
            "public_field_definition": self._accessor,
            "field_definition": self._accessor,
        }

    def findings(self) -> Findings:
        """Return what was found by now."""
        first_lines: dict[str, int] = {}
        problems = self._problems[:_MAX_PROBLEMS]
        for request in self._requests:
            if request.by_require and self._own_require:
                continue
            if request.module is not None:
                first_lines.setdefault(request.module, request.node.start_point.row + 1)
            if len(problems) < _MAX_PROBLEMS:
                problems.append(self._missing_module(request))
        return Findings(tuple(Import(m, line) for m, line in first_lines.items()), problems)

    def visit(self, node: tree_sitter.Node) -> None:
        """Take note of one node; nodes come in the order of their places."""
        while self._functions and node.start_byte >= self._functions[-1].end_byte:
            self._functions.pop()
        kind = node.type
        if kind in _TYPES or node.id in self._types:
            self._types_end = max(self._types_end, node.end_byte)
        elif kind in self._visits:
            self._visits[kind](node)
        if kind in FUNCTIONS:
            self._functions.append(_Function(node.end_byte, has_token(node, "async")))

    def _statement(self, node: tree_sitter.Node) -> None:
        """Look at `import …`, or at `export … from …`."""
        if has_token(node, "="):
            message = "syntax error: export = is not supported; write export default"
            self._problem(node, "syntax_error", message)
        source = node.child_by_field_name("source")
        for part in parts(node):
            source = source or part.child_by_field_name("source")
        if source is not None and not _is_for_types(node):
            self._request(node, source, by_require=False)

    def _call(self, node: tree_sitter.Node) -> None:
        called, arguments = parts(node)[0], parts(node)[-1]
        by_require = called.type == "identifier" and called.text == b"require"
        if by_require or (called.type == "import" and node.start_byte >= self._types_end):
            named = parts(arguments)
            self._request(node, named[0] if named else None, by_require=by_require)

    def _request(
        self, node: tree_sitter.Node, name: tree_sitter.Node | None, *, by_require: bool
    ) -> None:
        is_text = name is not None and name.type == "string"
        module = self._tree.text(name)[1:-1] if name is not None and is_text else None
        guarded = by_require and node.start_byte < self._guard_end
        self._requests.append(_Request(node, module, guarded, by_require))

    def _missing_module(self, request: _Request) -> Diagnostic:
        what = f"module {quote(request.module)}" if request.module is not None else "a module"
        message = (
            f"{what} is not available: there are no modules, not even those of Node; "
            "use the standard language only, or put the code into this file"
        )
        severity = "warning" if request.is_guarded else "error"
        return self._tree.problem(request.node, "missing_module", message, severity=severity)

    def _meta(self, node: tree_sitter.Node) -> None:
        if node.text is not None and node.text.startswith(b"import"):
            message = "import.meta is not available: there are no modules; remove it"
            self._problem(node, "missing_module", message)

    def _await(self, node: tree_sitter.Node) -> None:
        if not self._functions:
            message = "await works inside async functions only; move it into evaluate"
            self._problem(node, "top_level_await", message)
        elif not self._functions[-1].is_async:
            message = (
                "syntax error: await works inside async functions only; write async before this one"
            )
            self._problem(node, "syntax_error", message)

    def _for_await(self, node: tree_sitter.Node) -> None:
        if has_token(node, "await"):
            self._await(node)

    def _return(self, node: tree_sitter.Node) -> None:
        if not self._functions:
            message = "syntax error: return stands outside of a function"
            self._problem(node, "syntax_error", message)

    def _decorator(self, node: tree_sitter.Node) -> None:
        message = (
            "syntax error: the engine does not know decorators yet; call the function yourself"
        )
        self._problem(node, "syntax_error", message)

    def _accessor(self, node: tree_sitter.Node) -> None:
        if has_token(node, "accessor"):
            message = (
                "syntax error: the engine does not know accessor fields yet; write get and set"
            )
            self._problem(node, "syntax_error", message)

    def _problem(self, node: tree_sitter.Node, code: str, message: str) -> None:
        if len(self._problems) < _MAX_PROBLEMS:
            self._problems.append(self._tree.problem(node, code, message))

    def _try(self, node: tree_sitter.Node) -> None:
        body = node.child_by_field_name("body")
        if body is not None and node.child_by_field_name("handler") is not None:
            self._guard_end = max(self._guard_end, body.end_byte)

    def _cast(self, node: tree_sitter.Node) -> None:
        self._types.add(parts(node)[-1].id)

    def _declaration(self, node: tree_sitter.Node) -> None:
        if node.start_byte < self._types_end:
            return
        names = [node.child_by_field_name("name")]
        if node.type == "formal_parameters":
            names = [part.child_by_field_name("pattern") or part for part in parts(node)]
        self._own_require |= any(name is not None and name.text == b"require" for name in names)


def _is_for_types(statement: tree_sitter.Node) -> bool:
    """Whether nothing is left of an import or re-export when types are removed."""
    if has_token(statement, "type"):
        return True
    (clause, *rest) = [part for part in parts(statement) if part.type != "string"] or [statement]
    names = parts(clause)
    if rest or clause is statement:
        return False
    if len(names) == 1 and names[0].type == "named_imports":
        names = parts(names[0])
    specifiers = [n for n in names if n.type in ("import_specifier", "export_specifier")]
    return bool(names) and specifiers == names and all(has_token(n, "type") for n in names)
