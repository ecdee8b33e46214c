"""`--runner remote` through the command line and from Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

import scorewright
from command_line import PROGRAM, CommandLine, Finished, environment
from daytona_stub import KEY, Answer, DaytonaStub
from mixed_evaluators import THREE, write_workshop

#: What may differ between a run here and one elsewhere.
_OF_THE_MACHINE = ("duration_ms", "environment", "runner")


@pytest.fixture
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return write_workshop(CommandLine(tmp_path))


def run(cli: CommandLine, stub: DaytonaStub, *arguments: str) -> Finished:
    return cli("run", *arguments, "--runner", "remote", env=stub.environment)


def results(cli: CommandLine, name: str) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in each.items() if key not in _OF_THE_MACHINE}
        for each in cli.results(name)
    ]


def failure_codes(cli: CommandLine) -> list[str]:
    return [each["failure"]["code"] if each["failure"] else "" for each in cli.results("out.jsonl")]


def test_all_conventions_give_the_same_results_as_here(cli: CommandLine, stub: DaytonaStub):
    there = run(cli, stub, *THREE, "--data", "rows.jsonl", "--out", "there.jsonl")
    here = cli("run", *THREE, "--data", "rows.jsonl", "--out", "here.jsonl")

    assert (there.code, here.code) == (0, 0), there.stderr
    assert results(cli, "there.jsonl") == results(cli, "here.jsonl")
    assert {each["runner"] for each in cli.results("there.jsonl")} == {"remote"}
    assert len(stub.made) == len(THREE)
    assert stub.living == {}


def test_all_languages_run_in_one_run(cli: CommandLine, stub: DaytonaStub):
    script = (
        "export function evaluate(output{}) {{ return {{score: output.length, explanation: ''}}; }}"
    )
    cli.write("one.js", script.format(""))
    cli.write("two.ts", script.format(": string"))

    done = run(
        cli, stub, "one.js", "two.ts", "length.py", "--data", "few.jsonl", "--out", "out.jsonl",
        "--format", "json",
    )  # fmt: skip

    assert done.code == 0, done.stderr
    by_evaluator = [[each["score"] for each in cli.results("out.jsonl")][at::3] for at in range(3)]
    assert by_evaluator[0] == by_evaluator[1] == by_evaluator[2]
    engines = [each["runner"]["engine"].split()[:3] for each in done.document["evaluators"]]
    assert [engine[:3] for engine in engines] == [
        ["daytona", "/", "node"],
        ["daytona", "/", "node"],
        ["daytona", "/", "cpython"],
    ]


def test_without_a_key_nothing_runs(cli: CommandLine):
    done = cli(
        "run", "length.py", "--data", "few.jsonl", "--runner", "remote", env={"DAYTONA_API_KEY": ""}
    )

    assert done.code == 3
    assert "DAYTONA_API_KEY is not set" in done.stderr


def test_auto_never_goes_elsewhere(cli: CommandLine, stub: DaytonaStub):
    done = cli("run", "length.py", "--data", "few.jsonl", env=stub.environment)

    assert done.code == 0
    assert stub.requests == []


def test_layers_of_this_machine_cannot_be_required_elsewhere(cli: CommandLine, stub: DaytonaStub):
    done = cli(
        "run", "length.py", "--data", "few.jsonl", "--runner", "remote",
        env={**stub.environment, "SCOREWRIGHT_RUNNER_REQUIRE": "landlock"},
    )  # fmt: skip

    assert done.code == 2
    assert "runner remote has no layers of this machine" in done.stderr


def test_items_without_a_sandbox_are_shown_and_end_in_exit_code_3(
    cli: CommandLine, stub: DaytonaStub
):
    def trouble(method: str, path: str, answer: Answer) -> Answer:
        full = method == "POST" and path == "/api/sandbox" and len(stub.made) > 1
        return Answer(402, b'{"message": "no credit left"}') if full else answer

    stub.trouble = trouble
    done = run(cli, stub, "length.py", "profile.py", "--data", "few.jsonl", "--out", "out.jsonl")

    assert done.code == 3
    assert "20 results could not be had" in done.stderr
    assert "no credit left" in done.stdout
    assert KEY not in done.stdout + done.stderr
    assert failure_codes(cli).count("sandbox_unavailable") == 20
    assert len(failure_codes(cli)) == 40

    stub.trouble = lambda _method, _path, answer: answer
    again = run(
        cli,
        stub,
        "length.py",
        "profile.py",
        "--data",
        "few.jsonl",
        "--out",
        "out.jsonl",
        "--resume",
    )

    assert again.code == 0
    assert "sandbox_unavailable" not in failure_codes(cli)


def test_a_run_without_any_sandbox_says_so(cli: CommandLine, stub: DaytonaStub):
    stub.trouble = lambda _method, _path, _answer: Answer(401, b'{"message": "who are you?"}')

    done = run(cli, stub, "length.py", "--data", "few.jsonl")

    assert done.code == 3
    assert "there was no sandbox" in done.stdout.splitlines()[0]
    assert "HTTP 401; who are you?; check DAYTONA_API_KEY" in " ".join(done.stdout.split())


def test_a_sandbox_that_stays_behind_is_named(cli: CommandLine, stub: DaytonaStub):
    def trouble(method: str, _path: str, answer: Answer) -> Answer:
        return Answer(403, b"{}") if method == "DELETE" else answer

    stub.trouble = trouble
    done = run(cli, stub, "length.py", "--data", "few.jsonl")

    assert done.code == 0
    assert "note: sandbox sb1 at daytona could not be removed" in done.stderr


SLOW = "import time\ndef evaluate(output):\n    time.sleep(1000)\n"


def start(cli: CommandLine, stub: DaytonaStub, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*PROGRAM, "run", *arguments, "--runner", "remote", "--timeout-s", "900"],
        cwd=cli.folder,
        env=environment(stub.environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def test_ctrl_c_twice_leaves_no_sandbox(cli: CommandLine, stub: DaytonaStub):
    cli.write("slow.py", SLOW)

    with start(cli, stub, "slow.py", "length.py", "--data", "few.jsonl") as process:
        assert stub.running.wait(60)
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert "stopping" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate()

    assert process.returncode == 130
    assert stub.made
    assert stub.living == {}


def test_a_killed_run_leaves_only_sandboxes_that_remove_themselves(
    cli: CommandLine, stub: DaytonaStub
):
    cli.write("slow.py", SLOW)

    with start(cli, stub, "slow.py", "--data", "few.jsonl") as process:
        assert stub.running.wait(60)
        process.kill()
        process.communicate()

    assert len(stub.living) == 1
    assert all(each.wanted["autoDeleteInterval"] == 0 for each in stub.living.values())
    assert all(each.wanted["autoStopInterval"] > 0 for each in stub.living.values())


def test_ctrl_c_once_finishes_what_is_under_way(cli: CommandLine, stub: DaytonaStub):
    cli.write(
        "late.py",
        "import time\ndef evaluate(output):\n    time.sleep(0.005)\n    return {'score': 1, 'explanation': ''}\n",
    )

    with start(cli, stub, "late.py", "--data", "rows.jsonl", "--out", "out.jsonl") as process:
        assert stub.running.wait(60)
        process.send_signal(signal.SIGINT)
        process.communicate()

    assert process.returncode == 130
    written = cli.results("out.jsonl")
    assert 0 < len(written) < 500
    assert len(written) % 128 == 0
    assert all(each["status"] == "scored" for each in written)
    assert stub.living == {}


def test_the_python_interface_takes_it_too(stub: DaytonaStub, monkeypatch: pytest.MonkeyPatch):
    for name, value in stub.environment.items():
        monkeypatch.setenv(name, value)

    found = scorewright.evaluate(
        [{"output": "abc"}], "def evaluate(output):\n    return {'score': len(output), 'explanation': ''}\n",
        runner="remote",
    )  # fmt: skip

    assert [each.score for each in found] == [3.0]
    assert stub.living == {}


def test_a_run_imports_no_http_client_that_it_does_not_need():
    program = "import sys, scorewright.cli.main, scorewright.cli.run, scorewright.services.evaluate; print('httpx' in sys.modules)"

    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=os.environ
    )

    assert done.stdout.strip() == "False"


def test_what_remote_sandboxes_promise_can_be_checked(cli: CommandLine, stub: DaytonaStub):
    done = cli("runner", "check", "remote", "--format", "json", env=stub.environment)

    document = done.document
    assert done.code == 0, document
    assert [probe["name"] for probe in document["probes"] if not probe["passed"]] == []
    assert document["passed"] == len(document["probes"]) > 10
    assert stub.living == {}


def test_a_check_without_an_account_says_so(cli: CommandLine):
    done = cli("runner", "check", "remote", "--format", "json")

    assert done.code == 3
    assert "DAYTONA_API_KEY" in done.document["unavailable"]


def test_a_provider_that_gives_nothing_has_not_passed(cli: CommandLine, stub: DaytonaStub):
    stub.trouble = lambda _method, _path, _answer: Answer(403, b"{}")

    done = cli("runner", "check", "remote", "--quick", "--format", "json", env=stub.environment)

    assert done.code == 1
    assert done.document["passed"] == 0
