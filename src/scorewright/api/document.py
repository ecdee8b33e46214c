"""The description of the API, as openapi.json has it: what all its operations have in common is written here once."""

from __future__ import annotations

from typing import Any, Final, cast

from fastapi.routing import APIRoute

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
    return {status: {"description": _TEXTS[status], "content": content} for status in statuses}


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Give every operation of a description its summary and its errors."""
    paths = cast("dict[str, dict[str, Operation]]", document["paths"])
    for path, operations in paths.items():
        for method, operation in operations.items():
            _summarise(operation)
            _add_problems(path, method, operation)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in _FASTAPI_ERRORS:
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template=f"{_SCHEMAS}{{model}}")
    schemas.update(problem.pop("$defs"))
    schemas[Problem.__name__] = problem
    return document


def _summarise(operation: Operation) -> None:
    summary, _, rest = operation["description"].partition("\n\n")
    operation["summary"] = summary.replace("\n", " ").removesuffix(".")
    operation["description"] = rest
    if not rest:
        del operation["description"]


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
