"""The stub of Daytona's API, and our client of it, against the vendor's own SDK."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

import pytest

from daytona_stub import KEY, DaytonaStub
from scorewright.runners.remote.daytona import Daytona, read_settings

PROGRAM = "import sys\nprint(open('given.txt').read().upper())\nprint('aside', file=sys.stderr)\nsys.exit(3)"


@pytest.fixture
def stub() -> Generator[DaytonaStub]:
    with DaytonaStub() as stub:
        yield stub


@pytest.fixture
def sdk() -> Any:
    return pytest.importorskip(
        "daytona",
        reason="the vendor's SDK is not installed: pip install -r requirements/oracle.txt",
    )


def test_our_client_does_what_is_asked_of_a_provider(stub: DaytonaStub):
    client = Daytona(read_settings(stub.environment))

    sandbox = client.create({"purpose": "test"}, idle_s=90)
    client.upload(sandbox, {"given.txt": b"from a file", "empty": b""})
    run = client.run_code(sandbox, PROGRAM, timeout_s=30)
    looked_at = client.look(sandbox)
    client.destroy(sandbox)
    client.close()

    assert run.exit_code == 3
    assert set(run.output.split("\n")) >= {"FROM A FILE", "aside"}
    assert looked_at == sandbox
    assert sandbox.is_ready
    assert stub.living == {}
    assert stub.made[0].wanted["labels"]["purpose"] == "test"
    assert stub.made[0].wanted["autoStopInterval"] == 2


@pytest.mark.filterwarnings("default")  # what the SDK and its packages warn of is not ours to mend
def test_the_vendor_s_sdk_is_understood_in_the_same_way(
    stub: DaytonaStub, sdk: Any, monkeypatch: pytest.MonkeyPatch
):
    for name in [name for name in os.environ if name.startswith("DAYTONA")]:
        monkeypatch.delenv(name)
    client = sdk.Daytona(sdk.DaytonaConfig(api_key=KEY, api_url=stub.url, target="eu"))
    wanted = sdk.CreateSandboxFromSnapshotParams(
        language="python", network_block_all=True, ephemeral=True, auto_stop_interval=2
    )

    sandbox = client.create(wanted)
    sandbox.fs.upload_files(
        [
            sdk.FileUpload(source=b"from a file", destination="given.txt"),
            sdk.FileUpload(source=b"", destination="empty"),
        ]
    )
    run = sandbox.process.code_run(PROGRAM, timeout=30)
    client.delete(sandbox)

    assert run.exit_code == 3
    assert set(run.result.split("\n")) >= {"FROM A FILE", "aside"}
    assert stub.living == {}
    _assert_asks_as_we_do(stub)


def _assert_asks_as_we_do(stub: DaytonaStub) -> None:
    """What the SDK sends is what our client sends: the same calls with the same fields."""
    theirs, their_requests = stub.made[0].wanted, _calls(stub)
    stub.requests.clear()
    client = Daytona(read_settings(stub.environment))
    sandbox = client.create({}, idle_s=120)
    client.upload(sandbox, {"given.txt": b"from a file", "empty": b""})
    client.run_code(sandbox, PROGRAM, timeout_s=30)
    client.destroy(sandbox)
    client.close()
    ours = stub.made[1].wanted

    assert _calls(stub) <= their_requests
    for field in ("networkBlockAll", "autoDeleteInterval", "autoStopInterval", "labels"):
        assert ours[field] == theirs[field], field


def _calls(stub: DaytonaStub) -> set[str]:
    return {request.replace("sb1", "ID").replace("sb2", "ID") for request in stub.requests}
