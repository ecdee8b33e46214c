"""The `ag.…` attributes of a span as the object that Agenta's evaluators know."""

from __future__ import annotations

from scorewright.domain.json_value import JsonObject
from scorewright.telemetry.attribute_values import unfold
from scorewright.telemetry.envelopes import parsed

_PREFIX = "ag."
_DATA = "ag.data."


def agenta_object(attributes: JsonObject) -> JsonObject | None:
    """Unfold the `ag.…` attributes: JSON texts are read, and `__default__` is the whole of what is under `data`.

    Returns:
        The object; None when there are no such attributes, or their names make no object.
    """
    # Almost no span has any, and this is far quicker than looking at each name.
    if f"\n{_PREFIX}" not in "\n".join(("", *attributes)):
        return None
    plain: JsonObject = {}
    data: dict[str, JsonObject] = {}
    for name, value in attributes.items():
        if name.startswith(_DATA):
            part = name[len(_DATA) :].partition(".")[0]
            data.setdefault(part, {})[name] = value
        elif name.startswith(_PREFIX):
            plain[name] = parsed(value)
    if not plain and not data:
        return None
    whole = unfold(plain, "ag") if plain else {}
    if not isinstance(whole, dict):
        return None
    if data:
        base = whole.get("data")
        unfolded = {part: parsed(unfold(found, _DATA + part)) for part, found in data.items()}
        whole["data"] = {**base, **unfolded} if isinstance(base, dict) else unfolded
    return whole
