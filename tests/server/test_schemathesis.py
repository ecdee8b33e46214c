"""Whatever fits the description of the API, and much that does not, is answered as the description says."""

# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false, reportInvalidTypeArguments=false
# Schemathesis leaves most of its types open.

from __future__ import annotations

from typing import Any, Final

import requests
import schemathesis
from fastapi import FastAPI
from httpx2 import Response
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance
from sent_spans import a_span, request
from starlette.testclient import TestClient

from callers import ADDRESS
from run_parts import numbers_task, work_off
from scorewright.storage.database import Database

ROOT: Final = "/api/v1/projects/default"
SOURCE: Final = (
    "def evaluate(inputs, outputs, trace):\n    return {'score': 1, 'explanation': ''}\n"
)
#: Of each operation and each of right and wrong requests.
EXAMPLES: Final = 4
CHECKS: Final = [not_a_server_error, response_schema_conformance, status_code_conformance]
#: The key that the test asks with would end, the run that others are about would be gone; streams until a run ends; says 503 of tables that no migration made.
LEFT_OUT: Final = {"revoke_api_key", "purge_run", "watch_run", "get_readiness"}


def fill(client: TestClient, database: Database) -> dict[str, str]:
    """Make one of everything; returns what path parameters are to be."""
    made: dict[str, Any] = {}
    for path, body in (
        ("/evaluators", {"name": "mine", "source": SOURCE}),
        ("/datasets", {"name": "rows", "rows": [{"n": 1}, {"n": None}]}),
        ("/tasks", numbers_task(30, "parity", "picky")),
        ("/tasks/numbers/runs", {}),
    ):
        answer = client.post(f"{ROOT}{path}", json=body)
        assert answer.status_code == 201, answer.text
        made[path] = answer.json()["id"]
    client.post("/v1/traces", json=request(a_span(1, 1), a_span(1, 2, 1))).raise_for_status()
    work_off(database)
    return {
        "project": "default",
        "evaluator": "mine",
        "dataset": "rows",
        "task": "numbers",
        "run": made["/tasks/numbers/runs"],
        "trace_id": f"{1:032x}",
        "version": "latest",
        "number": "1",
    }


def send(client: TestClient, case: Case) -> Response:
    """Send a case as it would go over the network, in this process."""
    prepared = requests.Request(**case.as_transport_kwargs(base_url=ADDRESS)).prepare()
    headers = {
        name: value for name, value in prepared.headers.items() if name.lower() != "authorization"
    }
    assert prepared.url is not None
    return client.request(
        case.method, prepared.url, headers=headers, content=prepared.body, follow_redirects=False
    )


def try_out(
    client: TestClient, operation: APIOperation[Any, Any, Any], known: dict[str, str]
) -> None:
    """Send right and wrong requests for an operation, some of them about things that are there."""

    @seed(5)
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), is_known=st.booleans())
    def ask(case: Case, is_known: bool) -> None:  # noqa: FBT001 - drawn
        for name, value in known.items():
            if name in case.path_parameters and (is_known or name == "project"):
                case.path_parameters[name] = value
        case.validate_response(send(client, case), checks=CHECKS)

    ask()


def test_every_operation_answers_as_it_is_described(client: TestClient, database: Database):
    app = client.app
    assert isinstance(app, FastAPI)
    known = fill(client, database)
    schema = schemathesis.openapi.from_dict(app.openapi())
    wrong: list[str] = []
    tried = 0

    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.definition.raw["operationId"] in LEFT_OUT:
            continue
        tried += 1
        try:
            try_out(client, operation, known)
        except FailureGroup as group:
            wrong += [f"{operation.label}: {failure}" for failure in group.exceptions]

    assert tried > 50
    assert wrong == []
