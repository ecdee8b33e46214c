"""Every error is `application/problem+json` that says what is wrong, and where."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel
from starlette.testclient import TestClient

from scorewright.api.context import ProjectId
from scorewright.api.paging import read_cursor, write_cursor
from scorewright.domain.errors import ConflictError, OurError, StaleError, UsageError


class Body(BaseModel):
    name: str
    sizes: list[int]


router = APIRouter()
RAISED: dict[str, Exception] = {
    "conflict": ConflictError("there is one already"),
    "stale": StaleError("changed meanwhile"),
    "usage": UsageError("no such field").at("/filter"),
    "ours": OurError("the disk is full"),
    "unforeseen": ZeroDivisionError("secret"),
}


@router.get("/raise/{name}")
def raise_one(name: str) -> None:
    raise RAISED[name]


@router.post("/take")
def take(body: Body, project: ProjectId) -> dict[str, Any]:
    return {"body": body, "project": project}


@pytest.fixture
def caller(client: TestClient) -> TestClient:
    app = client.app
    assert isinstance(app, FastAPI)
    app.include_router(router, prefix="/api/v1/projects/{project}")
    return client


@pytest.mark.parametrize(
    ("name", "status"),
    [("conflict", 409), ("stale", 412), ("usage", 422), ("ours", 503), ("unforeseen", 500)],
)
def test_an_error_has_its_status_and_says_what_is_wrong(name: str, status: int, caller: TestClient):
    answer = caller.get(f"/api/v1/projects/default/raise/{name}")

    body = answer.json()
    assert (answer.status_code, body["status"]) == (status, status)
    assert answer.headers["content-type"] == "application/problem+json"
    assert "secret" not in answer.text
    if status < 500:
        assert body["detail"] == str(RAISED[name])
    if name == "usage":
        assert body["errors"] == [{"pointer": "/filter", "detail": "no such field"}]


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"name": "a", "sizes": [1, "x"]}, "/sizes/1"),
        ({"sizes": []}, "/name"),
        ([], ""),
    ],
)
def test_a_body_that_does_not_fit_is_pointed_at(sent: Any, pointer: str, caller: TestClient):
    answer = caller.post("/api/v1/projects/default/take", json=sent)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_unknown_projects_and_paths_are_not_found(caller: TestClient):
    body: dict[str, Any] = {"name": "a", "sizes": []}

    assert caller.post("/api/v1/projects/default/take", json=body).status_code == 200
    for path in ("/api/v1/projects/other/take", "/api/v1/projects/DEFAULT/take", "/nothing"):
        answer = caller.post(path, json=body)
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"
    assert caller.delete("/api/v1/projects/default/take").status_code == 405


def test_a_cursor_is_read_back_and_a_foreign_one_refused():
    cursor = write_cursor("name", 5)

    assert read_cursor(cursor, (str, int)) == ("name", 5)
    assert read_cursor(None, (str,)) is None
    for wrong in ("", "x", "ä", cursor[:-2], write_cursor("name")):
        with pytest.raises(UsageError, match="cursor"):
            read_cursor(wrong, (str, int))
