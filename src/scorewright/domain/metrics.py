r"""Names of metrics: nested objects as dotted names, and back.

A literal dot in a key is written `\.` and a literal backslash `\\`, so that no two objects flatten to
the same names: `unflatten(flatten(x)) == x` for every JSON object. Lists and empty objects are values.

Source: agenta seed, "Return value"; contracts §3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scorewright.domain.json_value import JsonObject, JsonValue


def flatten(value: Mapping[str, JsonValue]) -> JsonObject:
    """Give nested values one dotted name each.

    Args:
        value: A JSON object of any depth.

    Returns:
        Dotted name to value, in the order of the object.
    """
    if _is_flat(value):
        return dict(value)
    flat: JsonObject = {}
    open_objects: list[tuple[str, Iterator[tuple[str, JsonValue]]]] = [("", iter(value.items()))]
    while open_objects:
        prefix, items = open_objects[-1]
        for key, inner in items:
            name = prefix + _escape(key)
            if isinstance(inner, dict) and inner:
                open_objects.append((f"{name}.", iter(inner.items())))
                break
            flat[name] = inner
        else:
            open_objects.pop()
    return flat


def unflatten(flat: Mapping[str, JsonValue]) -> JsonObject:
    """Rebuild the object that `flatten` took apart.

    Args:
        flat: Dotted name to value.

    Returns:
        The nested object.

    Raises:
        ValueError: The caller's fault: one name lies inside another (`a` and `a.b`).
    """
    root: JsonObject = {}
    leaves: set[tuple[str, ...]] = set()
    for name, value in flat.items():
        keys = _split(name)
        leaves.add(tuple(keys))
        node = root
        for depth, key in enumerate(keys[:-1], start=1):
            child = node.setdefault(key, {})
            if not isinstance(child, dict) or tuple(keys[:depth]) in leaves:
                raise ValueError(f"metric {name!r:.80} lies inside another metric; rename one")
            node = child
        if keys[-1] in node:
            raise ValueError(f"metric {name!r:.80} holds other metrics; rename one")
        node[keys[-1]] = value
    return root


def _is_flat(value: Mapping[str, JsonValue]) -> bool:
    for key, inner in value.items():
        if isinstance(inner, dict) or "." in key or "\\" in key:
            return False
    return True


def _escape(key: str) -> str:
    if "." in key or "\\" in key:
        return key.replace("\\", "\\\\").replace(".", "\\.")
    return key


def _split(name: str) -> list[str]:
    if "\\" not in name:
        return name.split(".")
    keys: list[str] = []
    key = ""
    characters = iter(name)
    for character in characters:
        if character == "\\":
            key += next(characters, "\\")
        elif character == ".":
            keys.append(key)
            key = ""
        else:
            key += character
    return [*keys, key]
