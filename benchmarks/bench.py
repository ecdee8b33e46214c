"""Measure this machine against the budgets.

    python benchmarks/bench.py all [--rounds 7] [--json FILE] [--full]

Every figure is the median over the rounds; ratios are taken inside one round (see measure.py).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest import measure_ingest
from measure import Figure, Finished, ratios, run_process, take_turns
from records import LARGE_BYTES, ROWS, SMALL_BYTES, write_records
from sandboxes import SANDBOXES, measure_cold_start, measure_throughput, measure_worker
from server_runs import measure_server_runs
from stored_results import measure_stored_results
from traces import measure_traces

HERE = Path(__file__).parent
EVALUATORS = tuple(
    HERE / "evaluators" / f"{name}.py"
    for name in ("exact_match", "json_document", "number_within_tolerance")
)
SCOREWRIGHT = Path(sys.executable).with_name("scorewright")

RUN_BUDGET = 1.8
HELP_BUDGET_MS = 150
MEMORY_GROWTH_BUDGET = 1.15


@dataclass(frozen=True, slots=True)
class Setting:
    """What all benchmarks are told."""

    #: Where data and results may be written; emptied at the end.
    folder: Path
    rounds: int
    #: Also measure what takes minutes.
    full: bool


def measure_run(setting: Setting) -> list[Figure]:
    """Compare a whole isolated run, results written, with the bare loop over the same records."""
    figures: list[Figure] = []
    for label, size in (("500 B", SMALL_BYTES), ("2 KB", LARGE_BYTES)):
        data = write_records(setting.folder / f"{size}.jsonl", output_bytes=size)
        _check_sums(_bare(data), _run(data, setting.folder))
        done = take_turns(
            setting.rounds,
            {
                "bare": lambda data=data: _bare(data),
                "run": lambda data=data: _run(data, setting.folder),
            },
        )
        figures += _compare(f"{ROWS:,} records of {label} x 3", done["bare"], done["run"])
    return figures


def measure_help(setting: Setting) -> list[Figure]:
    """Time `scorewright --help`, beside an interpreter that does nothing."""
    walls = take_turns(
        setting.rounds,
        {
            "python": lambda: run_process([sys.executable, "-c", "pass"]).wall_s * 1000,
            "help": lambda: run_process([SCOREWRIGHT, "--help"]).wall_s * 1000,
        },
    )
    return [
        Figure("python -c pass", "ms", tuple(walls["python"])),
        Figure("scorewright --help", "ms", tuple(walls["help"]), HELP_BUDGET_MS),
    ]


def measure_memory(setting: Setting) -> list[Figure]:
    """Show that the memory of a run does not grow with its rows."""
    figures: list[Figure] = []
    smallest = 0.0
    for rows in (100_000, 400_000, 1_000_000) if setting.full else (100_000, 400_000):
        data = write_records(setting.folder / "rows.jsonl", rows=rows)
        finished = _run(data, setting.folder, sample_tree=True)
        tree_mb = finished.peak_tree_bytes / 1e6
        smallest = smallest or tree_mb
        figures += [
            Figure(f"{rows:,} rows, largest process", "MB", (finished.peak_process_bytes / 1e6,)),
            Figure(f"{rows:,} rows, all processes", "MB", (tree_mb,)),
            Figure(
                f"{rows:,} rows, all processes",
                "x 100,000 rows",
                (tree_mb / smallest,),
                MEMORY_GROWTH_BUDGET,
            ),
        ]
        data.unlink()
    return figures


def measure_sandbox(setting: Setting, name: str) -> list[Figure]:
    """Compare a sandbox with a bare loop that decodes the same bytes, and time its first result."""
    sandbox, evaluators = SANDBOXES[name], HERE / "evaluators"
    return [
        *measure_throughput(evaluators, setting.rounds, sandbox),
        *measure_cold_start(evaluators, setting.rounds, sandbox),
        *measure_worker(evaluators, setting.rounds, sandbox),
    ]


BENCHMARKS: dict[str, Callable[[Setting], list[Figure]]] = {
    "run": measure_run,
    "help": measure_help,
    "jail": lambda setting: measure_sandbox(setting, "jail"),
    "deno": lambda setting: measure_sandbox(setting, "deno"),
    "trace": lambda setting: measure_traces(setting.rounds),
    "memory": measure_memory,
    "ingest": lambda setting: measure_ingest(setting.folder, setting.rounds, is_full=setting.full),
    "server": lambda setting: measure_server_runs(
        setting.folder, setting.rounds, is_full=setting.full
    ),
    "results": lambda setting: measure_stored_results(setting.folder, setting.rounds),
}


def _bare(data: Path) -> Finished:
    return run_process([sys.executable, HERE / "bare_loop.py", data])


def _run(data: Path, folder: Path, *, sample_tree: bool = False) -> Finished:
    out = folder / "results.jsonl"
    options = ("--data", data, "--out", out, "--format", "json")
    return run_process([SCOREWRIGHT, "run", *EVALUATORS, *options], sample_tree=sample_tree)


def _compare(work: str, bare: list[Finished], run: list[Finished]) -> list[Figure]:
    walls = [finished.wall_s for finished in run]
    bare_walls = [finished.wall_s for finished in bare]
    cpu = ratios([finished.cpu_s for finished in run], [finished.cpu_s for finished in bare])
    per_s = tuple(3 * ROWS / wall_s for wall_s in walls)
    return [
        Figure(f"bare loop, {work}", "s", tuple(bare_walls)),
        Figure(f"scorewright run, {work}", "s", tuple(walls)),
        Figure(f"scorewright run, {work}", "evaluations/s", per_s),
        Figure(f"scorewright run, {work}", "x bare loop", ratios(walls, bare_walls), RUN_BUDGET),
        Figure(f"scorewright run, {work}", "x bare loop in CPU time", cpu),
    ]


def _check_sums(bare: Finished, run: Finished) -> None:
    """Make sure that both did the same work.

    Raises:
        SystemExit: the scores of one evaluator add up to something else.
    """
    sums = json.loads(bare.stdout)
    for summary in json.loads(run.stdout)["summary"]:
        want = sums[summary["evaluator"].replace("-", "_")]
        got = summary["mean_score"] * summary["scored"]
        if not math.isclose(want, got, rel_tol=1e-9):
            raise SystemExit(
                f"bench: {summary['evaluator']} adds up to {got}, the bare loop to {want}"
            )


def print_table(title: str, figures: Sequence[Figure]) -> None:
    """Print one benchmark's figures as lines of a Markdown table."""
    print(f"\n### {title}\n\n| What | Median | Lowest to highest | Budget |\n|---|--:|--:|---|")
    for figure in figures:
        spread = f"{_shown(min(figure.rounds))} to {_shown(max(figure.rounds))}"
        sign = "<=" if figure.at_most else ">="
        verdict = "kept" if figure.kept else "**missed**"
        budget = "" if figure.budget is None else f"{sign} {figure.budget:g}: {verdict}"
        print(f"| {figure.name} | {_shown(figure.median)} {figure.unit} | {spread} | {budget} |")


