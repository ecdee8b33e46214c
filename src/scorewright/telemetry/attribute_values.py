"""Single attributes read as what they should be; what is something else counts as absent."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final

from scorewright.domain.json_value import JsonObject, JsonValue
from scorewright.telemetry.container import container
from scorewright.telemetry.messages import message_of
from scorewright.telemetry.span_facts import Document, Usage

_DIGITS = re.compile(r"[0-9]{1,15}")
#: A count this large is none, written as a number or in digits: sums of them have to fit into 64 bits.
_TOO_MANY: Final = 10**15
#: Levels that dotted names are unfolded to.
_MAX_LEVELS: Final = 24


def text(attributes: JsonObject, *names: str) -> str | None:
    """Return the first of some attributes that is a text with anything in it."""
    for name in names:
        value = attributes.get(name)
        if type(value) is str and value:
            return value
    return None


def value(attributes: JsonObject, *names: str) -> JsonValue:
    """Return the first of some attributes that is there and not null."""
    for name in names:
        found = attributes.get(name)
        if found is not None:
            return found
    return None


def count(attributes: JsonObject, *names: str) -> int | None:
    """Return the first of some attributes that is a count, as a number or in digits."""
    for name in names:
        found = attributes.get(name)
        if found is None:
            continue
        if type(found) is int and 0 <= found < _TOO_MANY:
            return found
        if type(found) is float and 0 <= found < _TOO_MANY and found.is_integer():
            return int(found)
        if type(found) is str and _DIGITS.fullmatch(found):
            return int(found)
    return None


def amount(attributes: JsonObject, *names: str) -> float | None:
    """Return the first of some attributes that is a number of at least 0."""
    for name in names:
        found = attributes.get(name)
        size = None if found is None else _number(found)
        if size is not None and size >= 0:
            return size
    return None


def number(attributes: JsonObject, *names: str) -> float | None:
    """Return the first of some attributes that is a number of either sign."""
    for name in names:
        found = _number(attributes.get(name))
        if found is not None:
            return found
    return None


def _number(found: JsonValue) -> float | None:
    if isinstance(found, bool) or not isinstance(found, (int, float, str)):
        return None
    try:
        converted = float(found)
    except (ValueError, OverflowError):
        return None
    return converted if math.isfinite(converted) else None


def object_of(attributes: JsonObject, name: str) -> JsonObject:
    """Return an attribute that is an object or the JSON text of one; else an empty object."""
    raw = attributes.get(name)
    found = container(raw) if isinstance(raw, str) else raw
    return found if isinstance(found, dict) else {}


def milliseconds(seconds: float | None) -> float | None:
    """Turn seconds into milliseconds, without what binary fractions add behind the nanoseconds."""
    return None if seconds is None else round(seconds * 1000, 6)


def instructions_of(raw: JsonValue) -> str | None:
    """Read an agent's instructions: a text, or parts of one as messages have them."""
    found = container(raw) if isinstance(raw, str) else None
    message = message_of({"role": "system", "content": raw if found is None else found})
    return None if message is None else message.text or None


def usage_of(tokens_in: int | None, tokens_out: int | None, total: int | None) -> Usage | None:
    """Put a span's tokens together; what follows from the two others is filled in."""
    if tokens_in is None and tokens_out is None and total is None:
        return None
    if total is None and tokens_in is not None and tokens_out is not None:
        total = tokens_in + tokens_out
    elif total is not None and tokens_in is not None and tokens_out is None and total >= tokens_in:
        tokens_out = total - tokens_in
    elif total is not None and tokens_out is not None and tokens_in is None and total >= tokens_out:
        tokens_in = total - tokens_out
    return Usage(tokens_in, tokens_out, total)


def documents_of(raw: JsonValue) -> tuple[Document, ...] | None:
    """Read the passages that a retrieval found; None when there is no list of them."""
    if isinstance(raw, str):
        raw = container(raw)
    if isinstance(raw, dict):
        raw = raw.get("documents")
    if not isinstance(raw, list):
        return None
    return tuple(_document(item) for item in raw)


def _document(item: JsonValue) -> Document:
    if isinstance(item, str):
        return Document(content=item)
    if not isinstance(item, dict):
        return Document()
    inner = item.get("document")
    body = inner if isinstance(inner, dict) else item
    found = value(body, "id", "document_id")
    score = _number(value({**item, **body}, "score", "relevance_score"))
    return Document(
        None if found is None else str(found),
        text(body, "content", "page_content", "pageContent", "text"),
        score,
    )


def unfold(attributes: JsonObject, prefix: str) -> JsonValue:
    """Make one value of the attributes under a prefix: names of digits are places in a list, in order.

    Gaps between such places are closed. A text under the prefix itself that is JSON is the base, which
    the attributes further in add to; they win, and one called `__default__` is the whole value.
    """
    base = attributes.get(prefix)
    base = (container(base) or base) if isinstance(base, str) else base
    within = f"{prefix}."
    tree = _Node()
    for name, found in attributes.items():
        if name.startswith(within):
            _plant(tree, name[len(within) :].split(".", _MAX_LEVELS), found)
    if not tree:
        return base
    if "__default__" in tree:
        return tree["__default__"]
    whole = _listed(tree)
    return {**base, **whole} if isinstance(base, dict) and isinstance(whole, dict) else whole


class _Node(dict[str, JsonValue]):
    """What dotted names make; an object that is an attribute's value is none, and stays as it is."""


def _plant(tree: _Node, path: list[str], found: JsonValue) -> None:
    for step in path[:-1]:
        inner = tree.get(step)
        if not isinstance(inner, _Node):
            inner = tree[step] = _Node()
        tree = inner
    if not isinstance(tree.get(path[-1]), _Node):
        tree[path[-1]] = found


def _listed(tree: JsonValue) -> JsonValue:
    """Turn objects whose names are all numbers into lists; as deep as `_plant` went, at most."""
    if not isinstance(tree, _Node):
        return tree
    inner = {name: _listed(value) for name, value in tree.items()}
    if inner and all(name.isascii() and name.isdigit() for name in inner):
        return [inner[name] for name in sorted(inner, key=lambda digits: (len(digits), digits))]
    return inner


def has_prefix(attributes: Iterable[str], prefix: str) -> bool:
    """Tell whether the name of any attribute starts so."""
    return any(name.startswith(prefix) for name in attributes)
