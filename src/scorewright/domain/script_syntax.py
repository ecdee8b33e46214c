"""Say in plain words what of a script is no JavaScript or TypeScript."""

from __future__ import annotations

import re

import tree_sitter

from scorewright.domain.script_tree import ScriptTree, parse_tree, walk
from scorewright.domain.signature import Diagnostic
from scorewright.domain.source_language import LANGUAGE_TITLES
from scorewright.domain.suggestion import quote

#: What an error spans is only a guess of the parser's, so that more of them would mislead.
_MAX_PROBLEMS = 3
_JSX_TAG = re.compile(r"</[A-Za-z>]|<[A-Za-z][^<>]*/>")
_NO_JSX = "JSX is not supported; build the text with strings"
#: Read by the grammar of JavaScript, but not part of the language.
_FOREIGN = {
    "jsx_element": _NO_JSX,
    "jsx_self_closing_element": _NO_JSX,
    "decorator": "decorators are TypeScript; name the file .ts",
}


def syntax_problems(tree: ScriptTree) -> list[Diagnostic]:
    """Return the first places that are not understood, at most one for each line."""
    problems: dict[int, Diagnostic] = {}
    if tree.language == "javascript" or tree.root.has_error:
        for node in walk(tree.root):
            row = node.start_point.row
            message = _message(tree, node) if row not in problems else ""
            if message:
                problems[row] = tree.problem(node, "syntax_error", f"syntax error: {message}")
            if len(problems) == _MAX_PROBLEMS:
                break
    return _as_typescript(tree, list(problems.values()))


def _message(tree: ScriptTree, node: tree_sitter.Node) -> str:
    if node.is_missing:
        return f"{quote(node.type)} is missing"
    if not node.is_error:
        return _FOREIGN.get(node.type, "") if tree.language == "javascript" else ""
    if _JSX_TAG.search(tree.line(node)):
        return _NO_JSX
    first_line = tree.text(node).strip().partition("\n")[0]
    return f"{quote(first_line)} is not valid {LANGUAGE_TITLES[tree.language]} here"


def _as_typescript(tree: ScriptTree, problems: list[Diagnostic]) -> list[Diagnostic]:
    """Say so where JavaScript would be right as TypeScript."""
    if not problems or tree.language == "typescript" or not tree.root.has_error:
        return problems
    other = parse_tree(tree.raw.decode(), "typescript")
    if other is None or other.root.has_error:
        return problems
    message = "syntax error: this is TypeScript, not JavaScript; name the file .ts"
    first = problems[0]
    return [
        Diagnostic(
            severity="error",
            code=first.code,
            message=message,
            line=first.line,
            column=first.column,
        )
    ]
