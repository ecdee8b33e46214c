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
from scorewright.domain.convention import Convention
from scorewright.domain.errors import CallerError, OurError
from scorewright.domain.source_language import LANGUAGES

EXIT_CALLER = 2
EXIT_OURS = 3
RUNNERS = ("auto", "jail", "restricted", "deno", "remote", "local")
CONVENTIONS = tuple(one.value for one in Convention)

if TYPE_CHECKING:
    _Commands: TypeAlias = "argparse._SubParsersAction[_Parser]"  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - argparse has no other name for it

_RUNNER_VARIABLE = "SCOREWRIGHT_RUNNER"


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


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format",
        choices=("table", "json"),
        default="table",
        help="json: one document on stdout and nothing else there",
    )


def _add_convention(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--convention", choices=CONVENTIONS, help="how evaluate is called; detected when not given"
    )


def _add_assignments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--map",
        action="append",
        default=[],
        dest="mapping",
        metavar="[EVALUATOR.]VARIABLE=FIELD",
        help="column, path (meta.tags[0]) or JSON constant for a variable",
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        dest="params",
        metavar="[EVALUATOR.]KEY=VALUE",
        help="value of a config param",
    )


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
    _add_source(parser)
    _add_assignments(parser)
    _add_convention(parser)
    _add_selection(parser)
    _add_run_limits(parser)
    _add_run_output(parser)
    _add_format(parser)


def _add_source(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source",
        choices=("auto", "dataset", "traces", "conversations", "trajectories", "logs"),
        default="auto",
        help="what the data are (default: auto, which tells data sets, traces and logs apart)",
    )
    parser.add_argument(
        "--level",
        choices=("trace", "agent", "llm"),
        help="what of a trace evaluators see that are written for no level (default: trace)",
    )
    parser.add_argument(
        "--previous-turns",
        action="store_true",
        help="of conversations, show input and output of earlier turns as well",
    )


def _add_run_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runner",
        choices=RUNNERS,
        help=f"where the code runs; local is no sandbox (default: auto; {_RUNNER_VARIABLE} may name any other)",
    )
    parser.add_argument(
        "--workers", type=_at_least(1), metavar="N", help="processes (default: one per core)"
    )
    _add_bounds(parser)


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--timeout-s",
        type=_seconds,
        default=10.0,
        metavar="S",
        help="seconds an item may take (default: 10)",
    )
    parser.add_argument(
        "--memory-mb",
        type=_at_least(16),
        default=256,
        metavar="M",
        help="MiB a worker may use (default: 256)",
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--filter",
        metavar="EXPRESSION",
        help="""only rows that match, as in 'tokens > 1000 and not output contains "sorry"'""",
    )
    parser.add_argument(
        "--sample-rate",
        type=_share,
        default=1.0,
        metavar="RATE",
        help="take each row with this probability, 0 to 1, the same rows every time (default: 1)",
    )
    parser.add_argument("--limit", type=_at_least(0), metavar="N", help="the first N of these rows")


def _add_run_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", type=Path, metavar="PATH", help="results as .jsonl, .csv or .parquet"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep the results in --out; run what failed or is missing",
    )
    parser.add_argument(
        "--no-cache",
        action="store_true",
        help="compute every result, and keep none in .scorewright/cache",
    )
    parser.add_argument(
        "--fail-under",
        action="append",
        default=[],
        metavar="EVALUATOR[.METRIC|.pass_rate]=NUMBER",
        help="exit with 1 when the mean is below, or too many items failed",
    )
    parser.add_argument(
        "--max-failed",
        type=_share,
        default=0.05,
        metavar="SHARE",
        help="share of failed items that --fail-under tolerates (default: 0.05)",
    )


def _add_check(commands: _Commands) -> None:
    parser = _command(
        commands,
        "check",
        summary="Show signature, variables, params and diagnostics of evaluators; runs nothing but for --purity.",
        example="scorewright check exact.py\n  scorewright check exact.py --purity --data answers.jsonl",
        call=_call_check,
    )
    parser.add_argument("evaluators", nargs="+", type=Path, metavar="EVALUATOR")
    _add_convention(parser)
    parser.add_argument(
        "--purity",
        action="store_true",
        help="judge items with another process, item order, clock, chance and hash seed; say what differed",
    )
    parser.add_argument("--data", type=Path, metavar="PATH", help="items for --purity")
    _add_assignments(parser)
    parser.add_argument(
        "--limit",
        type=_at_least(1),
        default=200,
        metavar="N",
        help="items to judge for --purity, from the first (default: 200)",
    )
    _add_bounds(parser)
    _add_format(parser)


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
    _add_format(parser)


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
    _add_format(inspect)


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
    _add_format(inspect)


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
    _add_format(check)


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


def _at_least(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is less than {least}")
        return number

    read.__name__ = "whole number"  # what argparse calls it in messages
    return read


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.05 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.05 and 86400 seconds")
    return seconds


_seconds.__name__ = "number of seconds"  # what argparse calls it in messages


def _share(text: str) -> float:
    share = float(text)
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return share


_share.__name__ = "share"


def _version() -> str:
    from scorewright._version import __version__

    return f"scorewright {__version__}"


def _fail(message: str, code: int) -> NoReturn:
    from scorewright.cli.speech import say

    say(f"error: {message}")
    sys.exit(code)
