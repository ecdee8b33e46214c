"""Remote sandboxes when things go wrong: hostile output, a failing provider, and what is left behind."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Generator, Iterator

import pytest

from daytona_stub import KEY, Answer, DaytonaStub, Trouble
from remote_workbench import judge, outcomes, remote
from scorewright.domain.errors import SandboxUnavailableError, UsageError
from scorewright.domain.result import Failed, FailureCode, Outcome, Scored
from scorewright.engine.execute import Job, execute
from scorewright.runners.loss import TAMPERED
from scorewright.runners.remote.daytona import Daytona, DaytonaSettings, read_settings
from scorewright.runners.remote.provider import ProviderError, Sandbox
from workbench import item, limits, load, scores

ECHO = "def evaluate(x):\n    return {'score': x, 'explanation': 'here'}\n"
NUMBERS = range(10)


@pytest.fixture
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


def failures(judged: list[Outcome]) -> list[Failed]:
    return [each for each in judged if isinstance(each, Failed)]


# ---- hostile output ----------------------------------------------------------------------------------


def forged(head: bytes, *lines: bytes) -> Callable[[str], str]:
    """Return what puts another answer between the right marks."""
    text = base64.b64encode(b"\n".join([head, *lines])).decode()

    def replace(output: str) -> str:
        return re.sub(r"<\n.*\n>", f"<\n{text}\n>", output, flags=re.DOTALL)

    return replace


def not_base64(output: str) -> str:
    return output.replace("<\n", "<\nü")


def output_changed(change: Callable[[str], str]) -> Trouble:
    def trouble(_method: str, path: str, answer: Answer) -> Answer:
        if not path.endswith("/code-run"):
            return answer
        said = json.loads(answer.body)
        return Answer(200, json.dumps({**said, "result": change(said["result"])}).encode())

    return trouble


HEAD = b'{"engine":"cpython 3","load_failed":false,"unusable":null}'
LINE = b'[0,{"score":1,"explanation":""},"",1]'


@pytest.mark.parametrize(
    "change",
    [
        forged(HEAD),
        forged(HEAD, LINE),
        forged(HEAD, *[LINE] * 9),
        forged(HEAD, *[LINE] * 11),
        forged(HEAD, *[LINE] * 9, b"junk"),
        forged(HEAD, *[LINE] * 9, b'[0,NaN,"",1]'),
        forged(HEAD, *[LINE] * 9, b'[9,1,"",1]'),
        forged(HEAD, *[LINE] * 9, b'[2,7,"",1]'),
        forged(HEAD, *[LINE] * 9, b'[0,1,"",-1]'),
        forged(HEAD, *[LINE] * 9, b'[3,{"reason":"other","status":1,"words":""},"",1]'),
        forged(HEAD, *[LINE] * 9, b"[" * 100_000),
        forged(HEAD, *[LINE] * 9, b'[0,"' + b"x" * (3 << 20) + b'","",1]'),
        forged(HEAD, *[LINE] * 9, b'[0,"\xff","",1]'),
        forged(b"", *[LINE] * 10),
        forged(b"{}", *[LINE] * 10),
        forged(b'{"engine":"' + b"x" * 10_000 + b'"}', *[LINE] * 10),
        not_base64,
    ],
)
def test_a_forged_answer_fails_the_batch_and_nothing_else(
    stub: DaytonaStub, change: Callable[[str], str]
):
    stub.trouble = output_changed(change)

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, NUMBERS))

    assert len(failures(judged)) == len(NUMBERS)
    assert {each.code for each in failures(judged)} == {FailureCode.AUTHOR_ERROR}
    assert all(each.message.startswith(TAMPERED) for each in failures(judged))
    assert stub.living == {}


@pytest.mark.parametrize("code", ["sandbox_unavailable", "judge_error", "cancelled"])
def test_codes_that_only_the_host_gives_are_not_taken_from_a_sandbox(stub: DaytonaStub, code: str):
    failure = {"code": code, "message": "", "type": None, "line": None, "traceback": None}
    line = json.dumps([1, failure, "", 1]).encode()
    stub.trouble = output_changed(forged(HEAD, *[line] * len(NUMBERS)))

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, NUMBERS))

    assert {each.code for each in failures(judged)} == {FailureCode.AUTHOR_ERROR}


def test_batches_after_a_forged_one_are_judged_in_another_sandbox(stub: DaytonaStub):
    once = iter([forged(HEAD)])

    def forge_once(output: str) -> str:
        forge = next(once, None)
        return forge(output) if forge else output

    stub.trouble = output_changed(forge_once)

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO, range(600)))

    assert len(failures(judged)) == 128
    assert scores(judged)[128:] == list(range(128, 600))
    assert len(stub.made) == 2


#: Code that reaches the loop's own output, and knows its marks.
FORGER = """\
import base64, os, re

