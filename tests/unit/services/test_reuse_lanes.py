"""What keeps results of other params apart in the cache."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import msgspec

from scorewright.domain.binding import Argument, Plan
from scorewright.domain.evaluator import evaluator_from_source
from scorewright.services.earlier_results import reading_basis
from scorewright.services.reuse import Reuse
from scorewright.storage.result_cache import ResultCache
from workbench import load

EVALUATOR = evaluator_from_source(
    "def evaluate(x, limit=1):\n    return {'score': x, 'explanation': ''}\n", name="evaluator"
)


def plan_with(limit: int) -> Plan:
    return (
        Argument(name="x", how="field", paths=(("x",),)),
        Argument(name="limit", how="constant", value=limit),
    )


def alike() -> tuple[int, int]:
    """Two values of a param whose short digests are the same."""
    seen: dict[str, int] = {}
    for limit in count():
        short = reading_basis(EVALUATOR, plan_with(limit))
        if short in seen:
            return seen[short], limit
        seen[short] = limit
    raise AssertionError


def test_values_whose_short_digests_are_alike_share_no_result(tmp_path: Path):
    cache = ResultCache(tmp_path)
    lanes: list[bytes | None] = []
    for limit in alike():
        described = msgspec.structs.replace(load(EVALUATOR.source), plan=plan_with(limit))
        reuse = Reuse(cache, digest=EVALUATOR.digest, load=described, is_short=True)
        reuse.set_environment("environment")
        lanes.append(reuse.lane)
    cache.close()

    assert None not in lanes
    assert lanes[0] != lanes[1]
