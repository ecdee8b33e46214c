"""The description of the API suffices: nothing in it stays without a word, and nothing refers to what its reader does not have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import jsonschema_rs
import pytest

DOCUMENT: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "openapi.json").read_text(encoding="utf-8")
)
OPERATIONS: Final[dict[str, dict[str, Any]]] = {
    operation["operationId"]: operation
    for operations in DOCUMENT["paths"].values()
    for operation in operations.values()
}
#: Made by the framework for forms, and for what any JSON may be.
NAMELESS: Final = re.compile(r"Body_\w+|JsonValue")
#: Errors of what is asked without a key, and by machines that know no problems.
PROBES: Final = {"get_health", "get_readiness"}


def parts(part: Any = DOCUMENT, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Walk over all objects of the document."""
    if isinstance(part, dict):
        found = cast("dict[str, Any]", part)
        yield path, found
        for name, one in found.items():
            if name not in ("example", "examples", "default"):
                yield from parts(one, f"{path}/{name}")
    elif isinstance(part, list):
        for at, one in enumerate(cast("list[Any]", part)):
            yield from parts(one, f"{path}/{at}")


def answers(*, good: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for name, operation in OPERATIONS.items():
        for status, answer in operation["responses"].items():
            if (status < "400") == good and name not in PROBES:
                yield name, status, answer


def test_every_operation_has_a_name_of_its_own_a_summary_and_a_tag():
    total = sum(len(operations) for operations in DOCUMENT["paths"].values())

    assert len(OPERATIONS) == total
    assert [name for name, one in OPERATIONS.items() if not one.get("summary")] == []
    assert [name for name, one in OPERATIONS.items() if len(one.get("tags", ())) != 1] == []


def test_every_parameter_property_and_schema_says_what_it_means():
    silent = [
        f"{path}: {name}"
        for path, part in parts()
        if isinstance(part.get("properties"), dict)
        for name, schema in part["properties"].items()
        if not schema.get("description")
    ]
    silent += [
        f"{path}: {part['name']}"
        for path, part in parts()
        if "in" in part and "name" in part and not part.get("description")
    ]
    silent += [
        name
        for name, schema in DOCUMENT["components"]["schemas"].items()
        if not schema.get("description") and not NAMELESS.fullmatch(name)
    ]

    assert silent == [], "describe it where it stands, or its name in scorewright.api.meanings"


def test_every_value_of_an_enumeration_is_explained():
    unexplained = [
        f"{path}: {part['enum']}"
        for path, part in parts()
        if isinstance(part.get("enum"), list)
        and not all(f"`{value}`: " in part.get("description", "") for value in part["enum"])
    ]

    assert unexplained == [], "name its values in scorewright.api.meanings"


def test_every_answer_has_a_schema_and_every_error_is_a_problem():
    for name, status, answer in answers(good=True):
        if status in ("204", "303"):
            assert "content" not in answer, name
        else:
            assert answer["content"], (name, status)
            assert all(one.get("schema") for one in answer["content"].values()), (name, status)
    for name, status, answer in answers(good=False):
        (schema,) = [one["schema"] for one in answer["content"].values()]
        assert list(answer["content"]) == ["application/problem+json"], (name, status)
        assert schema == {"$ref": "#/components/schemas/Problem"}, (name, status)
        if status in ("429", "503"):
            assert "Retry-After" in answer["headers"], (name, status)


def test_what_can_be_edited_is_answered_with_the_state_that_edits_need():
    edits = {
        name: parameter
        for name, operation in OPERATIONS.items()
        for parameter in operation.get("parameters", ())
        if parameter["name"] == "If-Match"
    }

    assert len(edits) == 7
    for name, parameter in edits.items():
        assert parameter["required"], name
        assert {"412", "428"} <= set(OPERATIONS[name]["responses"]), name
    for name in ("get_evaluator", "create_task", "restore_dataset", "edit_dataset_rows"):
        (good,) = [one for called, _, one in answers(good=True) if called == name]
        assert "ETag" in good["headers"], name


def test_the_introduction_tells_what_holds_everywhere_and_names_only_what_is_there():
    said = DOCUMENT["info"]["description"]

    for word in (
        "Bearer",
        "`default`",
        "next_cursor",
        "If-Match",
        "Idempotency-Key",
        "problem+json",
    ):
        assert word in said
    named = re.findall(r"`([a-z]+_[a-z_]+)`", said)
    fields = {name for _, part in parts() for name in part.get("properties", ())}
    values = {value for _, part in parts() for value in part.get("enum", ())}
    names = fields | values | set(OPERATIONS) | {"agent_trace", "llm_span"}
    assert [name for name in named if name not in names] == []


def test_nothing_points_to_files_that_strangers_do_not_have():
    text = json.dumps(DOCUMENT)

    assert re.findall(r"docs/[\w/.-]+|[\w-]+\.md\b|contracts §|\bseed\b", text) == []


@pytest.mark.parametrize(
    "name", [name for name, one in DOCUMENT["components"]["schemas"].items() if "example" in one]
)
def test_examples_are_valid(name: str):
    schema = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}

    jsonschema_rs.validate(schema, DOCUMENT["components"]["schemas"][name]["example"])


def test_the_main_bodies_have_examples():
    schemas = DOCUMENT["components"]["schemas"]

    for name in ("EvaluatorDraft", "NewDataset", "NewTask", "PreviewRequest"):
        assert schemas[name]["example"]
