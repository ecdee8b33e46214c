"""The body of `scorewright run`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import msgspec

from scorewright.cli.environment import required_layers
from scorewright.cli.figures import counted
from scorewright.cli.gate import Gate, parse_gate
from scorewright.cli.progress import Progress, open_progress
from scorewright.cli.speech import say
from scorewright.domain.convention import Convention, Level
from scorewright.domain.errors import UsageError
from scorewright.domain.evaluator import Evaluator
from scorewright.domain.mapping import parse_map_option, parse_param_option, share_assignments
from scorewright.domain.result_record import ResultRecord
from scorewright.runners.base import Limits
from scorewright.runners.jail.launch import LaunchedZygote
from scorewright.services.evaluation import Evaluation
from scorewright.services.evaluators import load_evaluators
from scorewright.services.plan import Settings, Task
from scorewright.services.report import Report
from scorewright.services.runner_choice import Runners
from scorewright.sources.opening import WantedKind, open_source
from scorewright.sources.source import Source
from scorewright.storage.results_file import ResultsFile

EXIT_OURS = 3
EXIT_INTERRUPTED = 130
#: In the working folder, as the caches of other tools are.
_CACHE_FOLDER = Path(".scorewright/cache")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of one call, as given."""

    evaluators: list[Path]
    data: Path
    mapping: list[str]
    params: list[str]
    convention: str | None
    source: WantedKind
    level: str | None
    previous_turns: bool
    runner: str
    workers: int | None
    timeout_s: float
    memory_mb: int
    filter: str | None
    sample_rate: float
    limit: int | None
    out: Path | None
    resume: bool
    fail_under: list[str]
    max_cost_usd: float | None
    max_failed: float
    use_cache: bool
    as_json: bool


def run_command(
    options: RunOptions, *, zygote: LaunchedZygote | None, launcher: LaunchedZygote | None
) -> int:
    """Run evaluators over data and print what came out.

    Args:
        options: As given.
        zygote: The jail's, booting already; None where it is not needed.
        launcher: Deno's, likewise.

    Returns:
        The exit code: 0, 1 for a missed threshold, 3 when items had no sandbox, 130 after Ctrl-C.
    """
    runners = Runners(
        options.runner,
        required_layers=required_layers(),
        zygote=zygote,
        launcher=launcher,
        environ=os.environ,
        notice=lambda text: say(f"note: {text}"),
        max_cost_usd=options.max_cost_usd,
    )
    try:
        return _run(options, runners)
    finally:
        runners.close()


def _run(options: RunOptions, runners: Runners) -> int:
    convention = Convention(options.convention) if options.convention else None
    evaluators = load_evaluators(
        options.evaluators, convention=convention, any_import=not runners.jailed
    )
    names = [evaluator.name for evaluator in evaluators]
    gates = [parse_gate(text, names) for text in options.fail_under]
    tasks = make_tasks(evaluators, runners, mapping=options.mapping, params=options.params)
    source = open_source(
        options.data,
        options.source,
        levels={evaluator.level for evaluator in evaluators},
        record_level=Level(options.level) if options.level else None,
        with_previous_turns=options.previous_turns,
    )
    _show_notices(source, evaluators)
    out = _results_file(options)
    settings = Settings(
        limits=Limits(timeout_s=options.timeout_s, memory_mb=options.memory_mb),
        workers=options.workers,
        filter=options.filter,
        sample_rate=options.sample_rate,
        limit=options.limit,
        cache_folder=_CACHE_FOLDER if options.use_cache else None,
    )
    previous = out.previous() if out else None
    evaluation = Evaluation(source, tasks, settings=settings, previous=previous)
    report = evaluation.report
    with (
        _until_interrupted() as interrupted,
        open_progress(report, show=not options.as_json) as progress,
    ):
        _consume(evaluation.run(should_stop=interrupted), out, progress, source)
    missed = [text for gate in gates if (text := gate.miss(report, options.max_failed))]
    if report.cache_trouble is not None:
        say(f"note: results of earlier runs were not used: {report.cache_trouble}")
    _print(report, options, gates, missed)
    if not report.is_complete:
        say(_how_to_resume(report, options))
        return EXIT_INTERRUPTED
    if unavailable := sum(summary.unavailable for summary in report.summaries):
        say(_how_to_retry(unavailable, options))
        return EXIT_OURS
    return 1 if missed else 0


