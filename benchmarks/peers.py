"""Phoenix and MLflow beside us: the same spans, sent alike, until they are in the database.

    python benchmarks/peers.py [--rounds 3] [--environments FOLDER]

Each peer is installed from the package index into an environment of its own (some minutes and gigabytes), unless FOLDER
has one by its name. All listen on the loopback and keep their data in SQLite files, as they do by themselves. What counts is
the time until the last span is stored, since one of them answers before it stores.
"""

from __future__ import annotations

import argparse
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx

from bench import print_table
from ingest import send
from measure import Figure, ratios
from servers import running_server
from spans import BATCH, batches

_CONNECTIONS: Final = 4
_REQUESTS: Final = 3
#: Of ours, which would otherwise be done before it can be timed.
_OWN_REQUESTS: Final = 20
_READY_S: Final = 180
_STORED_S: Final = 600
_ASK_EVERY_S: Final = 0.02
BUDGET: Final = 10


@dataclass(frozen=True, slots=True)
class Peer:
    """A product that stores spans."""

    name: str
    package: str
    #: Of a port and a folder for its data; the program comes from its environment.
    arguments: tuple[str, ...]
    environment: dict[str, str]
    headers: dict[str, str]
    #: In its folder.
    database: str


PEERS: Final = (
    Peer(
        "Phoenix",
        "arize-phoenix",
        ("phoenix", "serve"),
        {
            "PHOENIX_WORKING_DIR": "{folder}",
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": "{port}",
            "PHOENIX_GRPC_PORT": "{second_port}",
            "PHOENIX_TELEMETRY_ENABLED": "false",
        },
        {},
        "phoenix.db",
    ),
    Peer(
        "MLflow",
        "mlflow",
        (
            "mlflow",
            "server",
            "--host",
            "127.0.0.1",
            "--port",
            "{port}",
            "--backend-store-uri",
            "sqlite:///{folder}/mlflow.db",
            "--default-artifact-root",
            "{folder}/artifacts",
        ),
        {"MLFLOW_DISABLE_TELEMETRY": "true"},
        {"x-mlflow-experiment-id": "0"},
        "mlflow.db",
    ),
)


@contextmanager
def running(peer: Peer, program_folder: Path, folder: Path) -> Generator[str]:
    """Run a peer until the block ends; yields its address when it answers."""
    port, second_port = _free_ports()
    words = {"folder": str(folder), "port": port, "second_port": second_port}
    program, *arguments = (word.format(**words) for word in peer.arguments)
    environment = {name: value.format(**words) for name, value in peer.environment.items()}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [program_folder / program, *arguments],
            env={**os.environ, **environment, "PYTHONPATH": ""},
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_up(process, address, folder / "log")
        yield address
    finally:
        os.killpg(process.pid, 15)
        process.wait()


def _free_ports() -> tuple[str, str]:
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as two,
    ):
        return str(one.getsockname()[1]), str(two.getsockname()[1])


def _wait_until_up(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    ends_at_s = time.monotonic() + _READY_S
    while time.monotonic() < ends_at_s and process.poll() is None:
        try:
            httpx.get(address, timeout=5)
        except httpx.HTTPError:
            time.sleep(0.2)
        else:
            return
    raise SystemExit(f"bench: a peer does not answer:\n{log.read_text()[-3000:]}")


def _stored(file: Path) -> int:
    uri = f"file:{file}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=60)) as connection:
        return int(connection.execute("SELECT count(*) FROM spans").fetchone()[0])


def _until_stored_s(
    address: str, headers: dict[str, str], file: Path, bodies: Sequence[bytes]
) -> float:
    """Return the seconds from the first request until all spans are in the database."""
    want = _stored(file) + len(bodies) * BATCH
    started_s = time.perf_counter()
    send(address, headers, bodies, _CONNECTIONS)
    while _stored(file) < want:
        if time.perf_counter() - started_s > _STORED_S:
            raise SystemExit(f"bench: {want - _stored(file)} spans were never stored")
        time.sleep(_ASK_EVERY_S)
    return time.perf_counter() - started_s


def measure_peers(folder: Path, environments: Path, rounds: int) -> list[Figure]:
    """Compare each peer with us, in turns.

    Args:
        folder: For data.
        environments: Has or gets an environment for each peer.
        rounds: How often.
    """
    figures: list[Figure] = []
    database = folder / "scorewright.db"
    with running_server(folder, f"sqlite:///{database}") as server:
        send(server.address, server.headers, [*batches(2, seed=0)], 1)
        for peer in PEERS:
            programs = _installed(peer, environments)
            own_folder = folder / peer.package
            own_folder.mkdir()
            with running(peer, programs, own_folder) as address:
                theirs: list[float] = []
                ours: list[float] = []
                file = own_folder / peer.database
                for number in range(rounds + 1):
                    bodies = [*batches(_REQUESTS, seed=2 * number + 1)]
                    own = [*batches(_OWN_REQUESTS, seed=2 * number + 2_000_000 + len(figures))]
                    wall_s = _until_stored_s(address, peer.headers, file, bodies)
                    own_s = _until_stored_s(server.address, server.headers, database, own)
                    if number:  # the first one warms up
                        theirs.append(len(bodies) * BATCH / wall_s)
                        ours.append(len(own) * BATCH / own_s)
            times = ratios(ours, theirs)
            figures += [
                Figure(f"{peer.name} {_version(peer, programs)}, stored", "spans/s", tuple(theirs)),
                Figure("Scorewright, stored, in turns with it", "spans/s", tuple(ours)),
                Figure("Scorewright", f"x {peer.name}", times, BUDGET, at_most=False),
            ]
    return figures


def _installed(peer: Peer, environments: Path) -> Path:
    folder = environments / peer.name.lower()
    if not (folder / "bin" / "python").exists():
        print(f"installing {peer.package} ...", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", peer.package]
        subprocess.run(pip, check=True)
    return folder / "bin"


def _version(peer: Peer, programs: Path) -> str:
    code = f"import importlib.metadata as m; print(m.version({peer.package!r}))"
    command = [programs / "python", "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare taking spans with Phoenix and MLflow.")
    parser.add_argument("--rounds", type=int, default=3, help="rounds that count (default 3)")
    parser.add_argument("--environments", type=Path, help="where peers are installed, or will be")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="scorewright-bench-") as folder:
        environments = options.environments or Path(folder)
        print_table("peers", measure_peers(Path(folder), environments, options.rounds))


if __name__ == "__main__":
    main()
