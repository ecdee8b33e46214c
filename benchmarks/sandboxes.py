"""A sandbox by itself: how fast it is once it runs, how soon the first result is there, what a worker weighs."""

from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import msgspec

from measure import Figure, ratios, take_turns
from records import LARGE_BYTES, ROWS, records
from scorewright.domain.evaluator import load_evaluator
from scorewright.domain.item_shape import row_shape
from scorewright.domain.mapping import plan_arguments
from scorewright.domain.result import Scored
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Limits, Runner
from scorewright.runners.deno.supervisor import DenoRunner
from scorewright.runners.harness.protocol import Load
from scorewright.runners.jail.supervisor import JailRunner
from scorewright.runners.process import wait_readable
from scorewright.runners.session import Session

LIMITS = Limits()
COLD_STARTS = 20
#: How often the records are gone through in one measurement of speed, so that the start does not decide.
PASSES = 5
#: Workers of one runner that are weighed together: what they share is counted in parts.
WEIGHED = 4
#: The time limit of an item that hangs.
HANGING_S = 0.3


@dataclass(frozen=True, slots=True)
class Work:
    """One evaluator over some records."""

    evaluator: str
    #: The least share of the bare loop's speed to keep.
    budget: float | None
    #: Whether it gets only the third of the records whose output is JSON.
    documents_only: bool = False

    @property
    def name(self) -> str:
        return f"{self.evaluator}{' of documents' if self.documents_only else ''}, 2 KB"

    def items(self, records: list[Item]) -> list[Item]:
        return records[2::3] * 3 if self.documents_only else records


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What is measured, with its budgets."""

    name: str
    make: Callable[[], Runner]
    #: Of its evaluators' files.
    suffix: str
    works: tuple[Work, ...]
    cold_ms: float
    pss_mb: float
    resume_ms: float
    #: An evaluator that hangs at one item.
    hanging: str


SANDBOXES = {
    "jail": Sandbox(
        name="Python jail",
        make=JailRunner,
        suffix=".py",
        works=(
            Work("exact_match", 0.5),
            Work("json_document", 0.7),
            Work("json_document", 0.7, documents_only=True),
        ),
        cold_ms=10,
        pss_mb=12,
        resume_ms=25,
        hanging="def evaluate(output, expected):\n    while output == 'hang': pass\n    return {'score': 1, 'explanation': ''}\n",
    ),
    "deno": Sandbox(
        name="Deno",
        make=DenoRunner,
        suffix=".js",
        works=(
            Work("exact_match", 0.5),
            # V8 takes four times as long as Python to refuse a text that is no JSON, as two thirds of them are.
            Work("json_document", None),
            Work("json_document", 0.9, documents_only=True),
        ),
        cold_ms=40,
        pss_mb=20,
        resume_ms=25,
        hanging="function evaluate(output, expected) { while (output === 'hang'); return {score: 1, explanation: ''}; }\n",
    ),
}


def measure_throughput(folder: Path, rounds: int, sandbox: Sandbox) -> list[Figure]:
    """Compare one warm worker with a bare loop of Python that decodes the same bytes.

    The worker's own start is inside; what there is once per machine, such as the zygote, is not.
    """
    records = _items(ROWS) * PASSES
    figures: list[Figure] = []
    with _booted(sandbox) as (runner, _):
        for work in sandbox.works:
            items = work.items(records)
            bare = (folder / f"{work.evaluator}.py").read_text(encoding="utf-8")
            job = Job(_load(folder / f"{work.evaluator}{sandbox.suffix}"), runner)
            walls = _take_turns(rounds, items, bare, job)
            what = f"{sandbox.name}, {work.name}"
            per_s = tuple(len(items) / wall_s for wall_s in walls["sandbox"])
            figures.append(Figure(what, "records/s", per_s))
            for decoder, bare_walls in walls.items():
                if decoder != "sandbox":
                    share = ratios(bare_walls, walls["sandbox"])
                    unit = f"x bare loop with {decoder}"
                    figures.append(Figure(what, unit, share, work.budget, at_most=False))
    return figures


def _take_turns(
    rounds: int, items: Sequence[Item], source: str, job: Job
) -> dict[str, list[float]]:
    """Time the sandbox and a bare loop for each decoder, in turns."""
    evaluate = _function(source)
    bare, inside = _bare_sum(items, msgspec.json.decode, evaluate), _sandbox_sum(items, job)
    if bare != inside:
        raise SystemExit(
            f"bench: the scores add up to {inside} in the sandbox and to {bare} outside"
        )
    variants: dict[str, Callable[[], float]] = {
        decoder: lambda decode=decode: _timed(lambda: _bare_sum(items, decode, evaluate))
        for decoder, decode in _decoders().items()
    }
    inside_s = {"sandbox": lambda: _timed(lambda: _sandbox_sum(items, job))}
    return take_turns(rounds, variants | inside_s)


def measure_cold_start(folder: Path, rounds: int, sandbox: Sandbox) -> list[Figure]:
    """Time from a known source to its first result, in a worker of its own."""
    load = _load(folder / f"exact_match{sandbox.suffix}")
    items = _items(1)
    boots: list[float] = []
    firsts: list[float] = []
    for _ in range(rounds):
        with _booted(sandbox) as (runner, boot_s):
            boots.append(boot_s * 1000)
            walls = [_first_result_s(items, Job(load, runner)) for _ in range(COLD_STARTS)]
        firsts.append(sorted(walls)[COLD_STARTS // 2] * 1000)
    first = f"{sandbox.name}, first result, p50 of {COLD_STARTS}"
    return [
        Figure(f"{sandbox.name}, boot with a first worker, once per machine", "ms", tuple(boots)),
        Figure(first, "ms", tuple(firsts), sandbox.cold_ms),
    ]


def measure_worker(folder: Path, rounds: int, sandbox: Sandbox) -> list[Figure]:
    """Weigh idle workers, and time how long it takes to go on after one had to be killed."""
    weights: list[float] = []
    resumes: list[float] = []
    for _ in range(rounds):
        with _booted(sandbox) as (runner, _):
            weights.append(_pss_mb(runner, _load(folder / f"exact_match{sandbox.suffix}")))
            resumes.append(_resume_ms(runner, sandbox, folder))
    what = f"{sandbox.name}, one of {WEIGHED} workers"
    return [
        Figure(what, "MB of memory (PSS)", tuple(weights), sandbox.pss_mb),
        Figure(
            f"{sandbox.name}, end of one that hung to the next result",
            "ms",
            tuple(resumes),
            sandbox.resume_ms,
        ),
    ]


def _pss_mb(runner: Runner, load: Load) -> float:
    sessions = [Session(runner, load, LIMITS) for _ in range(WEIGHED)]
    before = _processes()
    try:
        for session in sessions:
            session.submit(0, ["1"], [item.data for item in _items(1)])
        for session in sessions:
            _finish(session)
        return sum(map(_pss_kb, _processes() - before)) / 1000 / WEIGHED
    finally:
        for session in sessions:
            session.close()


def _finish(session: Session) -> None:
    """Take answers until there is nothing left to answer."""
    while session.batches_in_flight:
        if session.worker is not None and wait_readable(session.worker.fileno(), 0.05):
            session.receive()


def _processes() -> set[str]:
    """Return the ids of all processes below this one."""
    parents = {
        path.name: _parent(path) for path in Path("/proc").iterdir() if path.name.isdecimal()
    }
    found = {str(os.getpid())}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _parent(process: Path) -> str:
    try:
        stat = (process / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:  # it has just ended
        return ""
    return stat.rpartition(")")[2].split()[1]


def _pss_kb(pid: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:  # it has just ended
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def _resume_ms(runner: Runner, sandbox: Sandbox, folder: Path) -> float:
    """Time from the end of a worker that hung at an item for too long to the result of the next item."""
    limits = Limits(timeout_s=HANGING_S)
    load = _load(folder / f"exact_match{sandbox.suffix}")
    load = msgspec.structs.replace(load, source=sandbox.hanging, timeout_s=HANGING_S)
    session = Session(runner, load, limits)
    rows = [{"output": text, "expected": ""} for text in ("go", "hang", "go")]
    session.submit(0, ["1", "2", "3"], [msgspec.json.encode(row) for row in rows])
    first, ended_s = session.worker, time.perf_counter()
    try:
        while session.batches_in_flight:
            if session.worker is first:
                ended_s = time.perf_counter()
            if session.worker is not None and wait_readable(session.worker.fileno(), 0.001):
                session.receive()
            session.check_time(time.monotonic())
        return (time.perf_counter() - ended_s) * 1000
    finally:
        session.close()


@contextmanager
def _booted(sandbox: Sandbox) -> Generator[tuple[Runner, float]]:
    """Provide a runner that is up, with how long that took, and close it at the end."""
    runner = sandbox.make()
    try:
        yield runner, _timed(lambda: runner.spawn(LIMITS).end())
    finally:
        runner.close()


def _items(count: int) -> list[Item]:
    made = islice(records(LARGE_BYTES), count)
    return [Item(record["id"], msgspec.json.encode(record)) for record in made]


def _decoders() -> dict[str, Callable[[bytes], dict[str, str]]]:
    """Give the JSON decoders to compare with: orjson only where it is installed."""
    decoders: dict[str, Callable[[bytes], dict[str, str]]] = {
        "msgspec": msgspec.json.Decoder().decode
    }
    if importlib.util.find_spec("orjson"):
        decoders["orjson"] = importlib.import_module("orjson").loads
    return decoders


def _load(path: Path) -> Load:
    evaluator = load_evaluator(path)
    return Load(
        source=evaluator.source,
        language=evaluator.language,
        filename=path.name,
        convention=evaluator.convention,
        plan=plan_arguments(evaluator, shape=row_shape(("output", "expected"))),
        score_range=None,
        threshold=None,
        clock_s=0.0,
        seed="benchmark",
        uses_entropy=evaluator.signature.names_entropy,
        fresh_namespace=evaluator.signature.may_keep_state,
        timeout_s=LIMITS.timeout_s,
        max_output_bytes=LIMITS.max_output_bytes,
    )


def _function(source: str) -> Callable[[str, str], dict[str, float]]:
    namespace: dict[str, Callable[[str, str], dict[str, float]]] = {}
    exec(source, namespace)  # noqa: S102 - our own evaluator
    return namespace["evaluate"]


def _bare_sum(
    items: Sequence[Item],
    decode: Callable[[bytes], dict[str, str]],
    evaluate: Callable[[str, str], dict[str, float]],
) -> float:
    total = 0.0
    for item in items:
        record = decode(item.data)
        total += evaluate(record["output"], record["expected"])["score"]
    return total


def _sandbox_sum(items: Sequence[Item], job: Job) -> float:
    total = 0.0
    for group in execute(items, [job], limits=LIMITS, workers=1):
        for result in group.outcomes[0]:
            if isinstance(result.outcome, Scored):
                total += result.outcome.score or 0.0
    return total


def _first_result_s(items: Sequence[Item], job: Job) -> float:
    start = time.perf_counter()
    groups = execute(items, [job], limits=LIMITS, workers=1)
    next(groups)
    wall_s = time.perf_counter() - start
    list(groups)
    return wall_s


def _timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
