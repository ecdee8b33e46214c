"""Rewrite a script, of either module system, so that it runs as the body of a function.

The runtime compiles the text by itself as the body of `function (module, exports)`, calls that with
`module.exports === exports === {}`, and takes `module.exports`: it is the author's function, or the script has none.
The text must be compiled on its own, as by `new Function("module", "exports", body)`: pasted into a larger
text, one that closes a bracket too many would get out of its function.

Which function that is, decides the appended end of the text, in this order:

1. `module.exports`, if it is a function;
2. `module.exports.evaluate`: also what is exported as `evaluate`;
3. `module.exports.default`: also the default export;
4. what is named `evaluate` at the top level.

`script_entry` reads signatures in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from scorewright.domain.errors import EvaluatorError
from scorewright.domain.script_names import CLASSES, default_export, exports_of, text_of
from scorewright.domain.script_tree import FUNCTIONS, has_token, parse_tree, parts

_PICK = (
    '((m, e) => typeof m === "function" ? m : typeof m?.evaluate === "function" ? m.evaluate '
    ': typeof m?.default === "function" ? m.default : typeof e === "function" ? e : m)'
    '(module.exports, typeof evaluate === "undefined" ? undefined : evaluate)'
)
_OFFERED = ("evaluate", "default")
_DECLARED = re.compile(r"\b(?:let|const|class)\s+evaluate\b")


class _Edit(NamedTuple):
    start_byte: int
    end_byte: int
    text: str


def as_factory_body(source: str) -> str:
    """Return the script as the body of `function (module, exports)`; it leaves its function as `module.exports`.

    Every line stays on its line, and every column before the first export keyword of its line; only the first
    line of a script with imports or exports starts with `"use strict";`, as the language has it for modules.

    Args:
        source: JavaScript; what it cannot be parsed for is left as it is, for the engine to refuse.

    Raises:
        EvaluatorError: The author's: it takes too long to parse.
    """
    tree = parse_tree(source, "javascript")
    if tree is None:
        raise EvaluatorError("the source takes too long to parse; simplify it")
    edits: list[_Edit] = [_Edit(0, 2, "//")] if source.startswith("#!") else []
    ending: list[str] = []
    is_module = False
    statements = parts(tree.root)
    for statement in statements:
        if _is_empty_import(statement):
            edits.append(_Edit(*statement.byte_range, _blank(text_of(statement))))
        is_module = is_module or statement.type in ("import_statement", "export_statement")
        if statement.type == "export_statement" and not _is_foreign(statement):
            edits.extend(_without_export(statement))
            ending.extend(_assignments(statement))
    heading = '"use strict";' if is_module else ""
    if any(map(_assigns_evaluate, statements)) and not _DECLARED.search(source):
        heading += "var evaluate;"  # the global object, where it would be put, is frozen
    body = _apply(tree.raw, edits)
    # On a line of its own, as the text may end in a comment.
    return f"{heading}{body}\n;{''.join(ending)}module.exports = {_PICK};\n"


def _is_empty_import(statement: tree_sitter.Node) -> bool:
    """Whether nothing was imported but types, which are gone: `import {} from "module"`."""
    if statement.type not in ("import_statement", "export_statement"):
        return False
    first, *_ = parts(statement) or [statement]
    named = parts(first) if first.type == "import_clause" else [first]
    return [one.type for one in named] in (["named_imports"], ["export_clause"]) and not parts(
        named[0]
    )


def _assigns_evaluate(statement: tree_sitter.Node) -> bool:
    """Whether a statement gives `evaluate` a value without declaring it."""
    first, *_ = parts(statement) or [statement]
    left = first.child_by_field_name("left") if first.type == "assignment_expression" else None
    return statement.type == "expression_statement" and text_of(left) == "evaluate"


def _is_foreign(statement: tree_sitter.Node) -> bool:
    """Whether a statement exports from another module."""
    return statement.child_by_field_name("source") is not None


def _without_export(statement: tree_sitter.Node) -> Iterator[_Edit]:
    """Yield what makes a statement of this module an ordinary one, starting with a semicolon to be safe."""
    value = default_export(statement)
    if value is None and statement.child_by_field_name("declaration") is None:
        yield _Edit(*statement.byte_range, _blank(text_of(statement)))
        return
    is_named = value is not None and _is_declaration(value) and _name_of(value) != ""
    for word in statement.children:
        if word.type == "export":
            is_expression = value is not None and not is_named
            text = ";module.exports.default =" if is_expression else _blank("export")
            yield _Edit(*word.byte_range, text)
        elif word.type == "default":
            yield _Edit(*word.byte_range, " " * len("default"))
    if value is not None and _is_declaration(value) and not is_named:
        yield _Edit(value.end_byte, value.end_byte, ";")


def _assignments(statement: tree_sitter.Node) -> Iterator[str]:
    """Yield the assignments that a statement leaves to the end, when its names have their last values."""
    for name, value, _ in exports_of(statement):
        local = text_of(value)
        if has_token(statement, "default"):
            local = _name_of(value) if _is_declaration(value) else ""
        elif statement.child_by_field_name("declaration") is not None:
            local = name
        if name in _OFFERED and local:
            yield f"module.exports.{name} = {local};"


def _is_declaration(value: tree_sitter.Node) -> bool:
    """Whether a default export is a declaration, that ends where it ends, and no expression."""
    return value.type != "arrow_function" and value.type in FUNCTIONS | CLASSES


def _name_of(value: tree_sitter.Node) -> str:
    return text_of(value.child_by_field_name("name"))


def _blank(text: str) -> str:
    """Return an empty statement that takes the same place."""
    return ";" + re.sub(r"[^\n]", " ", text)[1:]


def _apply(raw: bytes, edits: list[_Edit]) -> str:
    pieces: list[bytes] = []
    position = 0
    for edit in edits:
        pieces += [raw[position : edit.start_byte], edit.text.encode()]
        position = edit.end_byte
    return b"".join([*pieces, raw[position:]]).decode()
