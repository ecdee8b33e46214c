"""Find the function that a script offers as `evaluate`, without running it.

The order of preference is that of `script_module`, which decides when the script runs: what `module.exports` is,
what is exported as `evaluate`, the default export, and at last what is named `evaluate` at the top level.
Of several values that one of them is given, the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from scorewright.domain.script_names import CLASSES, WHOLE, Binding, Names, text_of
from scorewright.domain.script_tree import FUNCTIONS, ScriptTree, has_token, parts, unwrap
from scorewright.domain.signature import Diagnostic
from scorewright.domain.suggestion import name_list, nearest_name, quote

_IMPORTS = frozenset("import_statement export_statement".split())
_ACCESSORS = ("get", "set")
#: Names that a hint is looked for among.
_MAX_COMPARED = 500
_TITLES = {WHOLE: "module.exports", "default": "the default export"}


class Found(NamedTuple):
    """The function that is called as `evaluate`."""

    function: tree_sitter.Node | None
    diagnostics: list[Diagnostic]


def find_evaluate(tree: ScriptTree) -> Found:
    """Find the function that a script offers when it has run."""
    names = Names(tree)
    wholes = [export for export in names.exports if export.name == WHOLE]
    own = [binding for binding in names.bindings if binding.name == "evaluate"]
    exported = [names.exported("evaluate"), names.exported("default")]
    offers = [*wholes[-1:], *(export for export in exported if export is not None), *own[-1:]]
    for binding in offers:
        value = names.resolve(binding.value)
        if value.type in CLASSES:
            message = "evaluate is a class; define a function of that name"
            problem = tree.problem(value, "evaluate_is_class", message)
            return Found(None, [problem])
        if _is_function(value):
            return Found(value, [*_defined_twice(tree, names, value), *_generator(tree, value)])
    for binding in offers:
        value = names.resolve(binding.value)
        # An object that holds no evaluate, or a name that is not there, offers nothing.
        if value.type not in ("object", "identifier", "shorthand_property_identifier"):
            return Found(None, [_not_a_function(tree, binding, value)])
    return Found(None, [_no_evaluate(tree, names)])


def _is_function(value: tree_sitter.Node) -> bool:
    return value.type in FUNCTIONS and not any(has_token(value, word) for word in _ACCESSORS)


def _defined_twice(tree: ScriptTree, names: Names, value: tree_sitter.Node) -> Iterator[Diagnostic]:
    own = [binding for binding in names.bindings if binding.name == "evaluate"]
    if len(own) > 1 and unwrap(own[-1].value).id == value.id:
        before = own[-2].place.start_point.row + 1
        message = f"evaluate is defined again here; the one in line {before} is not used"
        yield tree.problem(own[-1].place, "defined_twice", message, severity="warning")


def _generator(tree: ScriptTree, function: tree_sitter.Node) -> Iterator[Diagnostic]:
    if has_token(function, "*"):
        message = "evaluate is a generator (it has a *); return one value instead"
        yield tree.problem(function, "generator", message)


def _not_a_function(tree: ScriptTree, binding: Binding, value: tree_sitter.Node) -> Diagnostic:
    message = "evaluate is imported; define it in this file"
    if value.type not in _IMPORTS:
        what = _TITLES.get(binding.name, "evaluate")
        message = (
            f"{what} is no function whose parameters can be read; write function evaluate(...)"
        )
    return tree.problem(binding.place, "evaluate_not_function", message)


def _no_evaluate(tree: ScriptTree, names: Names) -> Diagnostic:
    named = [b for b in (*names.bindings, *names.exports) if b.name not in _TITLES]
    named = named[:_MAX_COMPARED]
    functions = [b for b in named if _is_function(names.resolve(b.value))]
    methods = [b for b in named if b.value.type in CLASSES and _has_evaluate(b.value)]
    found = list(dict.fromkeys(b.name for b in functions))
    near = nearest_name("evaluate", found)
    hint = ""
    if near is not None:
        hint = f" (did you mean {quote(near)}?)"
    elif methods:
        hint = f" (found: a method of class {quote(methods[0].name)}; move it out of the class)"
    elif found:
        hint = f" (found: {name_list(found)})".replace('"', "")
    message = f'no function named "evaluate"{hint}; define evaluate(...) at the top level'
    shown = [b for b in functions if b.name == near] if near is not None else methods or functions
    if not shown:
        return Diagnostic(severity="error", code="no_evaluate", message=message)
    return tree.problem(shown[0].place, "no_evaluate", message)


def _has_evaluate(node: tree_sitter.Node) -> bool:
    body = node.child_by_field_name("body")
    members = parts(body) if body is not None else []
    return any(
        member.type == "method_definition"
        and text_of(member.child_by_field_name("name")) == "evaluate"
        for member in members
    )