def _results_file(options: RunOptions) -> ResultsFile | None:
    if options.out is None:
        if options.resume:
            raise UsageError("--resume needs --out with the results to go on from")
        return None
    if options.out.exists() and options.out.samefile(options.data):
        raise UsageError(f"--out {options.out}: these are the data; name another file")
    if options.data.is_dir() and options.out.resolve().is_relative_to(options.data.resolve()):
        raise UsageError(
            f"--out {options.out}: the next run would read it as data; name a file outside of {options.data}"
        )
    return ResultsFile(options.out, resume=options.resume)


def make_tasks(
    evaluators: list[Evaluator], runners: Runners, *, mapping: list[str], params: list[str]
) -> list[Task]:
    """Share out what was given by `--map` and `--param`.

    Raises:
        CallerError: The caller's: an option names what is not there, or no runner takes an evaluator.
    """
    names = [evaluator.name for evaluator in evaluators]
    mappings = share_assignments([parse_map_option(text, names) for text in mapping], evaluators)
    values = share_assignments([parse_param_option(text, names) for text in params], evaluators)
    return [
        Task(
            evaluator=e,
            runner=runners.for_evaluator(e, values.get(e.name, {})),
            mapping=mappings.get(e.name, {}),
            params=values.get(e.name, {}),
        )
        for e in evaluators
    ]


def _consume(
    records: Iterator[list[ResultRecord]],
    out: ResultsFile | None,
    progress: Progress,
    source: Source,
) -> None:
    try:
        for group in records:
            if out is not None:
                out.write(group)
            progress.advance()
    except BaseException:
        if out is not None:
            out.abandon(source.number_of)
        raise
    if out is not None:
        out.close()


def _print(report: Report, options: RunOptions, gates: list[Gate], missed: list[str]) -> None:
    if options.as_json:
        sys.stdout.buffer.write(msgspec.json.encode(report.document()) + b"\n")
        sys.stdout.buffer.flush()
    else:
        from scorewright.cli.result_table import print_report

        print_report(report, out=options.out)
    for text in missed:
        say(f"missed: {text}")
    if gates and not missed and not options.as_json:
        say(f"{len(gates):,} of {counted(len(gates), 'threshold')} met")


def _show_notices(source: Source, evaluators: list[Evaluator]) -> None:
    for notice in source.notices:
        where = "" if notice.line is None else f", line {notice.line}"
        say(f"note: {source.path}{where}: {notice.message}")
    for evaluator in evaluators:
        for warning in evaluator.warnings:
            say(f"note: {evaluator.origin}, line {warning.line}: {warning.message}")


def _how_to_resume(report: Report, options: RunOptions) -> str:
    done = f"stopped after {report.items:,} of {counted(report.total, report.source.noun)}"
    if options.out is None or options.out.suffix.lower() != ".jsonl":
        return f"{done}; with --out RESULTS.jsonl a later --resume can go on from there"
    return (
        f"{done}; results so far are in {options.out}: run the same command with --resume to go on"
    )


def _how_to_retry(unavailable: int, options: RunOptions) -> str:
    what = f"error: {counted(unavailable, 'result')} could not be had, since there was no sandbox"
    if options.out is None or options.out.suffix.lower() != ".jsonl":
        return f"{what}; with --out RESULTS.jsonl a later --resume can try these again"
    return f"{what}; run the same command with --resume to try these again"


@contextmanager
def _until_interrupted() -> Generator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a request to stop; the second one stops at once."""
    seen: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        if seen:
            raise KeyboardInterrupt
        seen.append(number)
        say("stopping: finishing what is under way (Ctrl-C again to stop at once)")

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(seen)
    finally:
        signal.signal(signal.SIGINT, before)
