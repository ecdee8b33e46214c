"""A client that knows nothing of the server but its openapi.json: whatever that does not describe is an error."""

from __future__ import annotations

import json
from typing import Any, Final, cast
from urllib.parse import quote

import httpx
import jsonschema_rs

#: Headers that say something about one answer, and so have to be described at it.
_TELLING: Final = ("ETag", "Location", "Retry-After", "Content-Disposition")
_JSON: Final = "application/json"


class RefusedError(Exception):
    """The server refused, in a way that is described."""

    def __init__(self, status: int, problem: Any) -> None:
        super().__init__(f"{status}: {problem}")
        self.status = status
        self.problem = problem


class Client:
    """Calls operations by their names.

    Args:
        http: Where the server is, with a key.
    """

    def __init__(self, http: httpx.Client) -> None:
        self._http = http
        self._document: dict[str, Any] = http.get("/openapi.json").raise_for_status().json()
        self._operations: dict[str, tuple[str, str, dict[str, Any]]] = {
            operation["operationId"]: (method, path, operation)
            for path, operations in self._document["paths"].items()
            for method, operation in operations.items()
        }

    def __call__(self, operation_id: str, body: Any = None, **given: Any) -> Any:
        """Call an operation; returns its JSON, or the bytes of any other answer.

        Args:
            operation_id: Its name.
            body: What is sent; a dict with `file` for a form.
            given: Parameters, by name; `_` for the signs that Python's names cannot have.
        """
        return self.send(operation_id, body, **given)[0]

    def send(self, operation_id: str, body: Any = None, **given: Any) -> tuple[Any, httpx.Headers]:
        """Call an operation; returns the headers of its answer too."""
        method, path, operation = self._operations[operation_id]
        path, query, headers = self._parameters(operation, path, given)
        sent = self._body(operation, body)
        answer = self._http.request(method, path, params=tuple(query), headers=headers, **sent)
        found = self._read(operation, answer)
        if answer.status_code >= 400:
            raise RefusedError(answer.status_code, found)
        return found, answer.headers

    def pages(self, operation_id: str, **given: Any) -> list[Any]:
        """Return all entries of a list."""
        found: list[Any] = []
        while True:
            page = self(operation_id, **given)
            found += page["items"]
            if page["next_cursor"] is None:
                return found
            given["cursor"] = page["next_cursor"]

    def _parameters(
        self, operation: dict[str, Any], path: str, given: dict[str, Any]
    ) -> tuple[str, list[tuple[str, str]], dict[str, str]]:
        query: list[tuple[str, str]] = []
        headers: dict[str, str] = {}
        left = dict(given)
        for parameter in operation.get("parameters", ()):
            name: str = parameter["name"]
            key = name.lower().replace("-", "_")
            if key not in left:
                assert not parameter.get("required"), f"{operation['operationId']} needs {name}"
                continue
            value = left.pop(key)
            self._validate(parameter["schema"], value)
            values = cast("list[Any]", value if isinstance(value, list) else [value])
            texts = [one if isinstance(one, str) else json.dumps(one) for one in values]
            match parameter["in"]:
                case "path":
                    path = path.replace(f"{{{name}}}", quote(texts[0], safe=""))
                case "query":
                    query += [(name, text) for text in texts]
                case _:
                    headers[name] = texts[0]
        assert not left, f"{operation['operationId']} has no parameters {sorted(left)}"
        return path, query, headers

    def _body(self, operation: dict[str, Any], body: Any) -> dict[str, Any]:
        described = operation.get("requestBody")
        if described is None:
            assert body is None, f"{operation['operationId']} takes no body"
            return {}
        content = described["content"]
        if "multipart/form-data" in content:
            schema = self._document["components"]["schemas"][
                content["multipart/form-data"]["schema"]["$ref"].rpartition("/")[2]
            ]
            assert body.keys() <= schema["properties"].keys()
            return {
                "files": {"file": body["file"]},
                "data": {name: value for name, value in body.items() if name != "file"},
            }
        self._validate(content[_JSON]["schema"], body)
        return {"json": body}

    def _read(self, operation: dict[str, Any], answer: httpx.Response) -> Any:
        what = f"{operation['operationId']}, {answer.status_code}"
        described = operation["responses"].get(str(answer.status_code))
        assert described is not None, f"{what} is not described: {answer.text}"
        for name in _TELLING:
            known = name in described.get("headers", ())
            assert known or name not in answer.headers, f"{what}: {name} is not described"
        if "ETag" in described.get("headers", ()):
            assert "ETag" in answer.headers, f"{what}: there is no ETag"
        content = {
            kind.partition(";")[0]: one for kind, one in described.get("content", {}).items()
        }
        if not content:
            assert not answer.content, f"{what}: has a body"
            return None
        kind = answer.headers["Content-Type"].partition(";")[0]
        assert kind in content, f"{what}: {kind} is not described"
        if not kind.endswith("json"):
            return answer.content
        found = answer.json()
        self._validate(content[kind]["schema"], found)
        return found

    def _validate(self, schema: dict[str, Any], value: Any) -> None:
        whole = {**schema, "components": self._document["components"]}
        jsonschema_rs.Draft202012Validator(whole).validate(value)
