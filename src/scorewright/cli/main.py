"""Commands and their options.

Bodies live in modules of their own, imported when a command is called: starting has to be quick.

argparse rather than Typer: loading Typer and what it parses options with takes 0.2 s, as long as 20,000 evaluations.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from scorewright.cli.environment import runner_name
from scorewright.cli.options import (
    CONVENTIONS,
    RUNNERS,
    add_assignments,
    add_bounds,
    add_convention,
    add_database,
    add_format,
    add_judge_bounds,
    add_run_limits,
    add_run_output,
    add_selection,
    add_source,
    at_least,
)
from scorewright.domain.errors import CallerError, OurError
from scorewright.domain.source_language import LANGUAGES

EXIT_CALLER = 2
EXIT_OURS = 3

if TYPE_CHECKING:
    _Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - argparse has no other name for it


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line; the caller's mistakes and ours end as one line and an exit code.

    Args:
        arguments: Without the program's name; those of this process when None.
    """
    try:
        options = build_parser().parse_args(arguments)
        code = options.call(options)
        sys.stdout.flush()
    except CallerError as error:
        _fail(str(error), EXIT_CALLER)
    except OurError as error:
        _fail(str(error), EXIT_OURS)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as with `| head`
        _discard_output()
        sys.exit(EXIT_OURS)
    except OSError as error:  # standard output cannot be written to, or no process can be started
        _discard_output()
        _fail(str(error), EXIT_OURS)
    sys.exit(code)


