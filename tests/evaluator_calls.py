"""What tests of saved evaluators share."""

from __future__ import annotations

from typing import Any

from httpx2 import Response
from starlette.testclient import TestClient

EVALUATORS = "/api/v1/projects/default/evaluators"
SOURCE = 'def evaluate(output, expected=None):\n    return {"score": 1, "explanation": "fine"}\n'


def create(client: TestClient, name: str = "exact-match", **fields: Any) -> Response:
    return client.post(EVALUATORS, json={"source": SOURCE, "name": name, **fields})


def saved(client: TestClient, name: str = "exact-match", **fields: Any) -> dict[str, Any]:
    answer = create(client, name, **fields)
    assert answer.status_code == 201, answer.text
    return answer.json()


def edit(client: TestClient, name: str, revision: int, /, **changes: Any) -> Response:
    return client.patch(f"{EVALUATORS}/{name}", json=changes, headers={"If-Match": f'"{revision}"'})


def delete(client: TestClient, name: str, revision: int) -> Response:
    return client.delete(f"{EVALUATORS}/{name}", headers={"If-Match": f'"{revision}"'})


def names(client: TestClient, **query: Any) -> list[str]:
    answer = client.get(EVALUATORS, params=query)
    assert answer.status_code == 200, answer.text
    return [entry["name"] for entry in answer.json()["items"]]


def pointers(answer: Response) -> list[str]:
    assert answer.headers["content-type"] == "application/problem+json"
    return [error["pointer"] for error in answer.json()["errors"]]
