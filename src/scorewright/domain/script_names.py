"""Read what a script binds at its top level, and what it exports, in either of the two module systems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from scorewright.domain.script_tree import FUNCTIONS, ScriptTree, has_token, parts, unwrap, walk

CLASSES = frozenset("class class_declaration abstract_class_declaration".split())
#: What `module.exports` itself is exported as.
WHOLE = "*"

_DECLARED = frozenset("function_declaration generator_function_declaration".split()) | CLASSES
_VARIABLES = frozenset("lexical_declaration variable_declaration".split())
#: What has a scope of its own, or is gone when the script runs.
_CLOSED = FUNCTIONS | CLASSES | {"ambient_declaration", "internal_module", "module"}
_NAMES = frozenset("identifier shorthand_property_identifier".split())
_BOUND = frozenset("identifier shorthand_property_identifier_pattern".split())
_MAX_ALIASES = 20


class Binding(NamedTuple):
    """A value that a name, or an export, is given."""

    name: str
    value: tree_sitter.Node
    place: tree_sitter.Node
    """The node that gives it."""


class Names:
    """What a script binds at its top level, and what it exports, each in order."""

    def __init__(self, tree: ScriptTree) -> None:
        self.bindings: list[Binding] = []
        #: Under the exported names.
        self.exports: list[Binding] = []
        for node in walk(tree.root, prune=_CLOSED):
            self._read(node)
        self._latest = {binding.name: binding.value for binding in self.bindings}

    def resolve(self, node: tree_sitter.Node) -> tree_sitter.Node:
        """Follow names and assignments to a value; where they lead nowhere, return the last one."""
        for _ in range(_MAX_ALIASES):
            node = unwrap(node)
            if node.type == "assignment_expression":
                node = _field(node, "right") or node
            elif node.type in _NAMES and text_of(node) in self._latest:
                node = self._latest[text_of(node)]
            else:
                break
        return node

    def exported(self, name: str) -> Binding | None:
        """Return what is exported under a name at last, also as a property of `module.exports`."""
        for export in reversed(self.exports):
            if export.name == name:
                return export
            if export.name == WHOLE:
                value = self.resolve(export.value)
                if value.type == "object":  # what was exported before is gone with the old object
                    return _property(value, name)
        return None

    def _read(self, node: tree_sitter.Node) -> None:
        match node.type:
            case "variable_declarator":
                self.bindings.extend(_declarator(node))
            case "assignment_expression":
                self._read_assignment(node)
            case "import_statement":
                self.bindings.extend(Binding(name, node, node) for name in _bound_names(node))
            case "export_statement":
                self.exports.extend(exports_of(node))
            case kind if kind in _DECLARED:
                self.bindings.extend(_declared(node))
            case _:
                pass

    def _read_assignment(self, node: tree_sitter.Node) -> None:
        left, right = parts(node)
        if left.type == "identifier":
            self.bindings.append(Binding(text_of(left), right, node))
        elif (name := _export_target(left)) is not None:
            self.exports.append(Binding(name, right, node))


def text_of(node: tree_sitter.Node | None) -> str:
    """Return a node's source text, without the quotes where it is a text."""
    if node is None or node.text is None:
        return ""
    text = node.text.decode()
    return text[1:-1] if node.type == "string" else text


def default_export(statement: tree_sitter.Node) -> tree_sitter.Node | None:
    """Return the value of an `export default` statement; None for any other one.

    A function or class right behind `default` is a declaration, whatever follows it; the grammar takes
    `(…)` on the next line for a call of it.
    """
    if not has_token(statement, "default"):
        return None
    declaration = _field(statement, "declaration")
    value = _field(statement, "value")
    if value is None:
        return declaration
    node = value
    while node.type not in FUNCTIONS | CLASSES:
        if not node.child_count or node.child(0).start_byte != value.start_byte:
            return value
        node = node.child(0)
    return value if node.type == "arrow_function" else node


def _field(node: tree_sitter.Node, name: str) -> tree_sitter.Node | None:
    return node.child_by_field_name(name)


def _declared(node: tree_sitter.Node) -> Iterator[Binding]:
    name = _field(node, "name")
    if name is not None:
        yield Binding(text_of(name), node, node)


def _declarator(node: tree_sitter.Node) -> Iterator[Binding]:
    name, value = _field(node, "name"), _field(node, "value")
    if name is None or value is None:
        return
    if name.type == "identifier":
        yield Binding(text_of(name), value, node)
    else:
        yield from (Binding(bound, name, node) for bound in _bound_names(name))


def _bound_names(pattern: tree_sitter.Node) -> list[str]:
    return [text_of(node) for node in walk(pattern) if node.type in _BOUND]


def _export_target(left: tree_sitter.Node) -> str | None:
    """Return the name that an assignment to `left` exports, or None."""
    steps: list[str] = []
    while left.type in ("member_expression", "subscript_expression") and len(steps) < 3:
        steps.append(text_of(parts(left)[-1]))
        left = parts(left)[0]
    match [*steps, text_of(left)] if left.type == "identifier" else []:
        case ["exports", "module"]:
            return WHOLE
        case [name, "exports", "module"] | [name, "exports"]:
            return name
        case _:
            return None


def exports_of(statement: tree_sitter.Node) -> Iterator[Binding]:
    """Yield what an export statement exports, under the exported names."""
    if has_token(statement, "type"):
        return
    value = default_export(statement)
    declaration = _field(statement, "declaration")
    if value is not None:
        if declaration is None or declaration.type in _DECLARED:
            yield Binding("default", value, statement)
    elif has_token(statement, "="):
        yield Binding(WHOLE, parts(statement)[-1], statement)
    elif declaration is None:
        for clause in parts(statement):
            yield from _specifiers(clause, statement)
    elif declaration.type in _VARIABLES:
        for declarator in parts(declaration):
            yield from _declarator(declarator)
    elif declaration.type in _DECLARED:
        yield from _declared(declaration)


def _specifiers(clause: tree_sitter.Node, statement: tree_sitter.Node) -> Iterator[Binding]:
    if clause.type != "export_clause":
        return
    is_foreign = _field(statement, "source") is not None
    for specifier in parts(clause):
        name = _field(specifier, "name")
        if name is not None and not has_token(specifier, "type"):
            alias = _field(specifier, "alias") or name
            yield Binding(text_of(alias), statement if is_foreign else name, specifier)


def _property(value: tree_sitter.Node, name: str) -> Binding | None:
    """Return the property of that name of an object literal."""
    for member in reversed(parts(value)):
        if member.type == "shorthand_property_identifier":
            key, given = member, member
        elif member.type == "method_definition":
            key, given = _field(member, "name"), member
        else:
            key, given = _field(member, "key"), _field(member, "value")
        if given is not None and text_of(key) == name:
            return Binding(name, given, member)
    return None
