"""What tests of runs are made of: evaluators by name, and numbers as data."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from scorewright.domain.convention import Level
from scorewright.domain.errors import NotFoundError
from scorewright.domain.evaluator import evaluator_from_source
from scorewright.domain.json_value import JsonObject
from scorewright.services.run_parts import RunParts, SavedEvaluator
from scorewright.services.run_work import RunWork
from scorewright.sources.dataset import from_rows
from scorewright.sources.source import Source
from scorewright.storage.database import Database
from scorewright.storage.repositories import runs as run_rows
from scorewright.storage.repositories import shares as share_rows

SOURCES = {
    "parity": """
def evaluate(inputs, outputs, trace):
    return {"score": inputs["n"] % 2, "explanation": f"{inputs['n']} modulo 2", "tens": inputs["n"] // 10}
""",
    "picky": """
from scorewright import EvalResult
def evaluate(inputs, outputs, trace):
    n = inputs["n"]
    if n % 7 == 0:
        return EvalResult.skip("a multiple of seven")
    if n % 11 == 0:
        raise ValueError(f"eleven divides it")
    return 1 / n
""",
    "slow": """
def evaluate(inputs, outputs, trace):
    sum(range(200_000))
    return 1 / inputs["n"]
""",
    "strict": """
def evaluate(answer):
    return {"score": 1.0, "explanation": answer}
""",
}


def find_evaluator(_project_id: str, ref: str, version: int | None) -> SavedEvaluator:
    if ref not in SOURCES or version not in (None, 1):
        raise NotFoundError(f"there is no evaluator {ref}")
    return SavedEvaluator(f"id-of-{ref}", evaluator_from_source(SOURCES[ref], name=ref))


def open_numbers(_project_id: str, description: JsonObject, _levels: Collection[Level]) -> Source:
    count = int(str(description["dataset"]).removeprefix("numbers-"))
    return from_rows([{"n": number, "outputs": str(number)} for number in range(1, count + 1)])


def make_parts() -> RunParts:
    parts = RunParts(find_evaluator)
    parts.openers["dataset"] = open_numbers
    return parts


def numbers_source(count: int) -> JsonObject:
    """The first numbers, as `make_parts` opens them."""
    return {"kind": "dataset", "dataset": f"numbers-{count}"}


def numbers_task(count: int, *evaluators: str, name: str = "numbers") -> JsonObject:
    """The body of a task over the first numbers."""
    return {
        "name": name,
        "source": numbers_source(count),
        "evaluators": [{"evaluator": one} for one in evaluators],
    }


def work_off(
    database: Database, parts: RunParts | None = None, *, cache_folder: Path | None = None
) -> None:
    """Do all that is to be done about runs, in this thread."""
    work = RunWork(database, parts or make_parts(), workers=1, cache_folder=cache_folder)
    try:
        while waiting := _waiting(database):
            for run_id, number in waiting:
                with database.write() as connection:
                    share_rows.add_share(connection, run_id, number)
                while work.step(run_id, f"{run_id}.{number}"):
                    pass
    finally:
        work.close()


def _waiting(database: Database) -> list[tuple[str, int]]:
    with database.read() as connection:
        return [(run.id, run.next_share) for run in run_rows.active(connection)]
