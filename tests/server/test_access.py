"""Nobody does what their key does not say, and keys end when they are told to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.testclient import TestClient

from callers import new_client
from scorewright.api.access import COOKIE, PUBLIC, allow
from scorewright.api.context import Context
from scorewright.api.failures import FORGOTTEN_S, MAX_ADDRESSES, MAX_FAILURES, Failures
from scorewright.domain.errors import UsageError
from scorewright.services.access import ensure_first_key, make_general_key
from scorewright.services.settings import Settings
from scorewright.storage.database import Database
from scorewright.storage.tables import api_keys, audit, projects, sessions
from scorewright.storage.tables.metadata import new_id, now_us

KEYS = "/api/v1/projects/default/api-keys"
AUDIT = "/api/v1/projects/default/audit"


def make_key(client: TestClient, *scopes: str, **members: Any) -> dict[str, Any]:
    answer = client.post(KEYS, json={"name": "a key", "scopes": scopes, **members})
    assert answer.status_code == 201, answer.text
    return answer.json()


def status(client: TestClient, method: str, path: str, secret: str, **options: Any) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return client.request(method, path, headers=headers, **options).status_code


@pytest.fixture
def stranger(client: TestClient, database: Database) -> TestClient:
    """A caller without a key, of a server where there are keys."""
    del client
    return new_client(database, secret="")


def test_every_route_is_public_by_name_or_checks_a_scope(client: TestClient):
    app = client.app
    assert isinstance(app, FastAPI)
    unchecked: set[str | None] = set()
    seen = 0
    for route in iter_route_contexts(app.routes):
        seen += 1
        dependant = getattr(route, "dependant", None) if isinstance(route.route, APIRoute) else None
        calls = [one.call for one in dependant.dependencies] if dependant else []
        if allow not in calls:
            unchecked.add(route.path)

    assert seen > 8
    assert unchecked == PUBLIC


@pytest.mark.parametrize("path", ["/", "/nothing", "/metrics", KEYS, "/v1/traces", "/docs"])
@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer sw_wrong"}, {"Cookie": "x=y"}])
def test_without_a_key_everything_is_refused(
    path: str, header: dict[str, str], stranger: TestClient
):
    answer = stranger.get(path, headers=header)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_is_not_read_for_nobody(stranger: TestClient):
    assert stranger.post(KEYS, content=b"{" * 100).status_code == 401


def test_a_secret_is_shown_once_and_stored_hashed(client: TestClient, database: Database):
    made = make_key(client, "read")

    (listed,) = [key for key in client.get(KEYS).json()["items"] if key["id"] == made["id"]]
    with database.read() as connection:
        stored = str(connection.execute(sa.select(api_keys)).all())
    assert made["secret"].startswith(listed["prefix"])
    assert len(made["secret"]) > 43
    assert "secret" not in listed
    assert made["secret"] not in stored


@pytest.mark.parametrize(
    ("scope", "can_list", "can_create"),
    [("read", 403, 403), ("write", 403, 403), ("ingest", 403, 403), ("admin", 200, 201)],
)
def test_only_admin_keys_handle_keys(
    scope: str, can_list: int, can_create: int, client: TestClient
):
    secret = make_key(client, scope)["secret"]

    assert status(client, "GET", KEYS, secret) == can_list
    body = {"name": "other", "scopes": ["read"]}
    assert status(client, "POST", KEYS, secret, json=body) == can_create


@pytest.mark.parametrize(
    ("scope", "expected"), [("read", 200), ("write", 200), ("ingest", 403), ("admin", 200)]
)
def test_reading_needs_a_scope_that_reads(scope: str, expected: int, client: TestClient):
    assert status(client, "GET", "/metrics", make_key(client, scope)["secret"]) == expected


def test_a_key_ends_when_it_is_revoked_and_its_sessions_with_it(
    client: TestClient, database: Database
):
    made = make_key(client, "admin")
    browser = new_client(database, secret="")
    assert browser.post("/api/v1/session", json={"token": made["secret"]}).status_code == 204
    assert browser.get(KEYS).status_code == 200

    assert client.delete(f"{KEYS}/{made['id']}").status_code == 204

    assert status(client, "GET", KEYS, made["secret"]) == 401
    assert browser.get(KEYS).status_code == 401
    assert client.delete(f"{KEYS}/{made['id']}").status_code == 204
    (listed,) = [key for key in client.get(KEYS).json()["items"] if key["id"] == made["id"]]
    assert listed["revoked_at"] is not None
    assert client.delete(f"{KEYS}/{new_id()}").status_code == 404


def test_a_key_ends_when_its_time_has_come(client: TestClient, database: Database):
    soon = datetime.now(UTC) + timedelta(hours=1)
    made = make_key(client, "admin", expires_at=soon.isoformat())
    assert made["expires_at"] == soon.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert status(client, "GET", KEYS, made["secret"]) == 200

    with database.write() as connection:
        ended = api_keys.update().where(api_keys.c.id == made["id"])
        connection.execute(ended.values(expires_us=now_us()))

    assert status(client, "GET", KEYS, made["secret"]) == 401


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": "", "scopes": ["read"]}, "/name"),
        ({"name": "x" * 129, "scopes": ["read"]}, "/name"),
        ({"name": "x", "scopes": []}, "/scopes"),
        ({"name": "x", "scopes": ["root"]}, "/scopes/0"),
        ({"name": "x", "scopes": ["read"], "expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"name": "x", "scopes": ["read"], "expires_at": "2090-01-01T00:00:00"}, "/expires_at"),
        ({"name": "x", "scopes": ["read"], "project": "y"}, "/project"),
    ],
)
def test_a_key_that_cannot_be_is_refused(body: Any, pointer: str, client: TestClient):
    answer = client.post(KEYS, json=body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_key_is_good_for_its_project_alone(client: TestClient, database: Database):
    with database.write() as connection:
        connection.execute(projects.insert().values(id=new_id(), name="other", created_us=now_us()))
    foreign = "/api/v1/projects/other/api-keys"
    secret = make_key(client, "admin")["secret"]
    elsewhere = client.post(foreign, json={"name": "theirs", "scopes": ["admin"]}).json()

    assert status(client, "GET", KEYS, secret) == 200
    assert status(client, "GET", foreign, secret) == 404
    assert status(client, "GET", "/api/v1/projects/none/api-keys", secret) == 404
    assert status(client, "DELETE", f"{KEYS}/{elsewhere['id']}", secret) == 404
    headers = {"Authorization": f"Bearer {secret}"}
    seen = client.get(KEYS, headers=headers).json()["items"]
    assert not any(key["all_projects"] for key in seen)
    assert any(key["all_projects"] for key in client.get(KEYS).json()["items"])


def test_keys_are_listed_in_pages_newest_first(client: TestClient):
    made = [make_key(client, "read", name=f"key {number}")["id"] for number in range(5)]

    first = client.get(KEYS, params={"limit": 3}).json()
    rest = client.get(KEYS, params={"limit": 3, "cursor": first["next_cursor"]}).json()

    seen = [key["id"] for key in [*first["items"], *rest["items"]]]
    assert sorted(seen, reverse=True) == seen
    assert set(made) <= set(seen)
    assert rest["next_cursor"] is None


def test_when_a_key_was_used_is_written_when_the_server_stops(
    client: TestClient, database: Database
):
    made = make_key(client, "admin")
    assert made["last_used_at"] is None

    with new_client(database, secret=made["secret"]) as other:
        other.get(KEYS)

    (listed,) = [key for key in client.get(KEYS).json()["items"] if key["id"] == made["id"]]
    assert listed["last_used_at"] is not None


def test_the_login_link_becomes_a_session_that_scripts_do_not_see(
    stranger: TestClient, database: Database
):
    token = make_general_key(database, "link").secret

    answer = stranger.get("/login", params={"token": token}, follow_redirects=False)

    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert token not in cookie
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert stranger.get(KEYS).status_code == 200
    home = stranger.get("/")  # where the link leads
    assert (home.status_code, "/openapi.json" in home.text) == (200, True)
    with database.read() as connection:
        (login,) = connection.execute(sa.select(audit).where(audit.c.action == "login"))
    assert login.actor_name == "link"
    secret = stranger.cookies[COOKIE]
    assert stranger.delete("/api/v1/session").status_code == 204
    assert stranger.get(KEYS, headers={"Cookie": f"{COOKIE}={secret}"}).status_code == 401


def test_a_session_ends_by_itself(stranger: TestClient, database: Database):
    token = make_general_key(database, "link").secret
    stranger.post("/api/v1/session", json={"token": token})
    assert stranger.get(KEYS).status_code == 200

    with database.write() as connection:
        connection.execute(sessions.update().values(expires_us=now_us()))

    assert stranger.get(KEYS).status_code == 401


def test_another_site_cannot_log_its_visitor_in(stranger: TestClient, database: Database):
    token = make_general_key(database, "link").secret

    answer = stranger.get(
        "/login",
        params={"token": token},
        headers={"Sec-Fetch-Site": "cross-site"},
        follow_redirects=False,
    )

    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_whoever_tries_keys_has_to_wait(client: TestClient, stranger: TestClient):
    tries = [stranger.post("/api/v1/session", json={"token": "x"}) for _ in range(MAX_FAILURES + 1)]

    assert [answer.status_code for answer in tries] == [401] * MAX_FAILURES + [429]
    assert int(tries[-1].headers["retry-after"]) >= 1
    # The same goes for keys; the right one of somebody else at the same address still works.
    wrong = {"Authorization": "Bearer wrong"}
    seen = [client.get(KEYS, headers=wrong).status_code for _ in range(MAX_FAILURES)]
    assert seen == [401] * (MAX_FAILURES - 1) + [429]
    assert client.get(KEYS).status_code == 200


def test_failures_are_forgotten_and_counted_in_bounded_memory():
    now_s = 0.0
    failures = Failures(lambda: now_s)
    for _ in range(MAX_FAILURES):
        failures.add("2001:db8::1")

    assert failures.wait_s("2001:db8::ffff") > 0
    assert failures.wait_s("2001:db8:0:1::1") == 0
    now_s += failures.wait_s("2001:db8::1")
    assert failures.wait_s("2001:db8::1") == 0
    now_s += MAX_FAILURES * FORGOTTEN_S
    for number in range(2 * MAX_ADDRESSES):
        failures.add(str(number))
    assert len(failures) == MAX_ADDRESSES


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:8321", 200),
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("[::1]:8321", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("", 421),
        ("localhost@evil.example", 421),
    ],
)
def test_the_server_is_asked_by_its_own_name_alone(host: str, expected: int, client: TestClient):
    assert client.get(KEYS, headers={"Host": host}).status_code == expected
    assert client.get("/healthz", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({}, 201),
        ({"Origin": "http://127.0.0.1:8321"}, 201),
        ({"Origin": "https://127.0.0.1:8321"}, 201),
        ({"Origin": "http://127.0.0.1:9"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_pages_of_other_origins_change_nothing(
    headers: dict[str, str], expected: int, client: TestClient
):
    body = {"name": "x", "scopes": ["read"]}

    assert client.post(KEYS, json=body, headers=headers).status_code == expected
    if expected == 403:
        listed = client.get(KEYS).json()["items"]
        assert "x" not in {key["name"] for key in listed}


def test_every_answer_has_safe_headers_and_an_id(client: TestClient):
    for path in ("/healthz", KEYS, "/nothing", "/api/v1/projects/none/audit"):
        answer = client.get(path, headers={"X-Request-Id": "abc-1"})
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["x-request-id"] == "abc-1"
        assert "access-control-allow-origin" not in answer.headers
    odd = client.get("/healthz", headers={"X-Request-Id": "a b\tc" * 50})
    assert len(odd.headers["x-request-id"]) == 32


def test_what_is_done_to_keys_is_noted_with_who_did_it(client: TestClient):
    made = make_key(client, "admin")
    as_made = {"Authorization": f"Bearer {made['secret']}", "X-Request-Id": "req-7"}
    client.delete(f"{KEYS}/{made['id']}", headers=as_made)

    newest, before = client.get(AUDIT, params={"limit": 2}).json()["items"]
    assert (newest["action"], newest["kind"], newest["target_id"]) == (
        "revoke",
        "api_key",
        made["id"],
    )
    assert (newest["actor_id"], newest["request_id"]) == (made["id"], "req-7")
    assert (before["action"], before["actor_name"]) == ("create", "tests")
    assert made["secret"] not in client.get(AUDIT).text


def test_the_first_key_is_made_once(database: Database):
    first = ensure_first_key(database)

    assert first is not None
    assert first.key.scopes == ("admin",)
    assert ensure_first_key(database) is None
    with database.read() as connection:
        assert connection.scalar(sa.select(audit.c.actor_id)) == "system"


def test_without_authentication_everybody_may_do_everything(database: Database, client: TestClient):
    del client
    context = Context(database, settings=Settings(no_auth=True))

    assert new_client(context, secret="").get(KEYS).status_code == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])  # noqa: S104 - refused
def test_no_authentication_is_refused_where_others_reach_the_server(host: str):
    with pytest.raises(UsageError, match="no-auth"):
        Settings(no_auth=True, host=host)
