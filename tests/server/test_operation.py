"""What operators rely on: health, figures, logs, limits, and a server that stops when it is told to."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from fastapi import FastAPI
from starlette.testclient import TestClient

from callers import new_client
from databases import new_database, postgres_binaries
from scorewright.api.body_limit import OTHER_PARTS_BYTES
from scorewright.api.context import Context
from scorewright.domain.errors import UsageError
from scorewright.services.readiness import SandboxCheck
from scorewright.services.self_check import Available, Breached, TierCheck, Unavailable
from scorewright.services.settings import Settings, read_settings
from scorewright.storage.database import Database, sqlite_url
from scorewright.storage.repositories.projects import ensure_default_project
from scorewright.storage.schema import migrate
from served import server

KEYS = "/api/v1/projects/default/api-keys"
ROOT = Path(__file__).parents[2]


def check(tier: str, state: Any) -> TierCheck:
    return TierCheck(tier, state, {}, None, 1, 0.0)


@pytest.fixture
def migrated(database_url: str) -> Generator[Database]:
    database = Database(database_url)
    migrate(database)
    ensure_default_project(database)
    yield database
    database.close()


def test_the_first_start_prints_a_link_that_logs_in_and_no_later_one_does(tmp_path: Path):
    home = tmp_path / "home"
    with server(home) as first, httpx.Client(base_url=first.address) as browser:
        assert first.token
        assert browser.get("/healthz").json() == {"status": "ok"}
        assert browser.get(KEYS).status_code == 401
        assert browser.get("/login", params={"token": first.token}).status_code == 303
        assert browser.get(KEYS).status_code == 200
        log = first.stop()
        assert first.process.returncode == 0
        assert first.token not in log
    with server(home) as second:
        assert second.token is None
        headers = {"Authorization": f"Bearer {first.token}"}
        assert httpx.get(second.address + KEYS, headers=headers).status_code == 200
    with server(home, "--login-link") as third:
        assert third.token not in (None, first.token)
        headers = {"Authorization": f"Bearer {third.token}"}
        keys = httpx.get(third.address + KEYS, headers=headers).json()["items"]
        expires_at = {one["name"]: one["expires_at"] for one in keys}
        assert expires_at["first login"] is None
        assert expires_at["login link"] > datetime.now(UTC).isoformat()
    assert home.stat().st_mode & 0o077 == 0


def test_a_request_in_progress_is_finished_when_the_server_is_told_to_stop(tmp_path: Path):
    with server(tmp_path / "home") as running:
        host, port = running.address.removeprefix("http://").split(":")
        body = json.dumps({"name": "late", "scopes": ["read"]}).encode()
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            head = (
                f"POST {KEYS} HTTP/1.1\r\nHost: {host}:{port}\r\nAuthorization: Bearer {running.token}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
                "Expect: 100-continue\r\n\r\n"
            )
            connection.sendall(head.encode())
            # The server asks for the body only once it has begun with the request.
            assert connection.recv(1000).startswith(b"HTTP/1.1 100")
            running.process.send_signal(signal.SIGTERM)
            _wait_until_refused(host, int(port))
            connection.sendall(body)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
        running.process.wait(60)

        assert answer.startswith(b"HTTP/1.1 201"), answer
        assert running.process.returncode == 0


def _wait_until_refused(host: str, port: int) -> None:
    """Wait until a server takes no more requests."""
    while True:
        try:
            with socket.create_connection((host, port), timeout=30) as probe:
                probe.sendall(
                    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                )
                if not probe.recv(100):
                    return
        except OSError:
            return


def test_the_log_is_json_with_ids_and_without_secrets(tmp_path: Path):
    with server(tmp_path / "home") as running:
        headers = {"Authorization": f"Bearer {running.token}", "X-Request-Id": "seen-1"}
        made = httpx.post(
            running.address + KEYS, json={"name": "quiet-name", "scopes": ["read"]}, headers=headers
        ).json()
        httpx.get(running.address + "/login", params={"token": "guessed-token"})
        log = running.stop()

    lines = [json.loads(line) for line in log.splitlines()]
    (request,) = [line for line in lines if line.get("request_id") == "seen-1"]
    assert (request["event"], request["status"]) == ("request", 201)
    assert request["route"] == "/api/v1/projects/{project}/api-keys"
    for secret in (running.token, made["secret"], "quiet-name", "guessed-token"):
        assert secret is not None
        assert secret not in log


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = subprocess.run(
            [sys.executable, "-m", "scorewright", "serve", "--port", str(taken.getsockname()[1])],
            env={**os.environ, "SCOREWRIGHT_HOME": str(tmp_path)},
            capture_output=True,
            check=False,
            text=True,
        )

    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot listen at 127.0.0.1")
    assert done.stderr.count("\n") == 1


def test_no_authentication_on_other_addresses_is_refused(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "scorewright", "serve", "--no-auth", "--host", "0.0.0.0"],  # noqa: S104 - refused
        env={**os.environ, "SCOREWRIGHT_HOME": str(tmp_path / "home")},
        capture_output=True,
        check=False,
        text=True,
    )

    assert done.returncode == 2
    assert "--no-auth" in done.stderr
    assert not (tmp_path / "home").exists()


def test_postgresql_is_not_migrated_unless_told_to(postgres: str, tmp_path: Path):
    from databases import new_database

    url = new_database(postgres)
    command = [sys.executable, "-m", "scorewright", "serve", "--port", "0", "--database", url]
    refused = subprocess.run(command, capture_output=True, check=False, text=True)

    assert refused.returncode == 3
    assert "scorewright migrate" in refused.stderr
    with server(tmp_path, "--database", url, "--migrate") as running:
        assert running.token


@pytest.mark.parametrize(
    ("checks", "ready"),
    [
        ([check("jail", Available()), check("deno", Unavailable("no binary"))], 200),
        ([check("jail", Available()), check("deno", Breached(("fork",)))], 503),
        ([check("jail", Unavailable("no seccomp")), check("deno", Available())], 503),
    ],
)
def test_the_server_is_ready_when_its_sandboxes_hold(
    checks: list[TierCheck], ready: int, migrated: Database
):
    may_end = threading.Event()

    def slowly() -> list[TierCheck]:
        assert may_end.wait(30)
        return checks

    sandboxes = SandboxCheck(slowly)
    caller = new_client(Context(migrated, sandboxes=sandboxes), secret="")
    sandboxes.start()
    early = caller.get("/readyz")
    may_end.set()
    sandboxes.wait()
    later = caller.get("/readyz")

    assert (early.status_code, early.json()["checks"]["runner"]) == (503, "checking")
    assert later.status_code == ready
    assert later.json()["ready"] is (ready == 200)
    assert set(later.json()["checks"]) == {
        "database",
        "migrations",
        "runner.jail",
        "runner.deno",
        "reader",
    }
    assert "seccomp" not in later.text


def test_a_check_of_sandboxes_that_fails_leaves_the_server_not_ready(migrated: Database):
    def fail() -> list[TierCheck]:
        raise OSError("no memory")

    sandboxes = SandboxCheck(fail)
    sandboxes.start()
    sandboxes.wait()

    answer = new_client(Context(migrated, sandboxes=sandboxes), secret="").get("/readyz")

    assert (answer.status_code, answer.json()["checks"]["runner"]) == (503, "failing")


def test_the_server_is_not_ready_without_its_tables_or_its_database(
    database: Database, tmp_path: Path
):
    unmigrated = new_client(database, secret="").get("/readyz")
    gone = new_client(lost_database(tmp_path), secret="").get("/readyz")

    assert unmigrated.json()["checks"] == {
        "database": "ok",
        "migrations": "failing",
        "runner": "not checked",
        "reader": "not checked",
    }
    assert (unmigrated.status_code, gone.status_code) == (503, 503)
    assert gone.json()["checks"]["database"] == "failing"


def test_figures_count_requests_by_the_pattern_of_their_path(client: TestClient):
    client.get(KEYS)
    client.get(f"{KEYS}/nothing")
    client.delete(f"{KEYS}/one")
    client.delete(f"{KEYS}/two")
    client.request("BREW", "/pot")

    text = client.get("/metrics").text

    project = "/api/v1/projects/{project}"
    lines = {
        f'scorewright_requests_total{{method="GET",route="{project}/api-keys",status="200"}} 1.0',
        f'scorewright_requests_total{{method="DELETE",route="{project}/api-keys/{{key_id}}",status="404"}} 2.0',
        'scorewright_requests_total{method="other",route="unmatched",status="404"} 1.0',
    }
    assert lines <= set(text.splitlines())
    assert (
        f'scorewright_request_duration_seconds_count{{method="GET",route="{project}/api-keys"}} 1.0'
        in text
    )


def test_an_error_of_ours_has_an_id_and_safe_headers_too(client: TestClient):
    app = client.app
    assert isinstance(app, FastAPI)

    @app.get("/broken")
    def broken() -> None:  # pyright: ignore[reportUnusedFunction]
        raise ZeroDivisionError

    answer = client.get("/broken", headers={"X-Request-Id": "five-hundred"})

    assert answer.status_code == 500
    assert answer.headers["x-request-id"] == "five-hundred"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_database_that_is_away_is_said_and_the_server_goes_on(tmp_path: Path):
    lost = new_client(lost_database(tmp_path), secret="sw_some")  # noqa: S106 - nobody's
    open_to_all = Context(lost_database(tmp_path), settings=Settings(no_auth=True))

    for caller in (lost, new_client(open_to_all, secret="")):
        answer = caller.get(KEYS)
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert int(answer.headers["retry-after"]) > 0
        assert caller.get("/healthz").status_code == 200


def lost_database(folder: Path) -> Database:
    return Database(sqlite_url(folder / "none" / "x.db"))


def chunks(size: int) -> Iterator[bytes]:
    yield from (b"x" * 1000 for _ in range(size // 1000))


@pytest.mark.parametrize("content", [b"x" * 101_000, 101_000])
def test_a_body_that_is_too_large_is_refused_with_its_length_or_without(
    content: bytes | int, database: Database
):
    ensure_default_project(database)
    caller = new_client(Context(database, settings=Settings(max_body_bytes=100_000)))

    sent = content if isinstance(content, bytes) else chunks(content)
    answer = caller.post(KEYS, content=sent, headers={"Content-Type": "application/json"})

    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert "100000 bytes" in answer.json()["detail"]


def test_a_length_that_is_no_number_is_refused(client: TestClient):
    assert client.post(KEYS, headers={"Content-Length": "-5"}).status_code == 413
    assert client.post(KEYS, headers={"Content-Length": "9" * 5000}).status_code == 413


@pytest.mark.parametrize(
    ("path", "kind", "limit"),
    [
        (
            "/api/v1/projects/default/datasets",
            "multipart/form-data; boundary=x",
            3000 + OTHER_PARTS_BYTES,
        ),
        (
            "/api/v1/projects/default/datasets/a/versions",
            "multipart/form-data; boundary=x",
            3000 + OTHER_PARTS_BYTES,
        ),
        ("/api/v1/projects/default/datasets", "application/json", 1000),
        (KEYS, "multipart/form-data; boundary=x", 1000),
        ("/v1/traces", "application/json", 2000),
    ],
)
def test_uploads_and_traces_have_limits_of_their_own(
    path: str, kind: str, limit: int, database: Database
):
    settings = Settings(max_body_bytes=1000, max_ingest_bytes=2000, max_upload_bytes=3000)
    caller = new_client(Context(database, settings=settings))

    def status(size: int) -> int:
        return caller.post(path, content=b"x" * size, headers={"Content-Type": kind}).status_code

    assert status(limit) != 413
    assert status(limit + 1) == 413


def test_settings_come_from_options_then_the_environment_then_defaults():
    environ = {
        "SCOREWRIGHT_HOME": "/data",
        "SCOREWRIGHT_PORT": "9000",
        "SCOREWRIGHT_ALLOWED_HOSTS": "Eval.example.org, other",
        "SCOREWRIGHT_ALLOWED_ORIGINS": "https://eval.example.org/",
        "SCOREWRIGHT_MAX_BODY_BYTES": "5",
    }

    plain, given = read_settings({}), read_settings(environ, host="::1", port=1)

    assert (plain.host, plain.port) == ("127.0.0.1", 8321)
    assert plain.database_url == "sqlite:///.scorewright/scorewright.db"
    assert (given.host, given.port, given.max_body_bytes) == ("::1", 1, 5)
    assert given.database_url == "sqlite:////data/scorewright.db"
    assert {"eval.example.org", "other", "localhost", "[::1]"} <= given.allowed_hosts
    assert given.allowed_origins == {"https://eval.example.org"}
    assert read_settings(environ).port == 9000


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "9" * 20, "٣"])
def test_a_setting_that_is_no_number_is_refused_by_name(text: str):
    with pytest.raises(UsageError, match="SCOREWRIGHT_PORT"):
        read_settings({"SCOREWRIGHT_PORT": text})


def test_starting_the_command_line_does_not_load_the_server():
    code = (
        "import sys, scorewright.cli.main as m; m.build_parser(); print('fastapi' in sys.modules)"
    )

    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert said.stdout == "False\n"


def test_the_backup_of_the_page_is_whole_while_the_server_writes(tmp_path: Path):
    page = ROOT.joinpath("docs/how-to/operate.md").read_text(encoding="utf-8")
    (backup,) = re.findall(r"^python3 -c (.*)$", page, re.MULTILINE)
    (tmp_path / ".scorewright").mkdir(mode=0o700)
    home = tmp_path / ".scorewright"
    with server(home) as running:
        headers = {"Authorization": f"Bearer {running.token}"}
        stop, enough, made = threading.Event(), threading.Event(), list[str]()

        def write() -> None:
            while not stop.is_set():
                body = {"name": "written", "scopes": ["read"]}
                answer = httpx.post(running.address + KEYS, json=body, headers=headers)
                made.append(answer.json()["id"])
                if len(made) == 3:
                    enough.set()

        thread = threading.Thread(target=write)
        thread.start()
        assert enough.wait(60)
        before = len(made)
        command = ["sh", "-c", f"'{sys.executable}' -c {backup}"]
        subprocess.run(command, cwd=tmp_path, check=True)
        stop.set()
        thread.join()
    (copy,) = tmp_path.glob("*.db")
    with sqlite3.connect(copy) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    restored = tmp_path / "restored"
    restored.mkdir()
    copy.rename(restored / "scorewright.db")

    with server(restored) as running:
        keys = httpx.get(f"{running.address}{KEYS}", headers=headers, params={"limit": 500}).json()[
            "items"
        ]

    assert set(made[:before]) <= {key["id"] for key in keys}


def test_the_backup_of_the_page_is_whole_on_postgresql(postgres: str, tmp_path: Path):
    page = ROOT.joinpath("docs/how-to/operate.md").read_text(encoding="utf-8")
    dump, restore = re.findall(r"^pg_(?:dump|restore) .*$", page, re.MULTILINE)
    binaries = postgres_binaries()
    assert binaries is not None
    kept, empty = new_database(postgres), new_database(postgres)

    def run(command: str, url: str) -> None:
        path = f"{binaries}{os.pathsep}{os.environ['PATH']}"
        environ = {**os.environ, "PATH": path, "SCOREWRIGHT_DATABASE_URL": url}
        subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environ, check=True)

    with closing(Database(kept)) as database:
        migrate(database)
        ensure_default_project(database)
        with new_client(database) as caller:
            rows = [{"n": number, "text": "ä\u0001 \\"} for number in range(100)]
            path = "/api/v1/projects/default/datasets"
            caller.post(path, json={"name": "rows", "rows": rows}).raise_for_status()
            before = caller.get(f"{path}/rows/versions/latest/download").content
            secret = caller.headers["Authorization"].removeprefix("Bearer ")
            run(dump, kept)  # while it is served
    run(restore, empty)

    with closing(Database(empty)) as database:
        assert not migrate(database)  # its tables are there, as this version has them
        with new_client(database, secret=secret) as caller:
            assert caller.get(f"{path}/rows/versions/latest/download").content == before
            more = caller.post(f"{path}/rows/versions", json={"rows": rows})
            assert (more.status_code, more.json()["number"]) == (201, 2)


def test_every_setting_is_on_the_page():
    page = ROOT.joinpath("docs/how-to/operate.md").read_text(encoding="utf-8")
    source = ROOT.joinpath("src/scorewright/services/settings.py").read_text(encoding="utf-8")
    variables = set(re.findall(r"SCOREWRIGHT_[A-Z_]+", source))

    assert len(variables) > 8
    assert {name for name in variables if f"`{name}`" not in page} == set()


def test_the_description_of_the_api_is_current():
    from openapi_document import write_document

    said = ROOT.joinpath("openapi.json").read_text(encoding="utf-8")

    assert said == write_document(), "run: make docs"


def test_the_table_of_operations_is_current():
    from rest_api_page import PAGE, render

    assert PAGE.read_text(encoding="utf-8") == render(), "run: make docs"


def test_nothing_is_stored_of_a_login_but_hashes(client: TestClient, database: Database):
    secret = client.headers["Authorization"].removeprefix("Bearer ")
    client.post("/api/v1/session", json={"token": secret})
    (cookie,) = client.cookies.values()

    with database.read() as connection:
        stored = "".join(
            str(connection.execute(sa.text(f"SELECT * FROM {table}")).all())  # noqa: S608 - names of ours
            for table in ("api_keys", "sessions", "audit")
        )

    assert secret not in stored
    assert cookie not in stored
