"""A SQLite file is for one server: a second one is kept away, and the file is free when the first one is gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx

from served import server


def command(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "scorewright", *arguments],
        env={**os.environ, "SCOREWRIGHT_HOME": str(home)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_second_process_is_kept_away_with_one_clear_line_and_changes_nothing(tmp_path: Path):
    home = tmp_path / "home"
    linked = tmp_path / "linked"
    linked.symlink_to(home)
    with server(home) as running:
        for where, arguments in [
            (home, ["serve", "--port", "0"]),
            (linked, ["serve", "--port", "0"]),
            (home, ["demo"]),
            (home, ["migrate"]),
        ]:
            refused = command(where, *arguments)
            assert refused.returncode not in (0, 1)
            assert refused.stdout == ""
            (line,) = refused.stderr.strip().splitlines()
            assert "is in use by another scorewright process" in line
        assert httpx.get(f"{running.address}/healthz").json() == {"status": "ok"}


def test_the_file_is_free_as_soon_as_its_server_is_dead_whatever_that_has_left_behind(
    tmp_path: Path,
):
    home = tmp_path / "home"
    with server(home) as first:
        first.process.kill()
        first.process.wait()
        assert (home / "scorewright.db-lock").exists()
        with server(home) as second:
            assert httpx.get(f"{second.address}/healthz").json() == {"status": "ok"}
            assert httpx.get(f"{second.address}/readyz").status_code in (200, 503)
