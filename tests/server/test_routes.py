"""What holds for every route, asked of every route: one that is new fails here until it has its place in the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, cast

import pytest
from starlette.testclient import TestClient
from workplace import ANY, CHANGES, ROWS, SOURCE, Workplace, described

from callers import new_client
from run_parts import make_parts, numbers_source, work_off
from scorewright.api.access import PUBLIC
from scorewright.api.context import Context
from scorewright.services.access import Scope, create_key, make_general_key
from scorewright.services.settings import Settings
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import project_id

#: Which scope each operation needs, without those that anybody may ask for.
_BY_SCOPE: Final[dict[Scope, str]] = {
    "read": """list_projects get_project get_metrics list_datasets get_dataset list_dataset_versions
        get_dataset_version list_dataset_rows download_dataset_version list_evaluators get_evaluator
        get_evaluator_usage list_evaluator_versions get_evaluator_version list_evaluator_templates
        get_copilot_prompt list_logs list_results_over_time list_runs get_run watch_run summarise_run list_run_results list_run_items
        list_run_distributions export_run_results list_source_fields sample_source list_tasks get_task
        list_traces get_trace""",
    "write": """add_traces_to_dataset create_dataset upload_dataset upload_dataset_version create_dataset_version describe_dataset
        delete_dataset restore_dataset edit_dataset_rows create_evaluator edit_evaluator delete_evaluator
        restore_evaluator duplicate_evaluator parse_evaluator check_evaluator preview_evaluators create_task
        change_task delete_task restore_task duplicate_task start_run cancel_run pause_run resume_run repeat_run
        delete_trace""",
    "ingest": "export_traces export_logs",
    "admin": """create_project purge_dataset purge_evaluator purge_task purge_run create_api_key list_api_keys revoke_api_key
        list_audit_entries""",
}
SCOPES: Final[dict[str, Scope]] = {
    name: scope for scope, names in _BY_SCOPE.items() for name in names.split()
}
#: What a key needs at least is what the key before it in this list has not.
TOO_SMALL: Final[dict[Scope, list[Scope]]] = {
    "read": ["ingest"],
    "write": ["read", "ingest"],
    "ingest": ["read"],
    "admin": ["read", "write", "ingest"],
}
#: What changes something that is there without If-Match, and why.
UNCONDITIONAL: Final = {
    "revoke_api_key": "there is but one thing to be done to a key, and it may be done twice",
    "delete_trace": "what arrives later makes it anew anyway",
    "log_out": "it is one's own",
}
#: A query without which a question makes no sense.
QUERIES: Final = {
    "list_source_fields": {"source": '{"kind": "dataset", "dataset": "rows"}'},
    "log_in_by_link": {"token": "none"},
}
#: Bodies of what changes nothing.
BODIES: Final[dict[str, dict[str, Any]]] = {
    "parse_evaluator": {"json": {"source": SOURCE}},
    "check_evaluator": {"json": {"source": SOURCE}},
    "preview_evaluators": {"json": {"evaluators": [{"source": SOURCE}], "items": ROWS}},
    "sample_source": {"json": {"source": {"kind": "dataset", "dataset": "rows"}}},
    "create_project": {"json": {"name": "third"}},
    "export_traces": {"json": {"resourceSpans": []}},
    "export_logs": {"json": {"resourceLogs": []}},
}


class Operation(NamedTuple):
    name: str
    method: str
    path: str
    described: dict[str, Any]

    def takes(self, parameter: str) -> bool:
        return any(one["name"].lower() == parameter for one in self.described.get("parameters", ()))

    def ids(self) -> list[str]:
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


class Filled:
    """A server with one of everything."""

    def __init__(self, client: TestClient, database: Database) -> None:
        self.client = client
        self.place = place = Workplace(client, database)
        place.evaluator()
        place.dataset()
        place.trace()
        run = place.run()
        self.known = {
            "project": "default",
            "evaluator": "mine",
            "dataset": "rows",
            "task": place.ask("GET", run)["task_id"],
            "run": run.rpartition("/")[2],
            "trace_id": f"{1:032x}",
            "version": "1",
            "number": "1",
            "key_id": place.key().rpartition("/")[2],
        }
        work_off(database)

    def operations(self) -> list[Operation]:
        return [
            Operation(operation["operationId"], method.upper(), path, operation)
            for path, methods in described(self.client)["paths"].items()
            for method, operation in methods.items()
        ]

    def ask(self, one: Operation, client: TestClient | None = None, **changed: Any) -> Any:
        """Ask for an operation about what is there, or with other ids; bodies are good ones unless given."""
        body = changed.pop("body", None)
        path = one.path.format(**{**self.known, **changed.pop("ids", {})})
        if body is None:
            body = self.body(one.name)
        headers = {
            name: value
            for name, value in {**ANY, **changed.pop("headers", {})}.items()
            if value is not None
        }
        params = QUERIES.get(one.name)
        asked = client or self.client
        return asked.request(one.method, path, headers=headers, params=params, **body, **changed)

    def body(self, name: str) -> dict[str, Any]:
        if name in BODIES:
            return BODIES[name]
        return CHANGES[name](_Nowhere())[1] if name in CHANGES else {}


class _Nowhere(Workplace):
    """Stands where only the body of a request is wanted."""

    def __init__(self) -> None:
        self.client = cast("TestClient", SimpleNamespace(headers={"Authorization": "Bearer none"}))

    def ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        del method, path, options
        return {"id": "none"}

    def ended(self) -> str:
        return "/runs/none"


@pytest.fixture
def filled(client: TestClient, database: Database) -> Filled:
    return Filled(client, database)


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.headers.get("content-type", "")


PROBLEM: Final = "application/problem+json"


def wrong(
    filled: Filled,
    which: Callable[[Operation], bool],
    ask: Callable[[Operation], Any],
    *expected: int,
) -> tuple[int, list[str]]:
    """Ask of all operations of a kind; returns how many there were, and those that were not answered as expected."""
    asked = [one for one in filled.operations() if which(one)]
    found = [(one, ask(one)) for one in asked]
    return len(asked), [
        f"{one.name}: {told(answer)} {answer.text[:200]}"
        for one, answer in found
        if answer.status_code not in expected or answer.headers["content-type"] != PROBLEM
    ]


def is_private(one: Operation) -> bool:
    return one.path not in PUBLIC


def test_every_route_has_its_place_in_the_tables(filled: Filled):
    assert {one.name for one in filled.operations() if is_private(one)} == set(SCOPES)


def test_nobody_is_answered_without_a_key(filled: Filled, database: Database):
    nobody = new_client(database, secret="")

    seen, found = wrong(filled, is_private, lambda one: filled.ask(one, nobody), 401)

    assert (seen, found) == (len(SCOPES), [])


def test_no_key_does_more_than_its_scopes_say(filled: Filled, database: Database):
    home = project_id(database, "default")
    callers = {
        scope: new_client(
            database,
            secret=create_key(database, home, name=scope, scopes=[scope], expires_us=None).secret,
        )
        for scopes in TOO_SMALL.values()
        for scope in scopes
    }
    for at in range(3):
        kind = [one for one, scopes in TOO_SMALL.items() if len(scopes) > at]
        _, found = wrong(
            filled,
            lambda one, kind=kind: is_private(one) and SCOPES[one.name] in kind,
            lambda one, at=at: filled.ask(one, callers[TOO_SMALL[SCOPES[one.name]][at]], body={}),
            403,
        )
        assert found == []
    for one in filter(is_private, filled.operations()):
        enough = callers.get(SCOPES[one.name], filled.client)
        assert filled.ask(one, enough, body={}).status_code not in {401, 403}, one.name


def test_a_key_of_another_project_finds_nothing_here(filled: Filled, database: Database):
    filled.place.ask("POST", "/api/v1/projects", json={"name": "other"})
    other = project_id(database, "other")
    key = create_key(database, other, name="k", scopes=["admin"], expires_us=None)
    stranger = new_client(Context(database, run_parts=make_parts()), secret=key.secret)

    seen, found = wrong(
        filled, lambda one: "project" in one.ids(), lambda one: filled.ask(one, stranger), 404
    )

    assert seen > 50
    assert found == []


def test_what_is_in_one_project_is_not_found_in_another(filled: Filled):
    filled.place.ask("POST", "/api/v1/projects", json={"name": "other"})

    seen, found = wrong(
        filled,
        lambda one: len(one.ids()) > 1,
        lambda one: filled.ask(one, ids={"project": "other"}),
        404,
    )

    assert seen > 35
    assert found == []


def test_ids_that_are_none_are_not_found(filled: Filled):
    unknown = dict.fromkeys(filled.known, "0" * 32) | {"number": "9", "version": "9"}
    for at in range(3):
        _, found = wrong(
            filled,
            lambda one, at=at: len(one.ids()) > at,
            lambda one, at=at: filled.ask(one, ids={one.ids()[at]: unknown[one.ids()[at]]}),
            404,
        )
        assert found == []


def test_bodies_that_are_no_json_are_refused_with_where(filled: Filled):
    def ask(one: Operation) -> Any:
        return filled.ask(
            one, body={"content": b'{"a": '}, headers={"Content-Type": "application/json"}
        )

    seen, found = wrong(filled, lambda one: "requestBody" in one.described, ask, 400, 415, 422)

    assert seen > 20
    assert found == []
    for one in filled.operations():
        if "application/json" in one.described.get("requestBody", {}).get("content", {}):
            errors = ask(one).json()["errors"]
            assert errors or one.path.startswith("/v1/"), one.name
            assert all(each["pointer"] == "" for each in errors), (one.name, errors)


def test_bodies_that_say_nothing_known_are_pointed_at(filled: Filled):
    def takes(one: Operation) -> bool:
        return one.path.startswith("/api/") and "application/json" in one.described.get(
            "requestBody", {}
        ).get("content", {})

    seen, found = wrong(
        filled, takes, lambda one: filled.ask(one, body={"json": {"no such": 1}}), 422
    )

    assert seen > 15
    assert found == []
    for one in filter(takes, filled.operations()):
        answer = filled.ask(one, body={"json": {"no such": 1}})
        pointers = {each["pointer"] for each in answer.json()["errors"]}
        assert "/no such" in pointers, (one.name, answer.text)


def test_no_body_is_larger_than_it_may_be(filled: Filled, database: Database):
    few = Settings(max_body_bytes=100, max_upload_bytes=100, max_ingest_bytes=100)
    secret = make_general_key(database, "tests").secret
    bounded = new_client(Context(database, settings=few), secret=secret)

    def ask(one: Operation) -> Any:
        kind = next(iter(one.described["requestBody"]["content"]))
        size = 70_000 if kind.startswith("multipart") else 101
        return filled.ask(
            one, bounded, body={"content": b"x" * size}, headers={"Content-Type": kind}
        )

    seen, found = wrong(filled, lambda one: "requestBody" in one.described, ask, 413)

    assert seen > 20
    assert found == []


def test_edits_say_which_state_they_are_of(filled: Filled):
    def edits(one: Operation) -> bool:
        return one.method in {"PATCH", "PUT", "DELETE"} and one.name not in UNCONDITIONAL

    assert all(one.takes("if-match") == edits(one) for one in filled.operations())
    for tag, status in ((None, 428), ('"77"', 412), ("7", 412), ('W/"1"', 412)):
        seen, found = wrong(
            filled, edits, lambda one, tag=tag: filled.ask(one, headers={"If-Match": tag}), status
        )
        assert seen > 6
        assert found == []


# ── Lists ────────────────────────────────────────────────────────────────────────────────────────


def _add_trace(place: Workplace, number: int) -> None:
    span = {
        "traceId": f"{number + 100:032x}",
        "spanId": f"{1:016x}",
        "name": "call",
        "startTimeUnixNano": str(1_790_000_000_000_000_000 + number * 10**9),
        "endTimeUnixNano": "1799000000000000000",
    }
    place.post("/v1/traces", resourceSpans=[{"scopeSpans": [{"spans": [span]}]}])


def _add_log(place: Workplace, number: int) -> None:
    record = {
        "timeUnixNano": str(1_790_000_000_000_000_000 + number * 10**9),
        "body": {"stringValue": "x"},
    }
    place.post("/v1/logs", resourceLogs=[{"scopeLogs": [{"logRecords": [record]}]}])


def _edit_evaluator(place: Workplace, number: int) -> None:
    place.ask("PATCH", "/evaluators/mine", json={"source": f"{SOURCE}# {number}\n"})


#: What makes one entry more of a list, by its number; None where what is listed never changes.
LISTS: Final[dict[str, Callable[[Workplace, int], Any] | None]] = {
    "list_projects": lambda at, n: at.post("/api/v1/projects", name=f"p{n}"),
    "list_api_keys": lambda at, _: at.key(),
    "list_audit_entries": lambda at, _: at.key(),
    "list_datasets": lambda at, n: at.post("/datasets", name=f"rows{n}", rows=ROWS),
    "list_dataset_versions": lambda at, _: at.post("/datasets/rows/versions", rows=ROWS),
    "list_dataset_rows": None,
    "list_evaluators": lambda at, n: at.post("/evaluators", name=f"mine{n}", source=SOURCE),
    "list_evaluator_versions": _edit_evaluator,
    "list_logs": _add_log,
    "list_traces": _add_trace,
    "get_trace": None,
    "list_tasks": lambda at, n: at.post("/tasks", **_task(n)),
    "list_runs": lambda at, _: at.post("/tasks/numbers/runs"),
    "list_run_results": None,
    "list_run_items": None,
}


#: Lists that are short by what they are.
WHOLE: Final = {
    "list_evaluator_templates",
    "list_results_over_time",
    "list_run_distributions",
    "list_source_fields",
}


def _task(number: int) -> dict[str, Any]:
    return {
        "name": f"task {number}",
        "source": numbers_source(2),
        "evaluators": [{"evaluator": "parity"}],
    }


def pages(
    filled: Filled, one: Operation, limit: int, between: Callable[[], object] = lambda: None
) -> Iterator[dict[str, Any]]:
    """Read a list in pages, with something done between each and the next."""
    cursor: str | None = None
    path = one.path.format(**filled.known)
    while True:
        asked = {"limit": limit, **({"cursor": cursor} if cursor else {})}
        page = filled.place.ask("GET", path, params=asked)
        yield from page.get("items", page.get("spans", []))
        cursor = page["next_cursor"]
        if cursor is None:
            return
        between()


def test_every_list_has_pages(filled: Filled):
    listing = {
        one.name
        for one in filled.operations()
        if one.method == "GET" and one.takes("cursor") and one.takes("limit")
    }
    answers_of_lists = {
        one.name
        for one in filled.operations()
        if one.name.startswith("list_") and not one.takes("cursor")
    }

    assert listing == set(LISTS)
    assert answers_of_lists == set(WHOLE)


def test_pages_of_any_size_hold_the_same_whatever_comes_meanwhile(filled: Filled):
    numbers = count(1)
    for one in filled.operations():
        add = LISTS.get(one.name)

        def more(add: Callable[[Workplace, int], Any] | None = add) -> None:
            if add is not None:
                add(filled.place, next(numbers))

        if one.name not in LISTS:
            continue
        for _ in range(2):
            more()
        whole = list(pages(filled, one, 500))
        assert len(whole) > 1, one.name
        assert list(pages(filled, one, 2)) == whole, one.name
        assert list(pages(filled, one, 1, more)) == whole, one.name


def test_a_cursor_of_another_list_and_a_limit_of_none_are_refused(filled: Filled):
    for one in filled.operations():
        if one.name not in LISTS:
            continue
        path = one.path.format(**filled.known)
        for asked in ({"cursor": "bm9uZQ"}, {"limit": 0}, {"limit": 501}, {"limit": "many"}):
            answer = filled.client.get(path, params=asked)
            assert told(answer) == (422, PROBLEM), (one.name, asked)
            assert [each["pointer"] for each in answer.json()["errors"]] == [*asked], one.name