def _shown(number: float) -> str:
    """Three digits that count, and never an exponent."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def as_document(measured: dict[str, list[Figure]], load: float) -> dict[str, object]:
    """Turn all figures into what `--json` writes.

    Args:
        measured: figures by benchmark.
        load: mean number of busy processes before the start, of others alone.
    """
    return {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "load_at_start": load,
        "figures": [
            {
                "benchmark": benchmark,
                "name": figure.name,
                "unit": figure.unit,
                "median": figure.median,
                "rounds": figure.rounds,
                "budget": figure.budget,
                "kept": figure.kept,
            }
            for benchmark, figures in measured.items()
            for figure in figures
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure this machine against the budgets.")
    parser.add_argument("benchmark", choices=["all", *BENCHMARKS])
    parser.add_argument("--rounds", type=int, default=7, help="rounds that count (default 7)")
    parser.add_argument(
        "--full", action="store_true", help="also a million rows (minutes, 2 GB of disk)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    chosen = BENCHMARKS if options.benchmark == "all" else [options.benchmark]
    measured: dict[str, list[Figure]] = {}
    load = os.getloadavg()[0]
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f} before the start"
    )
    with tempfile.TemporaryDirectory(prefix="scorewright-bench-") as folder:
        setting = Setting(Path(folder), options.rounds, options.full)
        for name in chosen:
            measured[name] = BENCHMARKS[name](setting)
            print_table(name, measured[name])
            sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(as_document(measured, load), indent=2) + "\n")


if __name__ == "__main__":
    main()
