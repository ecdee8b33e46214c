"""Remote sandboxes while the provider fails."""

from __future__ import annotations

import re
import threading
from collections.abc import Generator

import pytest

from daytona_stub import Answer, DaytonaStub
from remote_workbench import (
    ECHO,
    failures,
    forged,
    judge,
    only,
    outcomes,
    output_changed,
    remote,
    times,
)
from scorewright.domain.result import FailureCode
from scorewright.engine.execute import Job, execute
from workbench import item, limits, load, scores

NUMBERS = range(10)


@pytest.fixture
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


# ---- a failing provider -------------------------------------------------------------------------------


PASSING = {
    "create answers 500": ("POST /api/sandbox", Answer(500, b"oops")),
    "create answers 429": ("POST /api/sandbox", Answer(429)),
    "create answers 408": ("POST /api/sandbox", Answer(408)),
    "create hangs up": ("POST /api/sandbox", None),
    "create answers junk": ("POST /api/sandbox", Answer(200, b"<html>")),
    "create answers too little": ("POST /api/sandbox", Answer(200, b'{"id": "x"}')),
    "upload answers 500": ("/files/bulk-upload", Answer(502)),
    "upload answers 404": ("/files/bulk-upload", Answer(404)),
    "upload hangs up": ("/files/bulk-upload", None),
    "code-run answers 503": ("/process/code-run", Answer(503)),
    "code-run answers 400": ("/process/code-run", Answer(400, b'{"message":"not running"}')),
    "code-run hangs up": ("/process/code-run", None),
    "code-run answers junk": ("/process/code-run", Answer(200, b"\xff")),
    "code-run answers half": ("/process/code-run", Answer(200, b'{"exitCode": 0, "resu')),
    "code-run printed nothing": ("/process/code-run", Answer(200, b'{"exitCode":137,"result":""}')),
    "code-run printed junk": ("/process/code-run", Answer(200, b'{"exitCode":0,"result":"junk"}')),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_tried_again_in_a_new_sandbox(stub: DaytonaStub, name: str):
    what, answer = PASSING[name]
    stub.trouble = only(what, times(2, answer))
    pauses: list[float] = []

    with remote(stub, pauses=pauses) as runner:
        judged = outcomes(judge(runner, ECHO, NUMBERS))

    assert scores(judged) == list(NUMBERS)
    assert len(pauses) == 2
    assert pauses[0] < 1 <= pauses[1] * 2
    assert stub.living == {}


@pytest.mark.parametrize("name", PASSING)
def test_what_does_not_pass_fails_items_as_ours_after_a_few_attempts(stub: DaytonaStub, name: str):
    what, answer = PASSING[name]
    stub.trouble = only(what, times(1000, answer))

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, range(1000)))

    assert {each.code for each in failures(judged)} == {FailureCode.SANDBOX_UNAVAILABLE}
    assert len(failures(judged)) == 1000
    assert re.search(r"^daytona: .* \(tried 4 times\)$", failures(judged)[0].message)
    assert len(stub.requests) < 25
    assert stub.living == {}


def test_a_provider_that_does_not_answer_is_not_waited_for_for_ever(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("scorewright.runners.remote.daytona._TIMEOUT_S", 0.2)
    is_over = threading.Event()

    def trouble(_method: str, path: str, answer: Answer) -> Answer:
        if path == "/api/sandbox":
            is_over.wait(60)
        return answer

    stub.trouble = trouble
    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))
    is_over.set()

    assert "no answer: ReadTimeout" in failures(judged)[0].message
    # A request that had no answer may yet be granted: what comes up then is removed by its name, or by itself.
    assert {f"DELETE {made.wanted['name']}" for made in stub.made} <= set(stub.requests)
    assert all(made.wanted["autoDeleteInterval"] == 0 for made in stub.made)


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for_for_ever(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("scorewright.runners.remote.daytona._TIMEOUT_S", 0.5)

    def trouble(_method: str, path: str, answer: Answer) -> Answer:
        return Answer(200, b" " * 100_000, pause_s=0.05) if path == "/api/sandbox" else answer

    stub.trouble = trouble
    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert "came too slowly" in failures(judged)[0].message


def test_output_that_was_cut_is_no_answer(stub: DaytonaStub):
    cut = iter([True, False])
    stub.trouble = output_changed(lambda output: output[:-40] if next(cut, False) else output)

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, NUMBERS))

    assert scores(judged) == list(NUMBERS)
    assert len(stub.made) == 2


