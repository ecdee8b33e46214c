"""What it costs an evaluator to be given a `Trace`, by how much of it is looked at."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

from measure import Figure, ratios, take_turns
from scorewright.domain.binding import Argument, How, Path, compile_binding
from scorewright.domain.convention import Convention
from scorewright.domain.result import Scored
from scorewright.engine.execute import Item, Job, execute
from scorewright.runners.base import Limits
from scorewright.runners.harness.protocol import Load
from scorewright.runners.jail.supervisor import JailRunner

ITEMS = 20_000
IN_MEMORY = 100
SPANS = 10
#: Of one span's messages: an item then has 15 KB.
MESSAGE_CHARS = 1_000
#: The least share of the speed of an evaluator of one field that one with a `Trace` keeps, spans untouched; for metrics
#: and their tokens two more objects are made.
BUDGETS = {"Trace, its output": 0.85, "Trace, output and tokens": 0.75}
LIMITS = Limits()

#: Name to how the argument is made, from where, and what the evaluator looks at.
WORKS: dict[str, tuple[How, tuple[Path, ...], str]] = {
    "the field trace.output": ("field", (("trace", "output"),), "x"),
    "Trace, its output": ("trace_item", (), "x.output"),
    "Trace, output and tokens": ("trace_item", (), "x.output and x.metrics.token_usage"),
    "Trace, its spans": ("trace_item", (), "x.spans"),
    "trace as an object": ("trace_dict", (), "x['spans']"),
}


def measure_traces(rounds: int) -> list[Figure]:
    """Compare evaluators that are given a trace with one that is given a text out of it.

    Once in this process, where nothing else takes time, and once in a warm jail, which is what a user gets.
    """
    data = _item()
    loads = {name: _load(*work) for name, work in WORKS.items()}
    bare = {name: lambda load=load: _bare_s(data, load) for name, load in loads.items()}
    figures = _figures("bound and called", take_turns(rounds, bare))
    items = [Item(str(number), data) for number in range(ITEMS)]
    runner = JailRunner()
    try:
        jobs = {name: Job(load, runner) for name, load in loads.items()}
        jailed = {name: lambda job=job: _run_s(items, job) for name, job in jobs.items()}
        return figures + _figures("in the jail", take_turns(rounds, jailed))
    finally:
        runner.close()


def _figures(where: str, walls: dict[str, list[float]]) -> list[Figure]:
    field_s = next(iter(walls.values()))
    figures: list[Figure] = []
    for name, wall_s in walls.items():
        what = f"{name}, {where}"
        budget = BUDGETS.get(name)
        figures += [
            Figure(what, "items/s", tuple(ITEMS / each for each in wall_s)),
            Figure(what, "x one field", ratios(field_s, wall_s), budget, at_most=False),
        ]
    return figures


def _bare_s(data: bytes, load: Load) -> float:
    """Time the items one after the other in memory, as they lie in a worker's."""
    memory = memoryview(data * IN_MEMORY)
    items = [memory[at : at + len(data)] for at in range(0, len(memory), len(data))]
    binding = compile_binding(load.plan)
    namespace: dict[str, Callable[..., float]] = {}
    exec(load.source, namespace)  # noqa: S102 - our own evaluator
    bind, let_go, evaluate = binding.bind, binding.let_go, namespace["evaluate"]
    start = time.perf_counter()
    for _ in range(ITEMS // IN_MEMORY):
        for item in items:
            evaluate(*bind(item)[0])
            if let_go is not None:
                let_go()
    return time.perf_counter() - start


def _run_s(items: Sequence[Item], job: Job) -> float:
    start = time.perf_counter()
    scored = 0
    for group in execute(items, [job], limits=LIMITS, workers=1):
        scored += sum(
            isinstance(one.outcome, Scored) and one.outcome.score == 1 for one in group.outcomes[0]
        )
    wall_s = time.perf_counter() - start
    if scored != len(items):
        raise SystemExit(f"bench: {scored} of {len(items)} items were scored 1")
    return wall_s


def _load(how: How, paths: tuple[Path, ...], looked_at: str) -> Load:
    return Load(
        source=f"def evaluate(x):\n    return 1.0 if {looked_at} else 0.0\n",
        filename="evaluator.py",
        convention=Convention.TRACE_OBJECT,
        plan=(Argument(name="x", how=how, paths=paths, keyword=False),),
        score_range=(0.0, 1.0),
        threshold=0.5,
        clock_s=0.0,
        seed="benchmark",
        uses_entropy=False,
        fresh_namespace=False,
        timeout_s=LIMITS.timeout_s,
        max_output_bytes=LIMITS.max_output_bytes,
    )


def _item() -> bytes:
    """Write an item as trace sources do: its light part first, whose length is at the head."""
    usage = {
        "input_tokens": 500,
        "output_tokens": 200,
        "total_tokens": 700,
        "cache_read_tokens": None,
    }
    trace = {
        "trace_id": "0" * 32,
        "name": "answer",
        "start_time": "2026-01-02T03:04:05.123456Z",
        "end_time": "2026-01-02T03:04:07.123456Z",
        "input": "What does the travel policy say about trains?",
        "output": "It asks for second class, and for first class on trips of more than three hours.",
        "status": "OK",
        "models": ["a-model"],
        "agents": ["planner"],
        "service": "travel",
        "environment": "production",
        "metrics": {
            "total_duration_ms": 2000.0,
            "token_usage": usage,
            "cost_usd": 0.004,
            "error_count": 0,
            "has_errors": False,
            "span_count": SPANS,
            "llm_call_count": SPANS,
            "tool_call_count": 0,
        },
    }
    light = {"traceId": "0" * 32, "session": {"id": None}, "trace": trace}
    started = b'{"head":%10d,' + msgspec.json.encode(light)[1:-2].replace(b"%", b"%%")
    spans = [_span(number, usage) for number in range(SPANS)]
    rest = msgspec.json.encode({"spans": spans})[1:]
    return started % len(started % 0) + b',"attributes":{}},' + rest


def _span(number: int, usage: dict[str, int | None]) -> dict[str, object]:
    return {
        "span_id": f"{number:016x}",
        "parent": number - 1,
        "name": "chat a-model",
        "kind": "llm",
        "start_time": "2026-01-02T03:04:05.123456Z",
        "end_time": "2026-01-02T03:04:07.123456Z",
        "duration_ms": 200.0,
        "status": "OK",
        "model": "a-model",
        "messages": [{"role": "user", "content": "x" * MESSAGE_CHARS}],
        "output": "yes",
        "tokens": usage,
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "a-model"},
    }
