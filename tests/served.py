"""Real servers, each in a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


class Server:
    """A server that runs."""

    def __init__(
        self,
        process: subprocess.Popen[str],
        heading: list[str],
        address: str,
        token: str | None,
        log: Path,
    ) -> None:
        self.process = process
        #: What it printed before its address.
        self.heading = heading
        self.address = address
        self.token = token
        self._log = log

    def stop(self) -> str:
        """Tell it to stop; returns its log."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        return self._log.read_text()


@contextmanager
def server(home: Path, *options: str) -> Generator[Server]:
    """Run a server with its data in a folder; it is killed in the end."""
    home.parent.mkdir(parents=True, exist_ok=True)
    log = home.parent / f"{home.name}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "scorewright", "serve", "--port", "0", *options],
            env={**os.environ, "SCOREWRIGHT_HOME": str(home)},
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        assert process.stdout is not None
        heading: list[str] = []
        while not (line := process.stdout.readline()).startswith("Scorewright is at"):
            assert line, (heading, log.read_text())
            heading.append(line)
        found = re.search(r"http://127\.0\.0\.1:\d+", line)
        assert found, line
        token = None
        if "link" in line:
            token = process.stdout.readline().rstrip().partition("token=")[2]
        yield Server(process, heading, found[0], token, log)
    finally:
        process.kill()
        process.communicate()


@contextmanager
def worker(database_url: str) -> Generator[subprocess.Popen[str]]:
    """Run a worker without a server, until it is told to stop or killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scorewright", "worker", "--database", database_url],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("working on runs")
        yield process
    finally:
        process.kill()
        process.communicate()
