"""Saved evaluators: names, versions, edits, deletion. On SQLite and PostgreSQL."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from evaluator_calls import (
    EVALUATORS,
    SOURCE,
    create,
    delete,
    edit,
    names,
    pointers,
    saved,
)
from scorewright.storage.database import Database
from scorewright.storage.tables import projects
from scorewright.storage.tables.metadata import new_id, now_us


def at_once(calls: list[Callable[[], int]]) -> list[int]:
    """Make calls from threads that start together; return the statuses in ascending order."""
    statuses: list[int] = []
    gate = threading.Barrier(len(calls))

    def run(call: Callable[[], int]) -> None:
        gate.wait()
        statuses.append(call())

    threads = [threading.Thread(target=run, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(statuses)


def test_a_saved_evaluator_is_got_by_id_and_by_name_with_its_version(client: TestClient):
    answer = create(client, "exact-match", display_name="Exact", tags=["format", "json"])
    made = answer.json()

    assert answer.headers["location"] == f"{EVALUATORS}/exact-match"
    assert (made["convention"], made["level"], made["language"]) == (
        "variables",
        "record",
        "python",
    )
    assert (made["type"], made["latest_version"], made["deleted_at"]) == ("code", 1, None)
    assert [one["name"] for one in made["version"]["variables"]] == ["output", "expected"]
    assert made["created_at"].endswith("Z")
    for named in (made["id"], "exact-match", "EXACT-Match"):
        got = client.get(f"{EVALUATORS}/{named}")
        assert got.json() == made
        assert got.headers["etag"] == '"1"'


def test_the_name_is_made_of_the_display_name_where_none_is_given(client: TestClient):
    answer = client.post(EVALUATORS, json={"source": SOURCE, "display_name": "Größe 2!"})

    assert answer.json()["name"] == "groe-2"
    again = client.post(EVALUATORS, json={"source": SOURCE, "display_name": "Größe 2?"})
    assert again.status_code == 409
    assert '"groe-2-2"' in again.json()["detail"]


@pytest.mark.parametrize("taken", ["exact-match", "EXACT-MATCH", "Exact-Match"])
def test_a_name_is_taken_in_any_letter_case(taken: str, client: TestClient):
    saved(client)

    answer = create(client, taken)

    assert answer.status_code == 409
    assert pointers(answer) == ["/name"]
    assert names(client) == ["exact-match"]


def test_each_project_has_names_of_its_own_and_sees_no_others(
    client: TestClient, database: Database
):
    with database.write() as connection:
        connection.execute(projects.insert().values(id=new_id(), name="two", created_us=now_us()))
    made = saved(client, tags=["a"])
    other = EVALUATORS.replace("default", "two")

    for named in (made["id"], made["name"]):
        for path in ("", "/versions", "/versions/1", "/usage"):
            assert client.get(f"{other}/{named}{path}").status_code == 404
        for path in ("restore", "duplicate"):
            assert client.post(f"{other}/{named}/{path}", json={}).status_code == 404
        for method in ("PATCH", "DELETE"):
            call = client.request(method, f"{other}/{named}", headers={"If-Match": "*"}, json={})
            assert call.status_code == 404
    assert client.get(other, params={"tag": "a"}).json()["items"] == []
    assert client.post(other, json={"source": SOURCE, "name": made["name"]}).status_code == 201


def test_of_creations_at_once_one_wins(client: TestClient):
    spelt = ["same-name", "Same-Name", "SAME-NAME", "same-NAME"]

    def call(name: str) -> Callable[[], int]:
        return lambda: create(client, name).status_code

    assert at_once([call(name) for name in spelt]) == [201, 409, 409, 409]
    assert len(names(client)) == 1


def test_of_edits_at_once_of_one_state_one_wins_and_no_version_is_lost(client: TestClient):
    saved(client)

    def call(number: int) -> Callable[[], int]:
        source = SOURCE.replace("fine", f"editor {number}")
        return lambda: edit(client, "exact-match", 1, source=source).status_code

    assert at_once([call(number) for number in range(4)]) == [200, 412, 412, 412]
    got = client.get(f"{EVALUATORS}/exact-match").json()
    assert (got["revision"], got["latest_version"], got["version"]["number"]) == (2, 2, 2)


def test_the_second_of_two_editors_is_told_and_changes_nothing(client: TestClient):
    saved(client)
    assert edit(client, "exact-match", 1, description="the first").status_code == 200

    for answer in (
        edit(client, "exact-match", 1, description="the second"),
        delete(client, "exact-match", 1),
    ):
        assert answer.status_code == 412
    for tag, status in ((None, 428), ("x", 412), ('W/"2"', 412), ('"0"', 412)):
        headers = {} if tag is None else {"If-Match": tag}
        body = {"description": "blind"}
        answer = client.patch(f"{EVALUATORS}/exact-match", json=body, headers=headers)
        assert answer.status_code == status
    assert client.delete(f"{EVALUATORS}/exact-match").status_code == 428
    assert client.get(f"{EVALUATORS}/exact-match").json()["description"] == "the first"


def test_what_is_shown_changes_without_a_new_version(client: TestClient):
    saved(client, description="old", tags=["a", "b"])

    changed = edit(
        client, "exact-match", 1, display_name="New", description=None, tags=["b", "c", "b"]
    )

    body = changed.json()
    assert (body["display_name"], body["description"], body["tags"]) == ("New", "", ["b", "c"])
    assert (body["latest_version"], body["revision"]) == (1, 2)
    assert changed.headers["etag"] == '"2"'
    assert names(client, tag=["b", "c"]) == ["exact-match"]
    assert names(client, tag="a") == []


@pytest.mark.parametrize(
    "change",
    [
        {"source": SOURCE + "\n"},
        {"score_range": [0, 100]},
        {"threshold": 0},
        {"mapping": {"output": "answer"}},
        {"mapping": {"output": 1}},
        {"params": [{"key": "expected", "type": "string"}]},
    ],
)
def test_what_decides_about_results_makes_a_new_version_and_the_old_one_stays(
    change: dict[str, Any], client: TestClient
):
    made = saved(client, mapping={"output": True})

    changed = edit(client, "exact-match", 1, **change).json()

    assert (changed["latest_version"], changed["version"]["number"]) == (2, 2)
    assert client.get(f"{EVALUATORS}/exact-match/versions/1").json() == made["version"]
    newest = client.get(f"{EVALUATORS}/exact-match/versions/latest").json()
    assert newest == changed["version"]


def test_a_save_that_changes_nothing_makes_neither_version_nor_revision(client: TestClient):
    made = saved(client, score_range=[0, 10])
    same = {
        "source": "\ufeff" + SOURCE.replace("\n", "\r\n"),
        "score_range": [0.0, 10],
        "threshold": 5,
        "description": "",
        "tags": [],
    }

    assert edit(client, "exact-match", 1, **same).json() == made


def test_what_was_declared_stays_through_edits_until_it_is_taken_back(client: TestClient):
    saved(client, score_range=[0, 10], params=[{"key": "expected", "type": "string"}])

    wider = edit(client, "exact-match", 1, score_range=[0, 100]).json()["version"]
    none = edit(client, "exact-match", 2, score_range=None, params=None).json()["version"]

    assert (wider["threshold"], [param["key"] for param in wider["params"]]) == (50, ["expected"])
    assert (none["score_range"], none["threshold"], none["params"]) == (None, None, [])
    assert [one["name"] for one in none["variables"]] == ["output", "expected"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def evaluate(inputs, outputs, trace, more): return 1", "convention"),
        ("def evaluate(): return 1", "convention"),
    ],
)
def test_convention_and_level_never_change(source: str, said: str, client: TestClient):
    three = "def evaluate(inputs, outputs, trace): return 1"
    saved(client, source=three)

    answer = edit(client, "exact-match", 1, source=source)

    assert (answer.status_code, pointers(answer)) == (422, ["/source"])
    assert said in answer.json()["detail"]
    for field in ("convention", "level", "language", "name", "type"):
        assert pointers(edit(client, "exact-match", 1, **{field: "x"})) == [f"/{field}"]
    trace = saved(client, "of-traces", source="def evaluate(trace: Trace): return 1")
    assert trace["level"] == "trace"
    other = edit(client, "of-traces", 1, source="def evaluate(trace: LLMSpan): return 1")
    assert (other.status_code, pointers(other)) == (422, ["/source"])


def test_a_deleted_one_keeps_its_name_and_can_be_restored(client: TestClient):
    made = saved(client)
    saved(client, "other")

    deleted = delete(client, "exact-match", 1).json()

    assert deleted["deleted_at"] is not None
    assert names(client) == ["other"]
    assert names(client, deleted=True) == ["exact-match"]
    reused = create(client, "Exact-Match")
    assert reused.status_code == 409
    assert "restore" in reused.json()["detail"]
    assert client.get(f"{EVALUATORS}/{made['id']}").json() == deleted
    assert edit(client, "exact-match", 2, description="x").status_code == 409
    assert delete(client, "exact-match", 2).status_code == 409
    restored = client.post(f"{EVALUATORS}/exact-match/restore")
    assert (restored.json()["deleted_at"], restored.headers["etag"]) == (None, '"3"')
    assert client.post(f"{EVALUATORS}/exact-match/restore").json() == restored.json()
    assert names(client) == ["other", "exact-match"]


def test_a_copy_is_a_new_evaluator_of_the_same_version(client: TestClient):
    made = saved(client, display_name="Exact", tags=["a"], score_range=[0, 10])
    edit(client, "exact-match", 1, score_range=[0, 20])
    path = f"{EVALUATORS}/exact-match/duplicate"

    first = client.post(path, json={"version": 1})
    second = client.post(path, json={})
    third = client.post(path, json={"name": "Mine", "display_name": "My own"}).json()

    assert first.headers["location"] == f"{EVALUATORS}/exact-match-copy"
    copy = first.json()
    assert (copy["name"], copy["latest_version"], copy["tags"]) == ("exact-match-copy", 1, ["a"])
    assert copy["version"]["digest"] == made["version"]["digest"]
    assert second.json()["name"] == "exact-match-copy-2"
    assert second.json()["version"]["score_range"] == [0, 20]
    assert (third["name"], third["display_name"]) == ("Mine", "My own")
    assert client.post(path, json={"name": "mine"}).status_code == 409
    assert client.post(path, json={"version": 3}).status_code == 404
    assert pointers(client.post(path, json={"name": "templates"})) == ["/name"]
    changed = edit(client, "exact-match-copy", 1, threshold=1).json()
    assert changed["version"]["score_range"] == [0, 10]


def test_nobody_uses_an_evaluator_yet(client: TestClient):
    saved(client)

    used = client.get(f"{EVALUATORS}/exact-match/usage").json()

    assert used == {"tasks": [], "active_monitors": []}


def test_lists_are_filtered(client: TestClient):
    saved(client, "one", display_name="Straße", tags=["a", "b"])
    saved(client, "two-per", description="100% right", tags=["a"])
    saved(client, "three", source="function evaluate(output) {}", language="javascript")
    saved(client, "four", source="def evaluate(trace: Trace): return 1")

    assert names(client) == ["four", "three", "two-per", "one"]
    assert names(client, search="STRASSE") == ["one"]
    assert names(client, search="0% R") == ["two-per"]
    assert names(client, search="_") == []
    assert names(client, search="%") == ["two-per"]
    assert names(client, search="Two") == ["two-per"]
    assert names(client, tag=["a"]) == ["two-per", "one"]
    assert names(client, tag=["a", "b"]) == ["one"]
    assert names(client, tag="A") == []
    assert names(client, language="javascript") == ["three"]
    assert names(client, level="trace") == ["four"]
    assert names(client, type="code", language="python", search="per") == ["two-per"]
    assert names(client, type="builtin") == []
    assert names(client, search="a\0b", tag="a\0") == []
    assert client.get(EVALUATORS, params={"language": "perl"}).status_code == 422
    assert client.get(EVALUATORS, params={"search": "x" * 201}).status_code == 422


def test_pages_hold_every_evaluator_once_whatever_is_added_meanwhile(client: TestClient):
    for number in range(5):
        saved(client, f"number-{number}")
    first = client.get(EVALUATORS, params={"limit": 2}).json()
    saved(client, "later")

    rest = client.get(EVALUATORS, params={"limit": 3, "cursor": first["next_cursor"]}).json()

    seen = [entry["name"] for entry in (*first["items"], *rest["items"])]
    assert seen == [f"number-{number}" for number in (4, 3, 2, 1, 0)]
    assert rest["next_cursor"] is None


def test_versions_are_listed_newest_first_in_pages(client: TestClient):
    saved(client)
    for number in range(1, 5):
        edit(client, "exact-match", number, threshold=number)
    path = f"{EVALUATORS}/exact-match/versions"

    first = client.get(path, params={"limit": 2}).json()
    rest = client.get(path, params={"limit": 5, "cursor": first["next_cursor"]}).json()

    assert [one["number"] for one in (*first["items"], *rest["items"])] == [5, 4, 3, 2, 1]
    assert rest["next_cursor"] is None
    assert "source" not in first["items"][0]


@pytest.mark.parametrize(
    "named", ["nobody", "no%00body", "x" * 5_000, "0" * 32, "%F0%9F%98%80", "..%2F..", "'; --"]
)
def test_what_is_not_there_is_not_found(named: str, client: TestClient):
    saved(client)

    assert client.get(f"{EVALUATORS}/{named}").status_code == 404
    assert client.get(f"{EVALUATORS}/{named}/versions/latest").status_code == 404


@pytest.mark.parametrize("number", ["0", "2", "-1", "1.0", "01", "x", "9" * 400, "%00"])
def test_a_version_that_is_not_there_is_not_found(number: str, client: TestClient):
    saved(client)

    assert client.get(f"{EVALUATORS}/exact-match/versions/{number}").status_code == 404


@pytest.mark.parametrize("path", ["", "/exact-match/versions"])
@pytest.mark.parametrize(
    "cursor", ["x", "WyIAIl0", "WyJ4Il0", "Wzk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OV0", "W10"]
)
def test_a_foreign_cursor_is_refused_or_finds_nothing_new(
    path: str, cursor: str, client: TestClient
):
    saved(client)

    answer = client.get(EVALUATORS + path, params={"cursor": cursor})

    assert answer.status_code in (200, 422)


def test_an_edit_is_there_as_a_whole_or_not_at_all(client: TestClient, database: Database):
    saved(client)
    with database.write() as connection:
        # The next version cannot be written: its number is taken.
        connection.execute(
            sa.text(
                "INSERT INTO evaluator_versions SELECT :id, project_id, evaluator_id, 2, digest, "
                "source, definition, evaluator, created_us FROM evaluator_versions"
            ),
            {"id": new_id()},
        )

    answer = edit(client, "exact-match", 1, threshold=1, tags=["new"])

    assert answer.status_code == 500
    got = client.get(f"{EVALUATORS}/exact-match").json()
    assert (got["revision"], got["latest_version"], got["tags"]) == (1, 1, [])
