"""The sandbox by itself: how fast it is once it runs, and how soon the first result is there."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Self

import msgspec

from measure import Figure, ratios, take_turns
from records import LARGE_BYTES, ROWS, records
from scorewright.domain.evaluator import evaluator_from_source
from scorewright.domain.mapping import plan_arguments
from scorewright.domain.result import Scored
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Limits
from scorewright.runners.harness.protocol import Load
from scorewright.runners.jail.supervisor import JailRunner

LIMITS = Limits()
COLD_STARTS = 20
COLD_BUDGET_MS = 10.0
#: The least share of the bare loop's speed that each evaluator keeps.
THROUGHPUT_BUDGETS = {"exact_match": 0.5, "json_document": 0.7}


def measure_throughput(folder: Path, rounds: int) -> list[Figure]:
    """Compare one warm worker with a bare loop that decodes the same bytes.

    The worker's own start is inside, the zygote's is not: it is there once per machine.
    """
    items = _items(ROWS)
    figures: list[Figure] = []
    with _Jail() as runner:
        for name, budget in THROUGHPUT_BUDGETS.items():
            source = (folder / f"{name}.py").read_text(encoding="utf-8")
            walls = _take_turns(rounds, items, source, Job(_load(source), runner))
            per_s = tuple(len(items) / wall_s for wall_s in walls["jail"])
            figures.append(Figure(f"jail, {name}, 2 KB", "records/s", per_s))
            for decoder, bare in walls.items():
                if decoder != "jail":
                    share = ratios(bare, walls["jail"])
                    unit = f"x bare loop with {decoder}"
                    figures.append(
                        Figure(f"jail, {name}, 2 KB", unit, share, budget, at_most=False)
                    )
    return figures


def _take_turns(
    rounds: int, items: Sequence[Item], source: str, job: Job
) -> dict[str, list[float]]:
    """Time the jail and a bare loop for each decoder, in turns."""
    evaluate = _function(source)
    bare, jail = _bare_sum(items, msgspec.json.decode, evaluate), _jail_sum(items, job)
    if bare != jail:
        raise SystemExit(f"bench: the scores add up to {jail} in the jail and to {bare} outside")
    variants: dict[str, Callable[[], float]] = {
        decoder: lambda decode=decode: _timed(lambda: _bare_sum(items, decode, evaluate))
        for decoder, decode in _decoders().items()
    }
    return take_turns(rounds, variants | {"jail": lambda: _timed(lambda: _jail_sum(items, job))})


def measure_cold_start(folder: Path, rounds: int) -> list[Figure]:
    """Time from a known source to its first result, in a worker of its own."""
    source = (folder / "exact_match.py").read_text(encoding="utf-8")
    items = _items(1)
    boots: list[float] = []
    firsts: list[float] = []
    for _ in range(rounds):
        with _Jail() as runner:
            boots.append(runner.boot_s * 1000)
            walls = [_first_result_s(items, Job(_load(source), runner)) for _ in range(COLD_STARTS)]
        firsts.append(sorted(walls)[COLD_STARTS // 2] * 1000)
    return [
        Figure("zygote, once per machine", "ms", tuple(boots)),
        Figure(f"first result, p50 of {COLD_STARTS}", "ms", tuple(firsts), COLD_BUDGET_MS),
    ]


class _Jail(JailRunner):
    """A runner whose zygote is up, and which is closed at the end."""

    boot_s = 0.0

    def __enter__(self) -> Self:
        self.boot_s = _timed(lambda: self.spawn(LIMITS).end())
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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


def _load(source: str) -> Load:
    evaluator = evaluator_from_source(source, name="evaluator")
    return Load(
        source=source,
        filename="evaluator.py",
        convention=evaluator.convention,
        plan=plan_arguments(evaluator, columns=("output", "expected")),
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


def _jail_sum(items: Sequence[Item], job: Job) -> float:
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
