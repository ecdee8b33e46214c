"""A POST with an Idempotency-Key is done once, however often and at once it is sent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi import APIRouter, Depends, FastAPI, UploadFile
from pydantic import BaseModel
from starlette.responses import Response, StreamingResponse
from starlette.testclient import TestClient

from callers import new_client
from scorewright.api.access import allow
from scorewright.api.context import Context, ProjectId
from scorewright.api.idempotency import OnceRoute
from scorewright.domain.errors import ConflictError
from scorewright.services.access import create_key
from scorewright.services.audit import note
from scorewright.services.once import KEPT_S, MAX_BODY_BYTES, forget_old
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id
from scorewright.storage.tables import idempotency_keys, projects
from scorewright.storage.tables.metadata import new_id, now_us

THINGS = "/api/v1/projects/default/things"


class Thing(BaseModel):
    name: str
    size: int = 1


class Made:
    """What the routes of the test have made, and what they wait for."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.names: list[str] = []
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()


def router_over(made: Made) -> APIRouter:
    router = APIRouter(prefix="/things", route_class=OnceRoute)

    @router.post("", status_code=201)
    def create(body: Thing, project: ProjectId, response: Response) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        made.begun.set()
        assert made.may_end.wait(30)
        if body.name == "taken":
            raise ConflictError("there is one already")
        if body.name == "broken":
            raise ZeroDivisionError
        with made.database.write() as connection:
            note(connection, project, "create", kind="thing", target_id=body.name)
            made.names.append(body.name)
        if body.name == "unspeakable":
            raise ZeroDivisionError
        response.headers["ETag"] = '"1"'
        return {"number": len(made.names), "filler": "x" * body.size}

    @router.post("/file", status_code=201)
    def upload(file: UploadFile, project: ProjectId) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        del project
        made.names.append(file.file.read().decode())
        return {"number": len(made.names)}

    @router.post("/stream")
    def stream(project: ProjectId) -> StreamingResponse:  # pyright: ignore[reportUnusedFunction]
        del project
        made.names.append("streamed")
        return StreamingResponse(iter(["a", "b"]))

    return router


@pytest.fixture
def made(database: Database) -> Made:
    return Made(database)


@pytest.fixture
def caller(client: TestClient, made: Made) -> TestClient:
    return with_things(client, made)


def with_things(client: TestClient, made: Made) -> TestClient:
    app = client.app
    assert isinstance(app, FastAPI)
    app.include_router(
        router_over(made), prefix="/api/v1/projects/{project}", dependencies=[Depends(allow)]
    )
    return client


def send(caller: TestClient, name: str = "a", key: str = "k", **options: Any) -> Any:
    headers = {"Idempotency-Key": key, **options.pop("headers", {})}
    return caller.post(THINGS, json={"name": name, **options}, headers=headers)


def test_the_same_request_is_done_once_and_answered_twice(caller: TestClient, made: Made):
    first, second = send(caller), send(caller)

    assert (first.status_code, second.status_code) == (201, 201)
    assert second.content == first.content
    assert second.headers["etag"] == '"1"'
    assert second.headers["content-type"] == "application/json"
    assert made.names == ["a"]


def test_other_keys_and_none_are_other_requests(caller: TestClient, made: Made):
    send(caller, key="1")
    send(caller, key="2")
    caller.post(THINGS, json={"name": "a"})
    caller.post(THINGS, json={"name": "a"})

    assert len(made.names) == 4


def test_another_body_path_or_caller_under_the_key_is_refused(
    caller: TestClient, made: Made, database: Database
):
    send(caller)
    project = project_id(database, "default")
    secret = create_key(database, project, name="b", scopes=["write"], expires_us=None).secret

    answers = [
        send(caller, "b"),
        caller.post(f"{THINGS}?x=1", json={"name": "a"}, headers={"Idempotency-Key": "k"}),
        caller.post(f"{THINGS}/stream", headers={"Idempotency-Key": "k"}),
        send(caller, headers={"Authorization": f"Bearer {secret}"}),
    ]

    assert [answer.status_code for answer in answers] == [422] * 4
    assert answers[0].json()["errors"][0]["pointer"] == "Idempotency-Key"
    assert made.names == ["a"]


def test_keys_of_another_project_are_other_keys(caller: TestClient, made: Made, database: Database):
    with database.write() as connection:
        connection.execute(projects.insert().values(id=new_id(), name="two", created_us=now_us()))
    send(caller)
    path = "/api/v1/projects/two/things"

    assert caller.post(path, json={"name": "b"}, headers={"Idempotency-Key": "k"}).is_success
    assert made.names == ["a", "b"]


def test_of_many_at_once_one_is_done_and_none_is_done_twice(caller: TestClient, made: Made):
    made.may_end.clear()
    with ThreadPoolExecutor(8) as threads:
        sent = [threads.submit(send, caller) for _ in range(8)]
        assert made.begun.wait(30)
        early = [sent_one.result() for sent_one in _done_but_one(sent)]
        made.may_end.set()
        answers = [sent_one.result() for sent_one in sent]

    assert [answer.status_code for answer in early] == [409] * 7
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert made.names == ["a"]
    assert send(caller).json()["number"] == 1


def _done_but_one(sent: list[Any]) -> list[Any]:
    from concurrent.futures import as_completed

    finished = as_completed(sent)
    return [next(finished) for _ in range(len(sent) - 1)]


