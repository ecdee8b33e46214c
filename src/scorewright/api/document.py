"""The description of the API, as openapi.json has it: what all its operations have in common is written here once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, cast

from fastapi.routing import APIRoute

from scorewright.api.introduction import INTRODUCTION
from scorewright.api.meanings import NAMES, VALUES
from scorewright.api.problem import MEDIA_TYPE, Problem

Operation = dict[str, Any]
_TEXTS: Final[dict[int, str]] = {
    400: "the body cannot be read",
    401: "nobody says who asks",
    403: "the key may not do this, or a page of another origin asks",
    404: "there is no such thing",
    409: "it does not go with what is there",
    412: "it was changed meanwhile",
    413: "the body is too large",
    415: "the body is of another type",
    421: "the server is not asked by this name",
    422: "something in the request is wrong",
    428: "it says not which state it is to change",
    429: "too many wrong keys came from this address",
    503: "try again later: something that the server needs is away, or all places are taken",
}
_HEADERS: Final[dict[str, str]] = {
    "Content-Disposition": "proposes a name for the file",
    "ETag": "the state that it is in: what `If-Match` takes",
    "Location": "where it is from now on",
    "Retry-After": "seconds to wait before it is sent again",
    "Set-Cookie": "the session",
    "WWW-Authenticate": "Bearer",
}
#: Those of errors, by status.
_PROBLEM_HEADERS: Final = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
_SCHEMAS: Final = "#/components/schemas/"
_REFUSED_BODIES: Final = frozenset({400, 413, 422})
#: Asked by load balancers, by whatever name and without a key.
_PROBES: Final = ("/healthz", "/readyz")
_FASTAPI_ERRORS: Final = ("HTTPValidationError", "ValidationError")


def operation_id(route: APIRoute) -> str:
    """Name an operation: as its function is named."""
    return route.name


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Declare errors of a route beside those that follow from what it takes."""
    content = {MEDIA_TYPE: {"schema": {"$ref": f"{_SCHEMAS}{Problem.__name__}"}}}
    found: dict[int | str, dict[str, Any]] = {}
    for status in statuses:
        found[status] = {"description": _TEXTS[status], "content": content}
        if status in _PROBLEM_HEADERS:
            found[status] |= headers(_PROBLEM_HEADERS[status])
    return found


def headers(*names: str) -> dict[str, Any]:
    """Declare headers of an answer."""
    return {
        "headers": {
            name: {"description": _HEADERS[name], "schema": {"type": "string"}} for name in names
        }
    }


def file_types(media_types: Iterable[str]) -> dict[int | str, dict[str, Any]]:
    """Declare an answer that is a file of one of some types."""
    schema = {"schema": {"type": "string", "format": "binary"}}
    content = dict.fromkeys(media_types, schema)
    return {200: {"content": content, **headers("Content-Disposition")}}


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Give a description what all its operations have in common, and each its summary, headers and errors."""
    document["info"]["description"] = INTRODUCTION
    paths = cast("dict[str, dict[str, Operation]]", document["paths"])
    for path, operations in paths.items():
        for method, operation in operations.items():
            _summarise(operation)
            _require_if_match(operation)
            _add_problems(path, method, operation)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in _FASTAPI_ERRORS:
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template=f"{_SCHEMAS}{{model}}")
    schemas.update(problem.pop("$defs"))
    schemas[Problem.__name__] = problem
    for response in _answers(paths):
        _add_etag(response, schemas)
    _describe(document)
    return document


def _summarise(operation: Operation) -> None:
    summary, _, rest = operation["description"].partition("\n\n")
    operation["summary"] = summary.replace("\n", " ").removesuffix(".")
    operation["description"] = rest
    if not rest:
        del operation["description"]


def _require_if_match(operation: Operation) -> None:
    """Say that the header must be there: to the framework it may be missing, as the answer is then no 422 but a 428."""
    for parameter in operation.get("parameters", ()):
        if parameter["name"].lower() == "if-match":
            parameter |= {
                "name": "If-Match",
                "required": True,
                "schema": {"type": "string", "maxLength": 100},
            }


def _answers(paths: dict[str, dict[str, Operation]]) -> Iterator[dict[str, Any]]:
    for operations in paths.values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if status < "300":
                    yield response


def _add_etag(response: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Say that what has a revision comes with its ETag."""
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    name = schema.get("$ref", "").removeprefix(_SCHEMAS)
    if "revision" in schemas.get(name, {}).get("properties", ()):
        response.setdefault("headers", {}).update(headers("ETag")["headers"])


def _describe(part: Any) -> None:
    """Say of all properties, parameters and enumerations that do not say it themselves what they mean."""
    if isinstance(part, list):
        for one in cast("list[Any]", part):
            _describe(one)
    if not isinstance(part, dict):
        return
    found = cast("dict[str, Any]", part)
    if isinstance(found.get("properties"), dict):
        for name, schema in found["properties"].items():
            _describe_by_name(name, schema)
    if "in" in found and "name" in found:
        _describe_by_name(found["name"], found)
    if isinstance(found.get("enum"), list):
        _describe_values(found)
    for name, one in found.items():
        if name not in ("example", "examples", "default"):
            _describe(one)


def _describe_by_name(name: str, schema: dict[str, Any]) -> None:
    if "description" not in schema and name in NAMES:
        schema["description"] = NAMES[name]


def _describe_values(schema: dict[str, Any]) -> None:
    for meanings in VALUES:
        if set(meanings) == set(schema["enum"]):
            said = [f"`{value}`: {meaning}" for value, meaning in meanings.items()]
            own = schema.get("description", "").rstrip(".")
            schema["description"] = (f"{own}. " if own else "") + "; ".join(said)


def _add_problems(path: str, method: str, operation: Operation) -> None:
    responses = operation["responses"]
    if _FASTAPI_ERRORS[0] in str(responses.get("422")):
        del responses["422"]
    if path in _PROBES:
        return
    statuses = _statuses(path, method, operation)
    for status, response in problems(*sorted(statuses)).items():
        responses.setdefault(str(status), response)
    operation["responses"] = dict(sorted(responses.items()))


def _statuses(path: str, method: str, operation: Operation) -> set[int]:
    """Return how an operation can fail, by what it takes."""
    names = {one["name"].lower() for one in operation.get("parameters", ())}
    found = {421, 503}
    if "security" in operation:
        found |= {401, 403, 429}
    if names:
        found.add(422)
    if names & {"project", "x-scorewright-project"}:
        found.add(404)
    if "if-match" in names:
        found.add(428)
    if method != "get":
        found.add(403)
        if "project" in names:
            found |= {409, 412}
    if "requestBody" in operation:
        found |= _REFUSED_BODIES
        if not path.startswith("/api/"):
            found.add(415)
    return found
