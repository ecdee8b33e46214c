"""Something to look at on a new server: answers and traces of a library's help desk, and tasks that judge them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from scorewright.domain.errors import NotFoundError
from scorewright.domain.evaluator import read_source
from scorewright.domain.json_value import JsonObject
from scorewright.services import datasets, runs, saved_evaluators, tasks
from scorewright.services.dataset_loading import DatasetLimits
from scorewright.services.datasets import DatasetFields
from scorewright.services.demo_data import answers, trace_requests
from scorewright.services.ingest import KnownNames, take_spans
from scorewright.services.run_model import ENDED, EvaluatorUse, Run, TaskSpec
from scorewright.services.run_parts import RunParts
from scorewright.sources.dataset import from_rows
from scorewright.storage.database import Database
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories.projects import default_project_id

DATASET: Final = "help-desk-answers"
_FOLDER: Final = Path(__file__).with_name("templates") / "demo"
#: By name: what is said of it.
_EVALUATORS: Final[dict[str, JsonObject]] = {
    "names-the-due-date": {
        "source": "names_the_due_date.py",
        "language": "python",
        "display_name": "Names the due date",
        "description": "The date of the reference stands in the answer.",
        "threshold": 1,
        "tags": ["demo"],
    },
    "short-enough": {
        "source": "short_enough.js",
        "language": "javascript",
        "display_name": "Short enough",
        "description": "An answer of the length that people read; longer ones lose by the word.",
        "threshold": 0.75,
        "tags": ["demo"],
    },
    "looks-before-it-answers": {
        "source": "looks_before_it_answers.py",
        "language": "python",
        "display_name": "Looks before it answers",
        "description": "The agent looked the loan up, and the search did not fail.",
        "tags": ["demo"],
    },
}
_TASKS: Final = (
    TaskSpec(
        name="Help desk answers",
        description="Every answer of the demo, judged by two evaluators.",
        source={"kind": "dataset", "dataset": DATASET, "version": "latest", "filter": None},
        evaluators=[
            EvaluatorUse(evaluator="names-the-due-date"),
            EvaluatorUse(evaluator="short-enough"),
        ],
    ),
    TaskSpec(
        name="Help desk traces",
        description="The traces of the demo, judged by what the agent did.",
        source={"kind": "traces", "filter": 'trace.service = "library-help-desk"'},
        evaluators=[EvaluatorUse(evaluator="looks-before-it-answers")],
    ),
)


#: How often it is asked whether a run has ended.
_ASK_EVERY_S: Final = 0.1


def wait_for_runs(database: Database, started: Iterable[Run], *, at_most_s: float) -> bool:
    """Wait until workers have ended runs; tells whether they have.

    Args:
        database: Where the runs are.
        started: The runs.
        at_most_s: How long to wait.
    """
    ends_at_s = time.monotonic() + at_most_s
    for run in started:
        while True:
            with database.read() as connection:
                if run_rows.status_of(connection, run.run_id) in ENDED:
                    break
            if time.monotonic() > ends_at_s:
                return False
            time.sleep(_ASK_EVERY_S)
    return True


def load_demo(database: Database, parts: RunParts) -> list[Run]:
    """Put the demo into the first project, with a run of each task that a worker takes up.

    Nothing happens where it is already, perhaps deleted.

    Args:
        database: Where to.
        parts: What runs are made of.

    Returns:
        The runs.
    """
    project_id = default_project_id(database)
    if _is_there(tasks.find, database, project_id, _TASKS[-1].name):
        return []
    _load_data(database, project_id)
    started: list[Run] = []
    for spec in _TASKS:  # one of a start that was broken off is there, perhaps without a run
        if not _is_there(tasks.find, database, project_id, spec.name):
            tasks.create(database, parts, project_id, spec)
        started.append(runs.start(database, parts, project_id, spec.name))
    return started


def _is_there(
    find: Callable[[Database, str, str], object], database: Database, project_id: str, name: str
) -> bool:
    try:
        find(database, project_id, name)
    except NotFoundError:
        return False
    return True


def _load_data(database: Database, project_id: str) -> None:
    known = KnownNames()
    for request in trace_requests():
        take_spans(database, project_id, msgspec.json.encode(request), "json", known)
    for name, fields in _EVALUATORS.items():
        if _is_there(saved_evaluators.get, database, project_id, name):
            continue
        source = (_FOLDER / str(fields["source"])).read_text(encoding="utf-8")
        said = {key: value for key, value in fields.items() if key != "source"}
        saved_evaluators.create(
            database,
            project_id,
            source=source,
            fields={"name": name, **said},
            read=read_source,  # our own
        )
    if _is_there(datasets.get_dataset, database, project_id, DATASET):
        return
    datasets.create_dataset(
        database,
        project_id,
        DatasetFields(
            name=DATASET,
            display_name="Help desk answers",
            description="What a library's help desk was asked, and what it answered.",
            tags=("demo",),
        ),
        from_rows(answers()),
        note="made by scorewright demo",
        limits=DatasetLimits(),
    )
