"""Datasets over the API: what comes in goes out, versions never change, nobody overwrites anybody."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import threading
from typing import Any

import polars as pl
import pytest
from starlette.testclient import TestClient

from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id
from scorewright.storage.tables import dataset_rows, dataset_versions, projects

ROOT = "/api/v1/projects/default/datasets"
ROWS: list[dict[str, Any]] = [
    {"input": "Boots?", "expected": "Yes.", "price": 40},
    {"input": "Hats?", "expected": None, "price": 12.5, "seen": {"by": ["a"]}},
    {"input": "Gloves?", "expected": "No.", "price": 2**70},
]


def create(client: TestClient, name: str = "answers", **more: Any) -> dict[str, Any]:
    answer = client.post(ROOT, json={"name": name, "rows": ROWS, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def upload(client: TestClient, content: bytes, filename: str, path: str = "/upload", **form: Any):
    return client.post(ROOT + path, files={"file": (filename, content)}, data=form)


def rows_of(client: TestClient, name: str, version: str = "latest") -> list[Any]:
    answer = client.get(f"{ROOT}/{name}/versions/{version}/download")
    assert answer.status_code == 200
    return [json.loads(line) for line in answer.content.splitlines()]


def test_rows_come_back_as_they_went_in(client: TestClient):
    made = create(client, display_name="Answers", description="of the shop", tags=["b", "a", "b"])

    latest = made["latest_version"]
    assert (made["name"], made["display_name"], made["tags"]) == ("answers", "Answers", ["b", "a"])
    assert (latest["number"], latest["rows"]) == (1, 3)
    assert [(c["name"], c["type"], c["nulls"]) for c in latest["columns"]] == [
        ("input", "string", 0),
        ("expected", "string", 1),
        ("price", "number", 0),
        ("seen", "json", 2),
    ]
    assert rows_of(client, "answers") == ROWS
    assert client.get(f"{ROOT}/ANSWERS").json() == made
    assert client.get(f"{ROOT}/{made['id']}").json() == made
    page = client.get(f"{ROOT}/answers/versions/1/rows").json()
    assert page == {
        "items": [{"number": n, "data": row} for n, row in enumerate(ROWS, 1)],
        "next_cursor": None,
    }


def test_the_digest_is_that_of_the_download(client: TestClient):
    latest = create(client)["latest_version"]

    content = client.get(f"{ROOT}/answers/versions/latest/download").content

    assert hashlib.sha256(content).hexdigest() == latest["digest"]
    assert len(content) == latest["bytes"]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet"])
def test_a_file_of_each_form_becomes_a_dataset(form: str, *, packed: bool, client: TestClient):
    rows = [{"input": f"Boots {n}?", "shop": "north"} for n in range(1, 4)]
    frame = pl.DataFrame(rows)
    parquet = io.BytesIO()
    frame.write_parquet(parquet)
    content = {
        "jsonl": frame.write_ndjson().encode(),
        "json": json.dumps(rows, indent=1).encode(),
        "csv": frame.write_csv().encode(),
        "parquet": parquet.getvalue(),
    }[form]
    filename = f"My answers.{form}{'.gz' if packed else ''}"

    answer = upload(client, gzip.compress(content) if packed else content, filename, tags=["x"])

    assert answer.status_code == 201, answer.text
    assert answer.json()["name"] == "my-answers"
    assert answer.json()["tags"] == ["x"]
    assert answer.json()["latest_version"]["notices"] == []
    assert rows_of(client, "my-answers") == rows


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_download_can_be_uploaded_again(form: str, client: TestClient):
    create(client)
    content = client.get(f"{ROOT}/answers/versions/1/download", params={"format": form})
    assert f'filename="answers-v1.{form}"' in content.headers["content-disposition"]

    answer = upload(client, content.content, f"again.{form}")

    assert answer.status_code == 201, answer.text
    again = rows_of(client, "again")
    assert [row["input"] for row in again] == ["Boots?", "Hats?", "Gloves?"]
    assert json.loads(again[1]["seen"]) if form == "parquet" else again[1]["seen"] == {"by": ["a"]}


@pytest.mark.parametrize("rows", [[], [{}], [{"n": 2**70}], [{"n": None}], [{"n": True, "m": -1}]])
def test_odd_rows_have_a_file_in_every_form(rows: list[Any], client: TestClient):
    assert client.post(ROOT, json={"name": "odd", "rows": rows}).status_code == 201

    for form in ("jsonl", "csv", "parquet"):
        answer = client.get(f"{ROOT}/odd/versions/1/download", params={"format": form})
        assert answer.status_code == 200
        if form == "parquet" and rows not in ([], [{}]):
            assert pl.read_parquet(answer.content).height == len(rows)


@pytest.mark.parametrize(
    ("content", "filename", "said"),
    [
        (b'{"a": 1}\n{"a": \n', "rows.jsonl", "rows.jsonl: 1 bad line"),
        (b"", "rows.csv", "rows.csv: empty file"),
        (b"\x89PNG\r\n", "../../etc/x.png", "x.png: not a dataset but an image"),
        (gzip.compress(b'{"a": 1}\n' * 99, mtime=0)[:-12], "rows.jsonl.gz", "ends too early"),
        (
            gzip.compress(gzip.compress(b'{"a": 1}\n', mtime=0), mtime=0),
            "rows.jsonl.gz",
            "gzip inside gzip",
        ),
        (
            gzip.compress(b"{}", mtime=0)[:10] + b"\xff" * 30,
            "rows.jsonl.gz",
            "gzip data is damaged",
        ),
        (b"PAR1nothing", "rows.parquet", "cannot be read as Parquet"),
    ],
)
def test_a_file_that_is_no_dataset_is_refused_by_the_name_it_was_sent_under(
    content: bytes, filename: str, said: str, client: TestClient
):
    answer = upload(client, content, filename)

    problem = answer.json()
    assert answer.status_code == 422
    assert problem["errors"][0]["pointer"] == "/file"
    assert said in problem["detail"]
    assert "upload" not in problem["detail"]
    assert client.get(ROOT).json()["items"] == []


def test_pages_hold_every_row_once_and_in_order(client: TestClient):
    content = b"".join(b'{"n": %d}\n' % n for n in range(1, 12_001))
    assert upload(client, content, "many.jsonl").status_code == 201

    numbers: list[int] = []
    cursor = None
    while True:
        page = client.get(
            f"{ROOT}/many/versions/latest/rows",
            params={"limit": 500, **({"cursor": cursor} if cursor else {})},
        ).json()
        numbers += [item["data"]["n"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert numbers == list(range(1, 12_001))
    assert client.get(f"{ROOT}/many/versions/latest/download").content == content


def test_a_page_of_large_rows_is_short(client: TestClient):
    row = json.dumps({"text": "x" * 3_000_000}).encode()
    assert upload(client, (row + b"\n") * 5, "large.jsonl").status_code == 201

    page = client.get(f"{ROOT}/large/versions/1/rows").json()

    assert [item["number"] for item in page["items"]] == [1, 2]
    assert page["next_cursor"]


def test_a_new_version_leaves_the_old_one_as_it_was(client: TestClient):
    create(client)

    second = upload(
        client, b'{"input": "New?"}\n', "v2.jsonl", "/answers/versions/upload", note="n"
    )
    third = client.post(f"{ROOT}/answers/versions", json={"rows": [{"a": 1}], "note": "third"})

    assert (second.status_code, third.status_code) == (201, 201)
    assert (second.json()["number"], third.json()["number"]) == (2, 3)
    assert rows_of(client, "answers", "1") == ROWS
    assert rows_of(client, "answers", "2") == [{"input": "New?"}]
    assert rows_of(client, "answers") == [{"a": 1}]
    listed = client.get(f"{ROOT}/answers/versions", params={"limit": 2}).json()
    assert [version["number"] for version in listed["items"]] == [3, 2]
    rest = client.get(f"{ROOT}/answers/versions", params={"cursor": listed["next_cursor"]}).json()
    assert [version["number"] for version in rest["items"]] == [1]
    assert client.get(f"{ROOT}/answers/versions/4").status_code == 404
    assert client.get(f"{ROOT}/answers/versions/{2**40}").status_code == 404
    assert client.get(f"{ROOT}/answers/versions/first").status_code == 422


def test_edited_rows_are_a_new_version(client: TestClient):
    made = client.post(ROOT, json={"name": "numbers", "rows": [{"n": n} for n in range(1, 8)]})
    changes = [
        {"op": "delete", "number": 2},
        {"op": "set", "number": 1, "data": {"n": "one"}},
        {"op": "append", "data": {"m": 8}},
        {"op": "delete", "number": 7},
        {"op": "set", "number": 5, "data": {"n": 50}},
    ]

    answer = client.patch(
        f"{ROOT}/numbers/rows",
        json={"changes": changes, "note": "mended"},
        headers={"If-Match": made.headers["etag"]},
    )

    version = answer.json()
    assert answer.status_code == 201, answer.text
    edited = [{"n": "one"}, {"n": 3}, {"n": 4}, {"n": 50}, {"n": 6}, {"m": 8}]
    assert rows_of(client, "numbers") == edited
    assert rows_of(client, "numbers", "1") == [{"n": n} for n in range(1, 8)]
    assert (version["number"], version["rows"], version["note"]) == (2, 6, "mended")
    assert [(c["name"], c["type"], c["nulls"]) for c in version["columns"]] == [
        ("n", "mixed", 1),
        ("m", "integer", 5),
    ]
    content = client.get(f"{ROOT}/numbers/versions/2/download").content
    assert hashlib.sha256(content).hexdigest() == version["digest"]
    assert answer.headers["etag"] == client.get(f"{ROOT}/numbers").headers["etag"]


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"op": "set", "number": 4, "data": {}}, "/changes/0/number"),
        ({"op": "delete", "number": 0}, "/changes/0/number"),
        ({"op": "append", "data": []}, "/changes/0/data"),
        ({"op": "append", "data": {}, "number": 1}, "/changes/0/number"),
        ({"op": "move"}, "/changes/0/op"),
    ],
)
def test_a_change_that_cannot_be_is_pointed_at(
    change: dict[str, Any], pointer: str, client: TestClient
):
    create(client)

    answer = client.patch(
        f"{ROOT}/answers/rows", json={"changes": [change]}, headers={"If-Match": "*"}
    )

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert client.get(f"{ROOT}/answers").json()["latest_version"]["number"] == 1


def test_of_two_who_edit_the_same_state_one_is_told(client: TestClient):
    seen = client.get(f"{ROOT}/{create(client)['name']}").headers["etag"]
    body = {"changes": [{"op": "delete", "number": 1}]}

    answers = [
        client.patch(f"{ROOT}/answers/rows", json=body, headers={"If-Match": seen}).status_code
        for _ in range(2)
    ]

    assert answers == [201, 412]
    patched = client.patch(f"{ROOT}/answers", json={"tags": []}, headers={"If-Match": seen})
    assert patched.status_code == 412
    assert client.delete(f"{ROOT}/answers", headers={"If-Match": seen}).status_code == 412
    assert client.delete(f"{ROOT}/answers").status_code == 428
    assert client.patch(f"{ROOT}/answers", json={"tags": []}).status_code == 428


def test_editors_at_the_same_time_lose_nothing(client: TestClient):
    create(client)
    body = {"changes": [{"op": "append", "data": {"input": "more"}}]}
    statuses: list[int] = []

    def edit() -> None:
        for _ in range(3):
            seen = client.get(f"{ROOT}/answers").headers["etag"]
            answer = client.patch(f"{ROOT}/answers/rows", json=body, headers={"If-Match": seen})
            statuses.append(answer.status_code)

    threads = [threading.Thread(target=edit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    done = statuses.count(201)
    assert done >= 3
    assert statuses.count(412) == 12 - done
    assert len(rows_of(client, "answers")) == 3 + done
    assert client.get(f"{ROOT}/answers").json()["latest_version"]["number"] == 1 + done


def test_of_several_who_make_the_same_name_one_wins(client: TestClient, database: Database):
    statuses: list[int] = []

    def make(name: str) -> None:
        statuses.append(client.post(ROOT, json={"name": name, "rows": ROWS}).status_code)

    threads = [threading.Thread(target=make, args=(name,)) for name in ("one", "ONE", "One", "oNe")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(statuses) == [201, 409, 409, 409]
    with database.read() as connection:
        assert len(connection.execute(dataset_versions.select()).all()) == 1
        assert len(connection.execute(dataset_rows.select()).all()) == 3


def test_a_deleted_dataset_comes_back_whole_and_keeps_its_name(client: TestClient):
    made = create(client)

    assert client.delete(f"{ROOT}/answers", headers={"If-Match": '"1"'}).status_code == 204

    assert client.get(ROOT).json()["items"] == []
    assert [one["id"] for one in client.get(ROOT, params={"deleted": True}).json()["items"]] == [
        made["id"]
    ]
    assert client.get(f"{ROOT}/answers").json()["deleted_at"]
    taken = client.post(ROOT, json={"name": "Answers", "rows": []})
    assert taken.status_code == 409
    assert "restore it" in taken.json()["detail"]
    assert taken.json()["errors"][0]["pointer"] == "/name"
    refused = [
        client.post(f"{ROOT}/answers/versions", json={"rows": []}),
        upload(client, b"{}\n", "v.jsonl", "/answers/versions/upload"),
        client.patch(f"{ROOT}/answers", json={"tags": []}, headers={"If-Match": "*"}),
        client.delete(f"{ROOT}/answers", headers={"If-Match": "*"}),
        client.patch(
            f"{ROOT}/answers/rows",
            json={"changes": [{"op": "delete", "number": 1}]},
            headers={"If-Match": "*"},
        ),
    ]
    assert [answer.status_code for answer in refused] == [409] * 5

    assert client.post(f"{ROOT}/answers/restore").json()["deleted_at"] is None
    assert client.post(f"{ROOT}/answers/restore").status_code == 200
    assert rows_of(client, "answers") == ROWS
    assert len(client.get(ROOT).json()["items"]) == 1


def test_lists_are_filtered_and_paged_newest_first(client: TestClient):
    for n in range(5):
        create(client, f"set-{n}", description="50%_" if n == 3 else "", tags=[f"t{n % 2}"])

    first = client.get(ROOT, params={"limit": 3}).json()
    rest = client.get(ROOT, params={"limit": 3, "cursor": first["next_cursor"]}).json()

    names = [one["name"] for one in first["items"] + rest["items"]]
    assert names == ["set-4", "set-3", "set-2", "set-1", "set-0"]
    assert rest["next_cursor"] is None

    def found(**params: str) -> list[str]:
        return [one["name"] for one in client.get(ROOT, params=params).json()["items"]]

    assert found(tag="t1") == ["set-3", "set-1"]
    assert found(tag="t") == []
    assert found(q="SET-2") == ["set-2"]
    assert found(q="50%_") == ["set-3"]
    assert found(q="%") == ["set-3"]
    assert found(q="et-_") == []
    assert client.get(ROOT, params={"cursor": "nothing"}).status_code == 422


def test_what_is_said_about_a_dataset_can_be_changed(client: TestClient):
    create(client, description="old", tags=["a"])

    answer = client.patch(
        f"{ROOT}/answers",
        json={"display_name": "New", "tags": ["b\0"]},
        headers={"If-Match": '"1"'},
    )

    changed = answer.json()
    assert answer.status_code == 200
    assert answer.headers["etag"] == '"2"'
    assert (changed["display_name"], changed["description"]) == ("New", "old")
    assert changed["tags"] == ["b\ufffd"]
    assert changed["latest_version"]["number"] == 1


BODIES: list[tuple[dict[str, Any], str | None]] = [
    ({"rows": []}, None),
    ({"name": "1st", "rows": []}, "/name"),
    ({"name": "a/b", "rows": []}, "/name"),
    ({"name": "a\0", "rows": []}, "/name"),
    ({"name": "ä", "rows": []}, "/name"),
    ({"name": "x" * 129, "rows": []}, "/name"),
    ({"name": "a"}, "/rows"),
    ({"name": "a", "rows": [1]}, "/rows/0"),
    ({"name": "a", "rows": [{}] * 10_001}, "/rows"),
    ({"name": "a", "rows": [], "nothing": 1}, "/nothing"),
    ({"name": "a", "rows": [], "tags": [""]}, "/tags/0"),
    ({"name": "a", "rows": [], "description": "x" * 513}, "/description"),
]


@pytest.mark.parametrize(("body", "pointer"), BODIES)
def test_a_body_that_does_not_fit_is_pointed_at(
    body: dict[str, Any], pointer: str | None, client: TestClient
):
    answer = client.post(ROOT, json=body)

    if pointer is None:
        assert answer.json()["name"] == "dataset"
    else:
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize(
    "rows", ['[{"a": NaN}]', '[{"a": "\\ud800"}]', '[{"a\\u0000": "\\u0000"}]', '[{"a": 1e999}]']
)
def test_values_that_json_has_no_form_for_are_mended(rows: str, client: TestClient):
    answer = client.post(
        ROOT,
        content=f'{{"name": "odd", "rows": {rows}}}',
        headers={"Content-Type": "application/json"},
    )

    assert answer.status_code == 201, answer.text
    assert client.get(f"{ROOT}/odd/versions/1/rows").status_code == 200


def test_a_body_that_is_no_json_is_refused(client: TestClient):
    for content in (b"{", b"", b"\xff", b"[" * 100_000):
        answer = client.post(ROOT, content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422)
        assert answer.headers["content-type"] == "application/problem+json"


def test_another_projects_datasets_are_not_there(client: TestClient, database: Database):
    made = create(client)
    with database.write() as connection:
        connection.execute(projects.insert().values(id="f" * 32, name="other", created_us=1))
    assert project_id(database, "other") == "f" * 32
    other = ROOT.replace("default", "other")

    for named in ("answers", made["id"]):
        assert client.get(f"{other}/{named}").status_code == 404
        assert client.get(f"{other}/{named}/versions/1/rows").status_code == 404
        assert client.get(f"{other}/{named}/versions/1/download").status_code == 404
        headers = {"If-Match": "*"}
        assert client.delete(f"{other}/{named}", headers=headers).status_code == 404
    assert client.get(other).json()["items"] == []
    assert client.post(other, json={"name": "answers", "rows": []}).status_code == 201
    for named in ("x" * 129, "%00", "a b"):
        assert client.get(f"{ROOT}/{named}").status_code in (404, 422)