HARD = {
    401: "check DAYTONA_API_KEY",
    402: "credit",
    403: "limits",
    400: "no such snapshot",
    404: "no such snapshot",
    422: "no such snapshot",
}


@pytest.mark.parametrize(("status", "text"), HARD.items())
def test_a_refusal_that_stays_is_not_tried_again_and_says_what_to_do(
    stub: DaytonaStub, status: int, text: str
):
    refusal = Answer(status, b'{"message": "no such snapshot"}')
    stub.trouble = only("POST /api/sandbox", times(1000, refusal))

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, range(300)))

    assert {each.code for each in failures(judged)} == {FailureCode.SANDBOX_UNAVAILABLE}
    assert text in failures(judged)[0].message
    assert stub.requests == ["POST sandbox"]


def test_the_provider_decides_how_long_to_wait(stub: DaytonaStub):
    busy = Answer(429, b"{}", {"Retry-After": "17"})
    stub.trouble = only("POST /api/sandbox", times(1, busy))
    pauses: list[float] = []

    with remote(stub, pauses=pauses) as runner:
        judge(runner, ECHO)

    assert pauses == [17.0]


@pytest.mark.parametrize("state", ["error", "build_failed", "destroyed", "stopped"])
def test_a_sandbox_that_never_starts_is_given_up(stub: DaytonaStub, state: str):
    stub.stuck_state = state

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert f"it is in state {state}" in failures(judged)[0].message
    assert stub.living == {}


def test_a_sandbox_that_starts_slowly_is_waited_for(stub: DaytonaStub):
    stub.looks_until_started = 5

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, NUMBERS))

    assert scores(judged) == list(NUMBERS)
    assert sum(request.startswith("GET") for request in stub.requests) == 5


def test_a_sandbox_that_does_not_get_ready_in_time_is_given_up(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("scorewright.runners.remote.lease._READY_TIMEOUT_S", -1.0)
    stub.looks_until_started = 10**9

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert "did not get ready in time" in failures(judged)[0].message
    assert stub.living == {}


def test_a_sandbox_with_a_network_is_refused(stub: DaytonaStub):
    stub.blocks_network = False

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert "its network is not blocked" in failures(judged)[0].message
    assert "POST code-run" not in stub.requests
    assert stub.living == {}


def test_a_sandbox_that_cannot_run_the_language_says_so_at_once(stub: DaytonaStub):
    source = "function evaluate(x) { return 1; }"
    stub.trouble = output_changed(
        forged(b'{"engine":"","load_failed":false,"unusable":"it has no Node"}')
    )

    with remote(stub) as runner:
        judged = outcomes(judge(runner, source, language="javascript"))

    assert failures(judged)[0].code == FailureCode.SANDBOX_UNAVAILABLE
    assert "it has no Node" in failures(judged)[0].message
    assert stub.counts["POST code-run"] == 1


def test_one_evaluator_without_a_sandbox_keeps_no_other_from_its_results(stub: DaytonaStub):
    refused: list[str] = []

    def trouble(_method: str, path: str, answer: Answer) -> Answer:
        made = stub.made[0].sandbox_id if stub.made else ""
        if path.endswith(f"{made}/process/code-run") or (refused and path == "/api/sandbox"):
            refused.append(path)
            return Answer(403)
        return answer

    stub.trouble = trouble
    with remote(stub) as runner:
        jobs = [Job(load(ECHO, seed=str(n)), runner) for n in range(2)]
        groups = list(execute(map(item, range(300)), jobs, limits=limits(), workers=2))

    judged = [[each.outcome for group in groups for each in group.outcomes[job]] for job in (0, 1)]
    assert sorted(len(failures(of_job)) for of_job in judged) == [0, 300]
    assert stub.living == {}
