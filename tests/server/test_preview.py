"""Previews over the API: what an evaluator that nobody has saved makes of a few items, in the real sandbox."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from callers import new_client
from command_line import CommandLine
from scorewright.api.context import Context
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import ensure_default_project

ROOT = "/api/v1/projects/default"
EXACT = """
def evaluate(output, expected):
    print("seen", output)
    return {"score": float(output == expected), "explanation": "compared"}
"""
SCRIPT = """
function evaluate(output, expected) {
  return { score: output === expected ? 1 : 0, explanation: "compared" };
}
"""
ITEMS = [{"output": "a", "expected": "a"}, {"output": "b", "expected": "c"}]


def preview(client: TestClient, *evaluators: dict[str, Any], **more: Any) -> dict[str, Any]:
    body = {"evaluators": list(evaluators), "items": ITEMS, **more}
    answer = client.post(f"{ROOT}/preview", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_saved_evaluators_are_tried_in_the_version_that_is_named(client: TestClient):
    made = client.post(f"{ROOT}/evaluators", json={"source": EXACT, "name": "exact"})
    assert made.status_code == 201, made.text
    always = "def evaluate(output):\n    return {'score': 0.5, 'explanation': 'always'}\n"
    headers = {"If-Match": made.headers["etag"]}
    client.patch(f"{ROOT}/evaluators/exact", json={"source": always}, headers=headers)

    done = preview(
        client,
        {"evaluator": "exact", "version": 1},
        {"evaluator": "exact"},
        {"evaluator": "other"},
    )

    first, latest, absent = done["evaluators"]
    assert [one["score"] for one in first["results"]] == [1.0, 0.0]
    assert [one["score"] for one in latest["results"]] == [0.5, 0.5]
    assert "other" in absent["error"]["detail"]


def test_drafts_of_each_language_give_full_results(client: TestClient):
    typed = SCRIPT.replace("output, expected", "output: string, expected: string")
    done = preview(
        client,
        {"source": EXACT, "score_range": [0, 1], "threshold": 0.5},
        {"source": SCRIPT, "language": "javascript", "name": "exact-js"},
        {"source": typed, "language": "typescript"},
    )

    names = [one["name"] for one in done["evaluators"]]
    assert names == ["draft", "exact-js", "draft-2"]
    assert done["items"] == ["1", "2"]
    assert not done["stopped_early"]
    for one in done["evaluators"]:
        assert one["error"] is None
        assert [result["score"] for result in one["results"]] == [1.0, 0.0]
        assert {result["evaluator"] for result in one["results"]} == {one["name"]}
        assert one["convention"] == "variables"
        assert one["runner"]["layers"]
    first = done["evaluators"][0]
    assert [result["passed"] for result in first["results"]] == [True, False]
    assert [result["normalised_score"] for result in first["results"]] == [1.0, 0.0]
    assert first["results"][0]["output"] == "seen a\n"
    assert first["runner"]["tier"] == "jail"
    assert done["evaluators"][2]["runner"]["tier"] == "deno"


def test_what_the_code_does_wrong_is_in_the_result(client: TestClient):
    source = "def evaluate(output):\n    return {'score': 1 / 0, 'explanation': output}\n"

    (one,) = preview(client, {"source": source})["evaluators"]

    failure = one["results"][0]["failure"]
    assert one["results"][0]["status"] == "failed"
    assert (failure["code"], failure["type"], failure["line"]) == (
        "author_error",
        "ZeroDivisionError",
        2,
    )
    assert "line 2" in failure["traceback"]


def test_one_that_is_wrong_keeps_no_other_from_being_tried(client: TestClient):
    done = preview(
        client,
        {"source": "def evaluate(:\n"},
        {"source": EXACT},
        {"source": "def evaluate(nothing):\n    return nothing\n"},
        {"source": EXACT, "params": {"limit": 1}},
        {"source": "function evaluate(x: { return 1 }", "language": "typescript"},
        {"evaluator": "nothing-here"},
        {"source": EXACT, "threshold": 2, "score_range": [0, 1]},
        {"source": "def evaluate(span: LLMSpan):\n    return 1.0\n"},
        {"source": EXACT, "name": "no name"},
    )

    tried = [one["error"] is None for one in done["evaluators"]]
    assert tried == [False, True, False, False, False, False, False, False, False]
    errors = [one["error"] for one in done["evaluators"] if one["error"]]
    pointers = [error["pointer"] for error in errors]
    assert pointers[:5] == ["/source", "/mapping", "/params", "/source", "/evaluator"]
    assert errors[0]["diagnostics"][0]["line"] == 1
    assert all(error["detail"] for error in errors)
    assert len(done["evaluators"][1]["results"]) == 2


def test_mapping_and_params_are_those_of_a_run(client: TestClient):
    source = (
        "def evaluate(text, least=2):\n"
        "    return {'score': float(len(text) >= least), 'explanation': str(least)}\n"
    )

    (one,) = preview(
        client,
        {
            "source": source,
            "mapping": {"text": "output"},
            "param_schema": [{"key": "least", "type": "integer", "default": 2}],
            "params": {"least": 1},
        },
    )["evaluators"]

    assert [result["score"] for result in one["results"]] == [1.0, 1.0]
    assert one["results"][0]["explanation"] == "1"


def test_a_preview_of_stored_rows_gives_what_a_run_of_the_command_gives(
    client: TestClient, cli: CommandLine
):
    rows = [{"output": f"a{n}", "expected": f"a{n - n % 2}"} for n in range(40)]
    cli.write("exact.py", EXACT)
    path = cli.write("rows.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    files = {"file": ("rows.jsonl", path.read_bytes())}
    assert client.post(f"{ROOT}/datasets/upload", files=files).status_code == 201
    assert cli("run", "exact.py", "--data", "rows.jsonl", "--out", "results.jsonl").code == 0
    lines = (cli.folder / "results.jsonl").read_text().splitlines()

    done = preview(
        client,
        {"source": EXACT, "name": "exact"},
        items=None,
        source={"kind": "dataset", "dataset": "rows"},
        numbers=[40, 3],
    )

    (one,) = done["evaluators"]
    assert done["items"] == ["40", "3"]
    for result, number in zip(one["results"], (40, 3), strict=True):
        of_the_run = json.loads(lines[number - 1])
        for told in (result, of_the_run):
            del told["duration_ms"]
        assert result == of_the_run


def test_a_filter_says_which_stored_rows_are_tried(client: TestClient):
    client.post(
        f"{ROOT}/datasets",
        json={"name": "rows", "rows": [{"output": n, "expected": 7} for n in range(1, 10)]},
    )

    done = preview(
        client,
        {"source": EXACT},
        items=None,
        source={"kind": "dataset", "dataset": "rows", "filter": "output > 5"},
        n=3,
    )

    assert done["items"] == ["6", "7", "8"]
    assert [one["score"] for one in done["evaluators"][0]["results"]] == [0.0, 1.0, 0.0]


def test_one_that_hangs_leaves_time_for_the_others_and_the_whole_is_bounded(database: Database):
    hanging = "def evaluate(output):\n    while True:\n        pass\n"
    ensure_default_project(database)
    context = Context(database, preview_s=8.0)
    with new_client(context) as bounded:
        began = time.monotonic()
        done = preview(
            bounded,
            {"source": hanging},
            {"source": "def evaluate(output):\n    return {'score': 1, 'explanation': ''}\n"},
            items=[{"output": n} for n in range(50)],
            timeout_s=0.4,
        )
        took = time.monotonic() - began

    assert done["stopped_early"]
    assert [one["error"] for one in done["evaluators"]] == [None, None]
    hung, quick = (one["results"] for one in done["evaluators"])
    assert 0 < len(hung) < 50
    assert {result["failure"]["code"] for result in hung} == {"timeout"}
    assert len(quick) == 50
    assert took < 50 * 0.4


def test_items_that_hang_in_between_are_told_of_like_the_others(client: TestClient):
    source = (
        "def evaluate(output):\n    while output == 30:\n        pass\n"
        "    return {'score': output, 'explanation': ''}\n"
    )

    done = preview(
        client, {"source": source}, items=[{"output": n} for n in range(50)], timeout_s=0.5
    )

    (one,) = done["evaluators"]
    assert not done["stopped_early"]
    assert [result["item_id"] for result in one["results"]] == done["items"]
    failed = [result for result in one["results"] if result["failure"]]
    assert [result["item_id"] for result in failed] == ["31"]


def test_purity_is_checked_where_it_is_asked_for(client: TestClient):
    clock = (
        "import time\n\n\ndef evaluate(output):\n"
        "    return {'score': time.time(), 'explanation': ''}\n"
    )

    pure, impure = preview(client, {"source": EXACT}, {"source": clock}, purity=True)["evaluators"]

    assert pure["purity"]["is_pure"]
    assert not impure["purity"]["is_pure"]
    assert [one["varied"] for one in impure["purity"]["differences"]] == ["clock"]


REQUESTS: list[tuple[dict[str, Any], str]] = [
    ({"evaluators": [], "items": ITEMS}, "/evaluators"),
    ({"evaluators": [{"source": EXACT}] * 21, "items": ITEMS}, "/evaluators"),
    ({"evaluators": [{"source": EXACT}], "items": [{}] * 51}, "/items"),
    ({"evaluators": [{"source": EXACT}]}, ""),
    ({"evaluators": [{"source": EXACT}], "items": ITEMS, "timeout_s": 31}, "/timeout_s"),
    (
        {
            "evaluators": [{"source": EXACT}],
            "source": {"kind": "dataset", "dataset": "nothing"},
        },
        "/source/dataset",
    ),
]


@pytest.mark.parametrize(("body", "pointer"), REQUESTS)
def test_a_request_that_does_not_fit_is_pointed_at(
    body: dict[str, Any], pointer: str, client: TestClient
):
    answer = client.post(f"{ROOT}/preview", json=body)

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer
