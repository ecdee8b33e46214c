"""Read one YAML document into JSON values. Imported only where a definition is read.

Of YAML's surprises the worst are refused: anchors (which can grow without bound), a key given twice,
dates, deep nesting (which the C parser does not survive).
"""

from __future__ import annotations

from typing import Any

import yaml

from scorewright.domain.errors import EvaluatorError
from scorewright.domain.json_literal import json_literal
from scorewright.domain.json_value import JsonObject
from scorewright.domain.suggestion import quote

_MAX_NESTING = 32
_untyped: Any = yaml  # its type stubs know next to nothing
_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BaseLoader):
    """Safe loader that notices a key given twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        seen: set[str] = set()
        for key, _value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else None
            if name is None or name in seen:
                said = "a key is no text" if name is None else f"key {quote(name)} is given twice"
                raise yaml.MarkedYAMLError(problem=said, problem_mark=key.start_mark)
            seen.add(name)
        return _BaseLoader.construct_mapping(self, node, deep=deep)


def load_yaml(text: str) -> JsonObject:
    """Parse a YAML text whose document is an object.

    Raises:
        EvaluatorError: The author's: it is no YAML, or uses what is refused here.
    """
    try:
        _refuse_structure(text)
        value = json_literal(yaml.load(text, Loader=_Loader))  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise EvaluatorError(f"definition: {place}{error.problem}; correct the YAML") from None
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())[:200]
        raise EvaluatorError(f"definition: {said}; correct the YAML") from None
    except ValueError as error:
        raise EvaluatorError(f"definition: {error}; put it in quotes if it is a text") from None
    if not isinstance(value, dict):
        raise EvaluatorError("definition: it must be an object of keys and values")
    return value


def _refuse_structure(text: str) -> None:
    depth = 0
    for event in _untyped.parse(text, Loader=_BaseLoader):
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not taken", problem_mark=mark)
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_NESTING:
            problem = f"it is nested more than {_MAX_NESTING} deep"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=mark)