def _discard_output() -> None:
    """Let the interpreter's last flush have somewhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Says in one line what is wrong; the usage is a page long, and one --help away."""

    def error(self, message: str) -> NoReturn:
        _fail(f"{message}; see {self.prog} --help", EXIT_CALLER)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = _Parser(
        prog="scorewright",
        description="Write evaluators, and run them sandboxed and fast over your data.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_check(commands)
    _add_new(commands)
    _add_datasets(commands)
    _add_traces(commands)
    _add_runner(commands)
    _add_serve(commands)
    _add_worker(commands)
    _add_demo(commands)
    _add_migrate(commands)
    return parser


def _command(
    commands: _Commands,
    name: str,
    *,
    summary: str,
    example: str,
    call: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    parser = commands.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(call=call)
    return parser


def _add_run(commands: _Commands) -> None:
    parser = _command(
        commands,
        "run",
        summary="Run evaluators over a data set, traces, conversations, trajectories or logs.",
        example="scorewright run exact.py --data answers.jsonl --map expected=answer\n"
        "  scorewright run tools.py --data traces.otlp.jsonl --source conversations --previous-turns\n"
        "  scorewright run exact.py tone.yaml --data answers.csv --out results.jsonl --fail-under exact=0.8",
        call=_call_run,
    )
    parser.add_argument(
        "evaluators",
        nargs="+",
        type=Path,
        metavar="EVALUATOR",
        help=".py, .js, .mjs, .cjs, .ts or .mts file, or .yaml definition",
    )
    parser.add_argument(
        "--data",
        required=True,
        type=Path,
        metavar="PATH",
        help="CSV, JSONL, JSON or Parquet; OTLP as JSON, JSON Lines or protobuf, or a folder of it; gzipped or not",
    )
    add_source(parser)
    add_assignments(parser)
    add_convention(parser)
    add_selection(parser)
    add_run_limits(parser)
    add_run_output(parser)
    add_judge_bounds(parser)
    add_format(parser)


def _add_check(commands: _Commands) -> None:
    parser = _command(
        commands,
        "check",
        summary="Show signature, variables, params and diagnostics of evaluators; runs nothing but for --purity.",
        example="scorewright check exact.py\n  scorewright check exact.py --purity --data answers.jsonl",
        call=_call_check,
    )
    parser.add_argument("evaluators", nargs="+", type=Path, metavar="EVALUATOR")
    add_convention(parser)
    parser.add_argument(
        "--purity",
        action="store_true",
        help="judge items with another process, item order, clock, chance and hash seed; say what differed",
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="items for --purity")
    add_source(parser)
    add_assignments(parser)
    parser.add_argument(
        "--limit",
        type=at_least(1),
        default=200,
        metavar="N",
        help="items to judge for --purity, from the first (default: 200)",
    )
    add_bounds(parser)
    add_format(parser)


def _add_new(commands: _Commands) -> None:
    parser = _command(
        commands,
        "new",
        summary="Write the start of an evaluator into this folder.",
        example="scorewright new polite-tone --convention trace_object\n"
        "  scorewright new polite-tone --language typescript",
        call=_call_new,
    )
    parser.add_argument("name", metavar="NAME", help="its name; the file is NAME.py, .js or .ts")
    parser.add_argument(
        "--language", choices=LANGUAGES, default="python", help="its language (default: python)"
    )
    parser.add_argument(
        "--convention", choices=CONVENTIONS, default="variables", help="how evaluate is called"
    )
    add_format(parser)


def _add_datasets(commands: _Commands) -> None:
    parser = commands.add_parser(
        "datasets", help="Look at data files.", description="Look at data files."
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    inspect = _command(
        verbs,
        "inspect",
        summary="Show rows, columns, types and what was noticed while reading.",
        example="scorewright datasets inspect answers.csv",
        call=_call_inspect,
    )
    inspect.add_argument("data", type=Path, metavar="PATH")
    add_format(inspect)


def _add_traces(commands: _Commands) -> None:
    parser = commands.add_parser(
        "traces", help="Look at trace exports.", description="Look at trace exports."
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    inspect = _command(
        verbs,
        "inspect",
        summary="Show what is read from OTLP traces: question, answer, calls, tokens, notices.",
        example="scorewright traces inspect traces.otlp.jsonl\n"
        "  scorewright traces inspect exports/ --format json",
        call=_call_traces_inspect,
    )
    inspect.add_argument(
        "data",
        type=Path,
        metavar="PATH",
        help="OTLP as JSON, JSON Lines or protobuf, gzipped or not, or a folder of such files",
    )
    add_format(inspect)


def _add_runner(commands: _Commands) -> None:
    parser = commands.add_parser(
        "runner", help="Prove the sandbox.", description="Prove the sandbox."
    )
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check = _command(
        verbs,
        "check",
        summary="Attack the sandboxes of this machine: a verdict per probe.",
        example="scorewright runner check\n  scorewright runner check deno --quick",
        call=_call_runner_check,
    )
    check.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="the runner: jail, restricted or deno (default: each of them)",
    )
    check.add_argument("--quick", action="store_true", help="only one probe of each dangerous kind")
    add_format(check)


def _add_serve(commands: _Commands) -> None:
    parser = _command(
        commands,
        "serve",
        summary="Serve the REST API; the first start prints a link that logs in.",
        example="scorewright serve\n"
        "  scorewright serve --host 0.0.0.0 --database postgresql://scorewright@db/scorewright",
        call=_call_serve,
    )
    parser.add_argument(
        "--host", metavar="ADDRESS", help="where to listen (default: 127.0.0.1, this machine alone)"
    )
    parser.add_argument(
        "--port", type=at_least(0), metavar="PORT", help="default: 8321; 0 for any that is free"
    )
    add_database(parser)
    parser.add_argument(
        "--migrate",
        action="store_true",
        help="bring the tables of PostgreSQL up to date first; those of SQLite always are",
    )
    parser.add_argument(
        "--login-link",
        action="store_true",
        help="print a new link that logs in for 7 days, for a lost one",
    )
    parser.add_argument(
        "--no-auth",
        action="store_true",
        help="let everybody on this machine do everything; not with any other --host",
    )
    parser.add_argument(
        "--no-worker",
        action="store_true",
        help="leave the runs to `scorewright worker`, on this machine or others",
    )
    parser.add_argument(
        "--demo", action="store_true", help="load data and tasks to look at, unless they are there"
    )
    _add_runs_per_project(parser)


def _add_worker(commands: _Commands) -> None:
    parser = _command(
        commands,
        "worker",
        summary="Work on the runs of a server that uses PostgreSQL, beside it and other workers.",
        example="scorewright worker --database postgresql://scorewright@db/scorewright",
        call=_call_worker,
    )
    add_database(parser)
    _add_runs_per_project(parser)


def _add_runs_per_project(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs-per-project",
        type=at_least(1),
        metavar="N",
        help="runs of one project that are worked on at a time, by all machines (default: 4)",
    )


def _add_demo(commands: _Commands) -> None:
    parser = _command(
        commands,
        "demo",
        summary="Load data, traces, evaluators and tasks to look at, and run the tasks.",
        example="scorewright demo && scorewright serve",
        call=_call_demo,
    )
    add_database(parser)


def _add_migrate(commands: _Commands) -> None:
    parser = _command(
        commands,
        "migrate",
        summary="Bring the tables of the server's database up to date.",
        example="scorewright migrate --database postgresql://scorewright@db/scorewright",
        call=_call_migrate,
    )
    add_database(parser)


def _call_run(options: argparse.Namespace) -> int:
    from scorewright.domain.source_language import LANGUAGE_OF_SUFFIX
    from scorewright.runners.jail.launch import launch_deno, launch_zygote

    runner = options.runner or runner_name(RUNNERS)
    # A sandbox boots while we import the rest and read the data: each takes a tenth of a second.
    endings = [path.suffix.lower() for path in options.evaluators]
    languages = {LANGUAGE_OF_SUFFIX.get(ending, "python") for ending in endings}
    policy = "restricted" if runner == "restricted" else ""
    has_zygote = runner in ("auto", "jail", "restricted") and "python" in languages
    zygote = launch_zygote(policy=policy) if has_zygote else None
    launcher = launch_deno() if runner in ("auto", "deno") and languages - {"python"} else None

    from scorewright.cli.run import RunOptions, run_command

    return run_command(
        RunOptions(
            evaluators=options.evaluators,
            data=options.data,
            mapping=options.mapping,
            params=options.params,
            convention=options.convention,
            source=options.source,
            level=options.level,
            previous_turns=options.previous_turns,
            runner=runner,
            workers=options.workers,
            timeout_s=options.timeout_s,
            memory_mb=options.memory_mb,
            filter=options.filter,
            sample_rate=options.sample_rate,
            limit=options.limit,
            out=options.out,
            resume=options.resume,
            fail_under=options.fail_under,
            max_failed=options.max_failed,
            max_cost_usd=options.max_cost_usd,
            use_cache=not options.no_cache,
            as_json=options.format == "json",
        ),
        zygote=zygote,
        launcher=launcher,
    )


def _call_check(options: argparse.Namespace) -> int:
    from scorewright.cli.check import CheckOptions, check_command

    return check_command(
        CheckOptions(
            evaluators=options.evaluators,
            convention=options.convention,
            purity=options.purity,
            data=options.data,
            source=options.source,
            level=options.level,
            previous_turns=options.previous_turns,
            mapping=options.mapping,
            params=options.params,
            limit=options.limit,
            timeout_s=options.timeout_s,
            memory_mb=options.memory_mb,
            runner=runner_name(RUNNERS) if options.purity else "auto",
            as_json=options.format == "json",
        )
    )


def _call_new(options: argparse.Namespace) -> int:
    from scorewright.cli.new import new_command

    new_command(
        options.name,
        convention=options.convention,
        language=options.language,
        as_json=options.format == "json",
    )
    return 0


def _call_inspect(options: argparse.Namespace) -> int:
    from scorewright.cli.datasets import inspect_command

    inspect_command(options.data, as_json=options.format == "json")
    return 0


def _call_traces_inspect(options: argparse.Namespace) -> int:
    from scorewright.cli.traces import inspect_command

    inspect_command(options.data, as_json=options.format == "json")
    return 0


def _call_runner_check(options: argparse.Namespace) -> int:
    from scorewright.cli.runner import check_command

    return check_command(options.name, quick=options.quick, as_json=options.format == "json")


def _call_serve(options: argparse.Namespace) -> int:
    from scorewright.cli.serve import ServeOptions, serve_command

    return serve_command(
        ServeOptions(
            host=options.host,
            port=options.port,
            database_url=options.database,
            runs_per_project=options.runs_per_project,
            no_auth=options.no_auth,
            migrate=options.migrate,
            login_link=options.login_link,
            no_worker=options.no_worker,
            demo=options.demo,
        )
    )


def _call_worker(options: argparse.Namespace) -> int:
    from scorewright.cli.serve import worker_command

    return worker_command(options.database, runs_per_project=options.runs_per_project)


def _call_demo(options: argparse.Namespace) -> int:
    from scorewright.cli.serve import demo_command

    return demo_command(options.database)


def _call_migrate(options: argparse.Namespace) -> int:
    from scorewright.cli.serve import migrate_command

    return migrate_command(options.database)


def _version() -> str:
    from scorewright._version import __version__

    return f"scorewright {__version__}"


def _fail(message: str, code: int) -> NoReturn:
    from scorewright.cli.speech import say

    say(f"error: {message}")
    sys.exit(code)