def evaluate(x):
    if x == 3:
        parent = os.getppid() if os.getppid() > 1 else 0
        command = open(f"/proc/{parent}/cmdline").read()
        nonce = re.search(r"nonce='([0-9a-f]{32})'", command)[1]
        text = base64.b64encode(b'{"engine":"mine","load_failed":false,"unusable":null}\\n[0,1,"",1]').decode()
        with open(f"/proc/{parent}/fd/1", "w") as file:
            file.write(f"\\n{nonce}<\\n{text}\\n>{nonce}\\n")
    return {"score": x, "explanation": ""}
"""


def test_code_that_writes_to_the_loop_s_output_spoils_its_own_batch_alone(stub: DaytonaStub):
    with remote(stub) as runner:
        jobs = [Job(load(source, timeout_s=3), runner) for source in (FORGER, ECHO)]
        (group,) = list(execute(map(item, NUMBERS), jobs, limits=limits(), workers=2))

    forging, honest = ([each.outcome for each in of_job] for of_job in group.outcomes)
    assert all(each.message.startswith(TAMPERED) for each in failures(forging))
    assert len(failures(forging)) == len(NUMBERS)
    assert scores(honest) == list(NUMBERS)


@pytest.mark.parametrize(
    "printing",
    [
        "print('x' * 10_000)",
        "__import__('os').write(1, b'x' * 10_000)",
        "__import__('os').write(2, b'\\0' * 10_000)",
        "__import__('os').system('yes | head -c 100000')",
        "print('0123456789abcdef<')",
    ],
)
def test_prints_are_no_results(stub: DaytonaStub, printing: str):
    source = f"def evaluate(x):\n    {printing}\n    return {{'score': x, 'explanation': ''}}\n"

    with remote(stub) as runner:
        judged = judge(runner, source, NUMBERS, timeout_s=5)

    assert scores(outcomes(judged)) == list(NUMBERS)
    assert all(len(each.output) < 8_300 for each in judged)


def test_an_answer_without_end_is_cut_off_before_it_is_in_memory(
    stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("scorewright.runners.remote.daytona._MAX_OUTPUT_BYTES", 1 << 16)
    stub.trouble = output_changed(lambda output: output + "x" * (1 << 17))

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert "more than 65,536 bytes" in failures(judged)[0].message


# ---- a failing provider -------------------------------------------------------------------------------


def only(what: str, answers: Iterator[Answer | None]) -> Trouble:
    """Give other answers to requests whose method and path end like this, as long as there are any."""

    def trouble(method: str, path: str, answer: Answer) -> Answer | None:
        if f"{method} {path}".endswith(what):
            return next(answers, answer)
        return answer

    return trouble


def times(count: int, answer: Answer | None) -> Iterator[Answer | None]:
    return iter([answer] * count)


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


# ---- nothing is left ---------------------------------------------------------------------------------


def test_each_sandbox_removes_itself_should_we_be_gone(stub: DaytonaStub):
    with remote(stub) as runner:
        judge(runner, ECHO)

    wanted = stub.made[0].wanted
    assert wanted["autoDeleteInterval"] == 0
    assert 0 < wanted["autoStopInterval"] <= 15
    assert wanted["networkBlockAll"] is True
    assert wanted["snapshot"] == "evaluators"


def test_the_time_after_which_a_sandbox_removes_itself_outlasts_its_longest_call(
    stub: DaytonaStub,
):
    with remote(stub) as runner:
        judge(runner, ECHO, timeout_s=3600)

    assert stub.made[0].wanted["autoStopInterval"] > 60


def test_a_run_that_is_given_up_in_the_middle_of_a_call_removes_its_sandbox(stub: DaytonaStub):
    source = "import time\ndef evaluate(x):\n    time.sleep(1000)\n"
    described = load(source, timeout_s=500)

    with remote(stub) as runner, pytest.raises(KeyboardInterrupt):
        _run_until(stub.running.is_set, Job(described, runner))

    assert len(stub.made) == 1
    assert stub.living == {}


def test_a_run_that_is_given_up_while_its_sandbox_starts_removes_it(stub: DaytonaStub):
    stub.looks_until_started = 10**9

    with remote(stub) as runner, pytest.raises(KeyboardInterrupt):
        _run_until(lambda: bool(stub.made), Job(load(ECHO), runner))

    assert len(stub.made) == 1
    assert stub.living == {}


def _run_until(is_reached: Callable[[], bool], job: Job) -> None:
    def interrupt() -> bool:
        if is_reached():
            raise KeyboardInterrupt
        return False

    bounds = limits(timeout_s=500)
    for _ in execute(map(item, NUMBERS), [job], limits=bounds, workers=1, should_stop=interrupt):
        pass


def test_removal_is_tried_again(stub: DaytonaStub):
    stub.trouble = only("DELETE /api/sandbox/sb1", times(2, Answer(500)))
    notices: list[str] = []

    with remote(stub, notices=notices) as runner:
        judge(runner, ECHO)

    assert notices == []
    assert stub.living == {}


def test_a_sandbox_that_cannot_be_removed_is_named(stub: DaytonaStub):
    def trouble(method: str, _path: str, answer: Answer) -> Answer:
        return Answer(500) if method == "DELETE" else answer

    stub.trouble = trouble
    notices: list[str] = []

    with remote(stub, notices=notices) as runner:
        judge(runner, ECHO)

    assert len(notices) == 1
    assert re.search(
        r"sandbox sb1 at daytona could not be removed \(HTTP 500.*removes itself", notices[0]
    )


def test_a_sandbox_whose_making_was_not_answered_is_removed_by_its_name(stub: DaytonaStub):
    stub.trouble = only("POST /api/sandbox", times(1, None))

    with remote(stub) as runner:
        judge(runner, ECHO)

    assert len(stub.made) == 2
    assert stub.living == {}


# ---- the account ----------------------------------------------------------------------------------------


def test_without_a_key_nothing_is_tried():
    with pytest.raises(SandboxUnavailableError, match="DAYTONA_API_KEY is not set"):
        read_settings({"DAYTONA_API_URL": "https://example.com"})


@pytest.mark.parametrize(
    "url", ["http://example.com/api", "ftp://127.0.0.1", "example.com", "https://", "http://[::1"]
)
def test_the_key_is_sent_nowhere_in_the_open(url: str):
    with pytest.raises(UsageError, match="https://"):
        read_settings({"DAYTONA_API_KEY": KEY, "DAYTONA_API_URL": url})


def test_variables_are_those_of_the_vendor_and_of_agenta():
    environ = {
        "DAYTONA_API_KEY": f" {KEY}\n",
        "DAYTONA_TARGET": "us",
        "DAYTONA_SNAPSHOT": "general",
        "DAYTONA_SNAPSHOT_CODE": "for-code",
    }

    settings = read_settings(environ)

    assert settings == DaytonaSettings(KEY, "https://app.daytona.io/api", "us", "for-code")


def test_the_key_is_shown_nowhere(stub: DaytonaStub):
    stub.trouble = only("POST /api/sandbox", times(9, Answer(401, f"bad key {KEY}".encode())))

    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert "bad key" in failures(judged)[0].message
    assert KEY not in failures(judged)[0].message
    assert KEY not in repr(read_settings(stub.environment))


def test_a_sandbox_is_not_spoken_to_in_the_open(stub: DaytonaStub):
    def trouble(_method: str, _path: str, answer: Answer) -> Answer:
        return Answer(
            answer.status, answer.body.replace(b"http://127.0.0.1", b"http://example.com")
        )

    stub.trouble = trouble
    with remote(stub) as runner:
        judged = outcomes(judge(runner, ECHO))

    assert "without encryption" in failures(judged)[0].message
    assert stub.living == {}


def test_removing_what_is_gone_is_no_error(stub: DaytonaStub):
    client = Daytona(read_settings(stub.environment))

    client.destroy(Sandbox("gone", "", is_ready=True))
    client.close()


def test_a_lost_sandbox_is_noticed_when_it_is_looked_at(stub: DaytonaStub):
    client = Daytona(read_settings(stub.environment))

    with pytest.raises(ProviderError, match="HTTP 404") as caught:
        client.look(Sandbox("gone", "", is_ready=False))

    assert caught.value.is_passing
    client.close()


def test_scored_items_are_those_of_the_sandbox(stub: DaytonaStub):
    with remote(stub) as runner:
        assert outcomes(judge(runner, ECHO, [4])) == [Scored(4.0, explanation="here")]
