"""A prompt filled from one item."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias, cast

from scorewright.authoring.value import Value, field_names, is_unknown
from scorewright.judges.fields import METHODS
from scorewright.judges.template import (
    At,
    Attribute,
    Call,
    Path,
    Placeholder,
    Template,
    print_path,
    print_placeholder,
)

Wrap: TypeAlias = Callable[[str, Placeholder], str]
"""Makes what stands in the prompt of a value's text."""

#: What stands for a value that was not recorded.
NOTHING: Final = "(none)"
_MAX_DEPTH: Final = 40
_ABSENT: Final[Any] = object()


class AbsentError(Exception):
    """A placeholder leads to something that this item does not have; becomes `mapping_error`."""


def render(template: Template, values: Mapping[str, Any], wrap: Wrap) -> str:
    """Fill a prompt.

    Args:
        template: Its paths were checked.
        values: By root.
        wrap: Called with the text of each value.

    Raises:
        AbsentError: An index or a key is not there, and nothing else is offered for it.
    """
    return "".join(
        part if isinstance(part, str) else wrap(text_of(value_of(part, values)), part)
        for part in template.parts
    )


def value_of(placeholder: Placeholder, values: Mapping[str, Any]) -> Any:
    """Return the first value that is there and not empty, else the last one.

    Raises:
        AbsentError: There is none.
    """
    value = _ABSENT
    for choice in placeholder.choices:
        value = _walk(choice, values) if isinstance(choice, Path) else choice.value
        if value is not _ABSENT and not is_empty(value):
            break
    if value is _ABSENT:
        last = cast("Path", placeholder.choices[-1])
        raise AbsentError(
            f'this item has no {print_path(last)}; map another field, or write {print_placeholder(placeholder)[:-1]} or "…"}}'
        )
    return value


def is_empty(value: object) -> bool:
    """Tell whether a value says nothing: null, blank text, an empty list or object. 0 and false say something."""
    return is_unknown(value) or (isinstance(value, str) and not value.strip())


def text_of(value: object) -> str:
    """Write a value for a model: text as it is, everything else as JSON."""
    if value is None:
        return NOTHING
    return value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)


def _walk(path: Path, values: Mapping[str, Any]) -> Any:
    value: Any = values.get(path.root, _ABSENT)
    for step in path.steps:
        if value is _ABSENT or value is None:
            return value if value is None and not isinstance(step, At) else _ABSENT
        value = _step(value, step)
    return value


def _step(value: Any, step: Attribute | Call | At) -> Any:
    if isinstance(step, Call):
        is_ours = isinstance(value, Value) and step.name in METHODS
        return getattr(value, step.name)() if is_ours and hasattr(value, step.name) else _ABSENT
    key = step.key if isinstance(step, At) else step.name
    if isinstance(value, dict):
        return cast("dict[object, Any]", value).get(key, _ABSENT)
    if isinstance(key, int):
        return _item(value, key)
    if isinstance(value, Value) and isinstance(step, Attribute) and not key.startswith("_"):
        is_field = key in field_names(type(value)) or key in ("kind", "role", "has_errors")
        return getattr(value, key, _ABSENT) if is_field else _ABSENT
    return _ABSENT


def _item(value: Any, index: int) -> Any:
    if not isinstance(value, list):
        return _ABSENT
    items = cast("list[Any]", value)
    return items[index] if -len(items) <= index < len(items) else _ABSENT


def _plain(value: Any, depth: int = 0) -> Any:
    """Make JSON of a value; the objects that evaluators see show the fields that are known."""
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, Value):
        fields = {name: getattr(value, name) for name in field_names(type(value))}
        role = getattr(value, "role", None)
        known = {name: one for name, one in fields.items() if not is_unknown(one)}
        if known.get("content") is not None and known.get("tool_output") is not None:
            del known["content"]  # it is the output once more, as text
        return _plain({"role": role, **known} if role else known, depth)
    if isinstance(value, dict):
        return {
            str(key): _plain(one, depth + 1)
            for key, one in cast("dict[object, Any]", value).items()
        }
    if isinstance(value, list | tuple):
        return [_plain(one, depth + 1) for one in cast("list[Any]", value)]
    return value.isoformat() if isinstance(value, datetime) else value
