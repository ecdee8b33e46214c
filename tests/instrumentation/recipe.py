"""Runs the programs of `examples/instrumentation`, with everything that they reach on the loopback."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from loopback import Loopback, ModelServer, TraceReceiver

RECIPES: Final = Path(__file__).parents[2] / "examples" / "instrumentation"
#: A recipe may not say what it has to say to anybody else.
_OPTED_OUT: Final = {
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "TRACELOOP_TELEMETRY": "false",
}


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a recipe."""

    code: int
    stderr: str
    #: Requests to anywhere but the model's two paths and the receiver's one.
    strays: list[str]


def run(program: Path, folder: Path, settings: Mapping[str, str] | None = None) -> Ran:
    """Run a recipe.

    Args:
        program: Its file.
        folder: Where it runs; the requests it sends are kept in `traces` within.
        settings: Environment variables on top.

    Returns:
        How it ended; its traces are in the folder.
    """
    traces = folder / "traces"
    traces.mkdir()
    with ModelServer() as model, TraceReceiver(traces) as receiver, Loopback() as outside:
        environment = {
            "PATH": os.defpath,
            "HOME": str(folder),
            "PYTHONPATH": str(RECIPES),
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "OPENAI_API_KEY": "none",
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
            "OTEL_SERVICE_NAME": "helpdesk",
            "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=production",
            **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), outside.url),
            "no_proxy": "127.0.0.1",
            **_OPTED_OUT,
            **(settings or {}),
        }
        done = subprocess.run(
            [sys.executable, program],
            cwd=folder,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
            encoding="utf-8",
        )
        strays = [*model.refused, *receiver.refused, *outside.refused]
    return Ran(done.returncode, done.stderr, strays)
