"""What the demo's runs came to, as people read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.text import Text

from scorewright.cli.console import open_console
from scorewright.cli.figures import counted
from scorewright.cli.result_table import summary_table
from scorewright.services import run_results, tasks
from scorewright.services.run_model import Run
from scorewright.storage.database import Database
from scorewright.storage.repositories.projects import default_project_id


def print_demo(database: Database, started: Sequence[Run]) -> None:
    """Print a table for every run of the demo.

    Args:
        database: Where they are.
        started: The runs; those that have not ended yet are shown as far as they are.
    """
    console = open_console()
    project_id = default_project_id(database)
    for run in started:
        found: dict[str, Any] = run_results.document(database, project_id, run.run_id)
        name = tasks.find(database, project_id, run.task_id).spec.name
        noun = "trace" if found["source"] == "traces" else "answer"
        console.print(Text(f"{name}, {counted(found['items'], noun)}", style="bold"))
        limits = [one["threshold"] for one in found["evaluators"]]
        console.print(summary_table(found["summary"], limits, console))
        console.print()