@pytest.mark.parametrize(("name", "status"), [("taken", 409), ("broken", 500)])
def test_a_request_that_failed_may_be_sent_again(
    name: str, status: int, caller: TestClient, made: Made
):
    assert send(caller, name).status_code == status
    assert send(caller, name).status_code == status
    assert send(caller, "a").status_code == 201
    assert made.names == ["a"]


def test_a_body_that_does_not_fit_leaves_the_key_free(caller: TestClient):
    assert send(caller, size="many").status_code == 422
    assert send(caller).status_code == 201


def test_a_large_answer_is_not_kept_but_its_request_is_done_once(caller: TestClient, made: Made):
    assert send(caller, size=MAX_BODY_BYTES).status_code == 201

    answer = send(caller, size=MAX_BODY_BYTES)

    assert answer.status_code == 409
    assert "201" in answer.json()["detail"]
    assert made.names == ["a"]


def test_what_is_streamed_is_done_once(caller: TestClient, made: Made):
    headers = {"Idempotency-Key": "k"}

    first = caller.post(f"{THINGS}/stream", headers=headers)
    second = caller.post(f"{THINGS}/stream", headers=headers)

    assert (first.text, second.status_code) == ("ab", 409)
    assert made.names == ["streamed"]


def test_an_upload_that_is_sent_again_has_another_boundary(caller: TestClient, made: Made):
    def upload(content: str, boundary: str) -> Any:
        part = 'Content-Disposition: form-data; name="file"; filename="f"'
        body = f"--{boundary}\r\n{part}\r\n\r\n{content}\r\n--{boundary}--\r\n"
        kind = f"multipart/form-data; boundary={boundary}"
        headers = {"Idempotency-Key": "k", "Content-Type": kind}
        return caller.post(f"{THINGS}/file", content=body, headers=headers)

    first = upload("some", "one-boundary")
    again = upload("some", "another-boundary-which-is-longer")
    other = upload("else", "one-boundary")

    assert [first.status_code, again.status_code, other.status_code] == [201, 201, 422]
    assert first.json() == again.json()
    assert made.names == ["some"]


@pytest.mark.parametrize("key", ["", "x" * 201])
def test_a_key_has_a_sensible_length(key: str, caller: TestClient, made: Made):
    assert send(caller, key=key).status_code == 422
    assert made.names == []


def test_an_answer_is_for_those_who_may_ask_for_it(
    caller: TestClient, made: Made, database: Database
):
    project = project_id(database, "default")
    reader = create_key(database, project, name="r", scopes=["read"], expires_us=None).secret

    answer = send(caller, headers={"Authorization": f"Bearer {reader}"})

    assert answer.status_code == 403
    assert made.names == []


def _age(database: Database, by_s: int) -> None:
    with database.write() as connection:
        older = idempotency_keys.c.created_us - by_s * 1_000_000
        connection.execute(idempotency_keys.update().values(created_us=older))


def _by_upkeep(database: Database) -> None:
    forget_old(database)


def _by_use(database: Database) -> None:
    del database


@pytest.mark.parametrize("forget", [_by_upkeep, _by_use])
def test_a_key_is_free_again_after_a_day(
    forget: Callable[[Database], None], caller: TestClient, made: Made, database: Database
):
    send(caller)
    _age(database, KEPT_S - 60)
    forget(database)
    assert send(caller, "b").status_code == 422

    _age(database, 120)
    forget(database)

    assert send(caller, "b").status_code == 201
    assert made.names == ["a", "b"]


def test_a_request_whose_server_died_is_done_again_later(
    caller: TestClient, made: Made, database: Database
):
    send(caller)
    _lose_answer(database, changed=None)
    assert send(caller).status_code == 409

    _age(database, 3600)

    assert send(caller).status_code == 201
    assert made.names == ["a", "a"]


def test_a_request_that_was_done_by_a_server_that_died_is_not_done_again(
    caller: TestClient, made: Made, database: Database
):
    send(caller)
    _lose_answer(database, changed="thing a")
    _age(database, 3600)

    answer = send(caller)

    assert answer.status_code == 409
    assert "thing a" in answer.json()["detail"]
    assert made.names == ["a"]


def test_what_was_done_before_the_answer_failed_is_not_done_again(caller: TestClient, made: Made):
    assert send(caller, "unspeakable").status_code == 500

    assert send(caller, "unspeakable").status_code == 409
    assert made.names == ["unspeakable"]


def _lose_answer(database: Database, *, changed: str | None) -> None:
    with database.write() as connection:
        nothing = {"status": None, "body_sha256": None, "body": None, "changed": changed}
        connection.execute(idempotency_keys.update().values(**nothing))


def test_a_request_that_lost_its_key_changes_nothing_more(client: TestClient, database: Database):
    slow, quick = Made(database), Made(database)
    slow.may_end.clear()
    first = with_things(client, slow)
    second = with_things(new_client(Context(database), secret=_secret(client)), quick)
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(send, first)
        assert slow.begun.wait(30)
        _age(database, 3600)
        assert send(second).json()["number"] == 1
        slow.may_end.set()
        late = sent.result()

    assert (late.status_code, slow.names) == (409, [])

    with database.read() as connection:
        assert connection.scalar(sa.select(sa.func.count()).select_from(idempotency_keys)) == 1
    assert send(second).json()["number"] == 1


def _secret(client: TestClient) -> str:
    return client.headers["Authorization"].removeprefix("Bearer ")
