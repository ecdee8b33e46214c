"""Read a literal of a script as the JSON value it stands for."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import msgspec
import tree_sitter

from scorewright.domain.json_literal import json_literal
from scorewright.domain.json_value import JsonValue
from scorewright.domain.script_tree import parts, unwrap

_MAX_NESTING = 32
_DECIMAL = re.compile(r"(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_PREFIXED = re.compile(r"0(?:x[\da-f]+|o[0-7]+|b[01]+)", re.IGNORECASE)
_SIMPLE_ESCAPES = {
    "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0", "\n": "",
}  # fmt: skip
_WORDS: dict[str, JsonValue] = {"true": True, "false": False, "null": None}


def read_literal(node: tree_sitter.Node) -> JsonValue | msgspec.UnsetType:
    """Return the JSON value a literal stands for, or UNSET when the node is none."""
    try:
        return json_literal(_read(node, _MAX_NESTING))
    except ValueError:
        return msgspec.UNSET


def _read(node: tree_sitter.Node, depth: int) -> JsonValue:
    if not depth:
        raise ValueError
    node = unwrap(node)
    match node.type:
        case "true" | "false" | "null":
            return _WORDS[node.type]
        case "number":
            return _number(_text(node))
        case "unary_expression":
            return _signed(node)
        case "string" | "template_string":
            return _string(node)
        case "array":
            return _array(node, depth)
        case "object":
            return _object(node, depth)
        case _:
            raise ValueError


def _text(node: tree_sitter.Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def _number(text: str) -> int | float:
    """Read a number the way JSON would print it again: a whole one has no fraction."""
    text = text.replace("_", "")
    if _PREFIXED.fullmatch(text):
        return int(text, 0)
    if not _DECIMAL.fullmatch(text):  # a bigint, or the octal form of old
        raise ValueError
    number = float(text)
    is_whole = math.isfinite(number) and number.is_integer() and abs(number) <= 2**53
    return int(number) if is_whole else number


def _signed(node: tree_sitter.Node) -> int | float:
    sign, argument = _text(node.child(0)), node.child_by_field_name("argument")
    if sign not in "+-" or argument is None or argument.type != "number":
        raise ValueError
    value = _number(_text(argument))
    return -value if sign == "-" else value


def _string(node: tree_sitter.Node) -> str:
    pieces: list[str] = []
    for part in node.named_children:
        if part.type not in ("string_fragment", "escape_sequence"):
            raise ValueError  # a template with a value inside
        text = _text(part)
        pieces.append(_unescape(text[1:]) if part.type == "escape_sequence" else text)
    # Two escapes may stand for the two halves of one character; half of one is no text.
    return "".join(pieces).encode("utf-16", "surrogatepass").decode("utf-16")


def _unescape(text: str) -> str:
    if text[0] in "xu":
        return chr(int(text[1:].strip("{}"), 16))
    if text[0].isdigit() and text != "0":
        raise ValueError  # octal
    return _SIMPLE_ESCAPES.get(text, text)


def _array(node: tree_sitter.Node, depth: int) -> JsonValue:
    signs = [child.type for child in node.children if not child.is_extra]
    if any(sign == "," and before in "[," for before, sign in pairwise(signs)):
        raise ValueError  # it has holes
    return [_read(part, depth - 1) for part in parts(node)]


def _object(node: tree_sitter.Node, depth: int) -> JsonValue:
    found: dict[str, JsonValue] = {}
    for member in parts(node):
        key, value = member.child_by_field_name("key"), member.child_by_field_name("value")
        if member.type != "pair" or key is None or value is None:
            raise ValueError
        found[_key(key)] = _read(value, depth - 1)
    return found


def _key(key: tree_sitter.Node) -> str:
    match key.type:
        case "string":
            name = _string(key)
        case "property_identifier" if "\\" not in _text(key):
            name = _text(key)
        case "number":
            name = str(_number(_text(key)))
        case _:
            raise ValueError
    if name == "__proto__":  # no key of the object's own
        raise ValueError
    return name
