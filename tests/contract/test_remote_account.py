"""Remote sandboxes: none is left behind, and the key goes where it belongs."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

import pytest

from daytona_stub import KEY, Answer, DaytonaStub
from remote_workbench import ECHO, failures, judge, only, outcomes, remote, times
from scorewright.domain.errors import SandboxUnavailableError, UsageError
from scorewright.domain.result import Scored
from scorewright.engine.execute import Job, execute
from scorewright.runners.remote.daytona import Daytona, DaytonaSettings, read_settings
from scorewright.runners.remote.provider import ProviderError, Sandbox
from workbench import item, limits, load

NUMBERS = range(10)


@pytest.fixture
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


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
