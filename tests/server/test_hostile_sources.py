"""Sources that parsers like least: each is answered, and the server goes on answering others meanwhile."""

from __future__ import annotations

import resource
import threading
import time
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from scorewright.runners.reader import messages
from scorewright.runners.reader.jailed import ReaderJail

BASE: Final = "/api/v1/projects/default"
MIB: Final = 1 << 20
GOOD: Final = "def evaluate(output):\n    return True\n"
#: By name: a source and its language; all of them are refused.
HOSTILE: Final = {
    "brackets": ("(" * MIB, "python"),
    "one long sum": ("def evaluate(a):\n    return 1" + "+1" * (MIB // 2 - 100), "python"),
    "NUL": ("def evaluate(a): pass\0", "python"),
    "script comparisons": ("a<" * (MIB // 2), "javascript"),
    "script arrows": ("(a," * (MIB // 3), "typescript"),
}
#: Takes a minute.
SLOW: Final = "def evaluate(a): pass\n" + "def f(a,b=1): return a\n" * 45_000


@pytest.mark.parametrize("name", HOSTILE)
def test_every_way_in_answers_for_it(client: TestClient, name: str):
    source, language = HOSTILE[name]
    draft: dict[str, Any] = {"name": "hostile", "source": source, "language": language}
    assert (
        client.post(f"{BASE}/evaluators", json={"name": "good", "source": GOOD}).status_code == 201
    )
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    created = client.post(f"{BASE}/evaluators", json=draft)
    checked = client.post(f"{BASE}/evaluators/check", json=draft)
    parsed = client.post(f"{BASE}/evaluators/parse", json={"source": source, "language": language})
    previewed = client.post(
        f"{BASE}/preview", json={"evaluators": [draft], "items": [{"output": "a"}]}
    )

    assert created.status_code == 422
    assert [error["pointer"] for error in created.json()["errors"]] == ["/source"]
    assert checked.status_code == parsed.status_code == 200
    assert checked.json()["diagnostics"][0]["severity"] == "error"
    assert parsed.json()["diagnostics"][0]["severity"] == "error"
    assert previewed.status_code == 200
    assert previewed.json()["evaluators"][0]["error"]["pointer"] == "/source"
    # Requests and answers have a few copies of a mebibyte; trees would have hundreds of them.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb < 64 << 10
    good = client.post(f"{BASE}/evaluators/parse", json={"source": GOOD})
    assert good.json()["diagnostics"] == []


def test_others_are_answered_while_one_is_read(client: TestClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(messages, "PATIENCE_S", 3.0)
    answers: list[Any] = []
    thread = threading.Thread(
        target=lambda: answers.append(
            client.post(f"{BASE}/evaluators", json={"name": "slow", "source": SLOW})
        )
    )
    before_s = time.process_time()
    thread.start()
    answered = 0
    while thread.is_alive():
        done = client.post(f"{BASE}/evaluators/parse", json={"source": GOOD})
        answered += done.json()["diagnostics"] == []
        thread.join(0.1)

    assert answered > 1
    assert answers[0].status_code == 422
    assert "takes more than" in answers[0].json()["detail"]
    assert time.process_time() - before_s < 3.0  # of the server's own


def test_a_reader_that_is_killed_is_started_again(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
):
    spawn = ReaderJail.spawn
    killings = 0
    killed: list[bool] = []

    def spawn_killed(jail: ReaderJail, limits: Any) -> Any:
        worker = spawn(jail, limits)
        if len(killed) < killings:
            killed.append(True)
            worker.kill()
        return worker

    monkeypatch.setattr(ReaderJail, "spawn", spawn_killed)
    assert client.post(f"{BASE}/evaluators/parse", json={"source": GOOD}).status_code == 200
    killings = 1
    once = client.post(f"{BASE}/evaluators", json={"name": "once", "source": GOOD})
    killings = 3
    twice = client.post(f"{BASE}/evaluators", json={"name": "twice", "source": GOOD})
    again = client.post(f"{BASE}/evaluators", json={"name": "twice", "source": GOOD})

    assert once.status_code == 201
    assert (twice.status_code, twice.headers["Retry-After"]) == (503, "5")
    assert again.status_code == 201
