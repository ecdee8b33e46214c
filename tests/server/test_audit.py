"""Whatever a caller changes is noted, with who did it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient
from workplace import CHANGES, ROOT, ROWS, Workplace, described

from run_parts import numbers_task
from scorewright.storage.database import Database
from scorewright.storage.tables import audit

#: What notes nothing, and why.
EXEMPT = {
    "parse_evaluator": "nothing is stored",
    "check_evaluator": "nothing is stored",
    "preview_evaluators": "nothing is stored",
    "sample_source": "nothing is stored",
    "export_traces": "applications send them all the time; what arrives is the record itself",
    "export_logs": "as export_traces",
    "create_project": "noted in the project that it makes: tests/server/test_projects.py",
}


def operations(client: TestClient) -> dict[str, str]:
    """Methods of what changes something, by operation."""
    return {
        operation["operationId"]: method
        for methods in described(client)["paths"].values()
        for method, operation in methods.items()
        if method != "get"
    }


def entries(database: Database) -> list[tuple[str, str, str]]:
    wanted = sa.select(audit.c.actor_name, audit.c.kind, audit.c.action)
    with database.read() as connection:
        return [tuple(row) for row in connection.execute(wanted.order_by(audit.c.id))]  # type: ignore[misc]


def test_every_operation_that_changes_something_is_tried_here_or_exempt(client: TestClient):
    assert set(operations(client)) == {*CHANGES, *EXEMPT}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_noted_once_with_who_made_it(name: str, client: TestClient, database: Database):
    place = Workplace(client, database)
    path, options = CHANGES[name](place)
    before = entries(database)

    place.ask(operations(client)[name].upper(), path, **options)

    (noted,) = entries(database)[len(before) :]
    assert noted[0] == "tests"


def test_what_is_refused_notes_nothing(client: TestClient, database: Database):
    place = Workplace(client, database)
    place.dataset()
    before = entries(database)

    assert client.post(f"{ROOT}/datasets", json={"name": "rows", "rows": ROWS}).status_code == 409
    assert client.post(f"{ROOT}/tasks", json=numbers_task(2, "nobody")).status_code == 422

    assert entries(database) == before


def test_every_creation_takes_an_idempotency_key_but_that_of_secrets_and_of_projects(
    client: TestClient,
):
    posts = [
        methods["post"] for methods in described(client)["paths"].values() if "post" in methods
    ]
    creating = {post["operationId"] for post in posts if "201" in post["responses"]}
    taking = {
        post["operationId"]
        for post in posts
        if any(one["name"] == "Idempotency-Key" for one in post.get("parameters", ()))
    }

    assert len(taking) > 8
    assert creating - taking == {"create_api_key", "create_project"}


@pytest.mark.parametrize(
    "name",
    "create_dataset add_traces_to_dataset upload_dataset upload_dataset_version create_dataset_version create_evaluator "
    "duplicate_evaluator create_task duplicate_task start_run repeat_run".split(),
)
def test_a_creation_that_is_sent_again_is_done_once(
    name: str, client: TestClient, database: Database
):
    path, options = CHANGES[name](Workplace(client, database))
    before = len(entries(database))

    answers = [
        client.post(f"{ROOT}{path}", headers={"Idempotency-Key": "mine"}, **options)
        for _ in range(2)
    ]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content
    assert len(entries(database)) == before + 1
