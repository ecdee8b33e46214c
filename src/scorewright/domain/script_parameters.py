"""Read the parameters of a script's function, with their defaults, types and places.

Source: seed agentloop, "Variable mapping rules": in JavaScript every parameter without a default is required.
"""

from __future__ import annotations

import msgspec
import tree_sitter

from scorewright.domain.script_literal import read_literal
from scorewright.domain.script_tree import ScriptTree, parts
from scorewright.domain.signature import Diagnostic, Parameter
from scorewright.domain.source_limits import MAX_PARAMETERS
from scorewright.domain.suggestion import quote

_MAX_NAME_CHARS = 60
_PATTERNS = ("object_pattern", "array_pattern")


def read_parameters(
    tree: ScriptTree, function: tree_sitter.Node
) -> tuple[tuple[Parameter, ...], list[Diagnostic]]:
    """Return the parameters in order, and why some of them cannot be filled."""
    single = function.child_by_field_name("parameter")
    listed = function.child_by_field_name("parameters")
    nodes = [single] if single is not None else parts(listed) if listed is not None else []
    parameters: list[Parameter] = []
    problems: list[Diagnostic] = []
    for node in nodes[: MAX_PARAMETERS + 1]:
        pattern = _pattern(node)
        if pattern.type == "this":  # TypeScript: the type of `this`, no parameter
            continue
        if pattern.type == "rest_pattern":
            problems.append(_rest(tree, pattern))
            continue
        parameter = _parameter(tree, node, pattern)
        problems += _complaints(tree, pattern, parameter, parameters)
        parameters.append(parameter)
    if len(parameters) > MAX_PARAMETERS:
        message = f"evaluate has {len(nodes)} parameters; at most {MAX_PARAMETERS} are taken"
        return (), [*problems, tree.problem(nodes[MAX_PARAMETERS], "too_complex", message)]
    return tuple(parameters), problems


def _pattern(node: tree_sitter.Node) -> tree_sitter.Node:
    """Return what a parameter binds: a name, or a pattern of names."""
    return node.child_by_field_name("pattern") or node.child_by_field_name("left") or node


def _parameter(tree: ScriptTree, node: tree_sitter.Node, pattern: tree_sitter.Node) -> Parameter:
    default = node.child_by_field_name("value") or node.child_by_field_name("right")
    annotation = node.child_by_field_name("type")
    line, column = tree.place(pattern)
    return Parameter(
        name=_name(tree, pattern),
        kind="destructured" if pattern.type in _PATTERNS else "positional_or_keyword",
        required=default is None and node.type != "optional_parameter",
        default=msgspec.UNSET if default is None else read_literal(default),
        default_text=None if default is None else tree.text(default),
        annotation=None if annotation is None else tree.text(annotation).removeprefix(":").strip(),
        line=line,
        column=column,
    )


def _name(tree: ScriptTree, pattern: tree_sitter.Node) -> str:
    text = " ".join(tree.text(pattern).split())
    return text if len(text) <= _MAX_NAME_CHARS else text[: _MAX_NAME_CHARS - 1] + "…"


def _rest(tree: ScriptTree, pattern: tree_sitter.Node) -> Diagnostic:
    message = (
        f"{quote(tree.text(pattern))} stays empty: no field can be mapped to a rest parameter; "
        "name each parameter instead"
    )
    return tree.problem(pattern, "keeps_default", message, severity="warning")


def _complaints(
    tree: ScriptTree, pattern: tree_sitter.Node, parameter: Parameter, before: list[Parameter]
) -> list[Diagnostic]:
    if parameter.kind == "destructured":
        if not parameter.required:
            return []
        message = (
            f"parameter {quote(parameter.name)} has no name that a field could be mapped to; name it, "
            "and take it apart in the first line of evaluate"
        )
        return [tree.problem(pattern, "destructured_parameter", message)]
    if any(parameter.name == other.name for other in before):
        message = f"syntax error: there are two parameters {quote(parameter.name)}"
        return [tree.problem(pattern, "syntax_error", message)]
    return []
